#include "spec/library/operations.hpp"
#include "typed_paths.hpp"

namespace {

using namespace etalon;
using namespace etalon::test;

template <class... A>
constexpr Operands<A...> of{};
template <class... A>
using Pack = hana::tuple<A...>;

}  // namespace

TEST_CASE("moves of elements are the same with shapes as types and as values", "[typed_paths]") {
  check_all(hana::make_tuple(
      row<"permutation=[2, 0, 1]", "permutation=[2, 0, 0]">(ops::transpose, of<R<2, 1, 3>>, of<R<2, 1, 3>>),
      row<"shape=[3, 2]", "shape=[4]">(ops::reshape, of<R<2, 3>>, of<R<2, 3>>),
      row<"shape=[2, 3]", "shape=[3, 2]">(ops::broadcast_to, of<R<3>>, of<R<3>>),
      row<"axis=1">(ops::concat, of<Pack<R<2, 1>, R<2, 3>>>, of<Pack<R<2, 1>, R<3, 1>>>),
      row<"axis=0", "axis=3">(ops::stack, of<Pack<R<2>, R<2>>>, of<Pack<R<2>, R<2>>>),
      row<"start=1, stop=3", "start=1, stop=9">(ops::slice, of<R<4>>, of<R<4>>),
      row<"start=[3, 0], stop=[0, 2], step=[-2, 1]", "stop=[2, 2], step=[0, 1]">(ops::slice, of<R<4, 2>>, of<R<4, 2>>),
      row<"axis=1", "axis=2">(ops::gather, of<R<2, 3>, I<2, 2>>, of<R<2, 3>, I<2>>),
      row<"shape=[-1, 2]", "shape=[-1, 4]">(ops::reshape, of<R<2, 3>>, of<R<2, 3>>),
      row<"start=1", "start=2, end=1">(ops::flatten, of<R<2, 3, 1>>, of<R<2, 3, 1>>),
      row<"axis=1, index=-1", "axis=1, index=3">(ops::select, of<R<2, 3>>, of<R<2, 3>>),
      row<"low=1, value=2", "low=-3">(ops::pad, of<R<2>>, of<R<2>>)));
}

TEST_CASE("normalisation and windows are the same with shapes as types and as values", "[typed_paths]") {
  check_all(hana::make_tuple(
      row<"axis=0", "axis=-3">(ops::softmax, of<R<2, 3>>, of<R<2, 3>>), row(ops::log_softmax, of<R<2, 3>>, of<R<>>),
      row<"eps=0.25">(ops::layer_norm, of<R<2, 3>, R<3>, R<3>>, of<R<2, 3>, R<3>, R<2>>),
      row<"p=0.25, stream=2", "stream=-1">(ops::dropout, of<R<5>, I<>, I<>>, of<R<5>, I<>, I<>>),
      row<"padding=1", "stride=0">(ops::conv, of<R<1, 1, 3, 3>, R<1, 1, 2, 2>>, of<R<1, 1, 3, 3>, R<1, 1, 2, 2>>),
      row(ops::conv1d, of<R<1, 2, 4>, R<2, 2, 3>, R<2>>, of<R<1, 2, 4, 4>, R<2, 2, 3, 3>>),
      row<"stride=[2, 1], padding=1, groups=2">(ops::conv2d, of<R<1, 2, 4, 3>, R<2, 1, 2, 2>>,
                                                 of<R<1, 3, 4, 3>, R<2, 1, 2, 2>>),
      row(ops::conv3d, of<R<1, 1, 2, 2, 2>, R<1, 1, 1, 2, 1>>, of<R<1, 1, 2, 2, 2>, R<1, 1, 4, 2, 1>>),
      row<"kernel=2, stride=2">(ops::max_pool, of<R<1, 1, 4>>, of<R<1, 1, 0>>),
      row<"kernel=3, stride=1, padding=1", "kernel=3, stride=1, padding=2">(ops::max_pool1d, of<R<1, 1, 4>>, of<R<1, 1, 4>>),
      row<"kernel=[2, 2], stride=[2, 2]">(ops::max_pool2d, of<R<1, 1, 4, 4>>, of<R<1, 4, 4>>),
      row<"kernel=2, stride=1", "kernel=[2, 2]">(ops::max_pool3d, of<R<1, 1, 2, 2, 2>>, of<R<1, 1, 2, 2, 2>>)));
}

TEST_CASE("losses, steps and random numbers are the same with shapes as types and as values", "[typed_paths]") {
  check_all(hana::make_tuple(
      row<"label_smoothing=0.25">(ops::cross_entropy, of<R<2, 3>, I<2>, R<3>>, of<R<2, 3>, I<3>, R<3>>),
      row<"reduction=none", "reduction=all">(ops::cross_entropy, of<R<2, 3>, I<2>, spec::Absent>,
                                             of<R<2, 3>, I<2>, spec::Absent>),
      row(ops::mse, of<R<2>, R<2>>, of<R<2>, R<3>>), row<"reduction=sum">(ops::hinge, of<R<2>, R<2>>, of<R<2>, I<2>>),
      row<"lr=0.5, momentum=0.5">(ops::sgd, of<R<2>, R<2>, R<2>, I<>>, of<R<2>, R<3>, R<2>, I<>>),
      row<"lr=0.5">(ops::adam, of<R<2>, R<2>, R<2>, R<2>, I<>>, of<R<2>, R<2>, R<2>, R<2>>),
      row<"lr=0.5">(ops::adamw, of<R<2>, R<2>, R<2>, R<2>, I<>>, of<R<2>, R<2>, R<2>, R<2>, R<>>),
      row<"shape=[2, 2], dtype=f64", "shape=[2], dtype=i64">(ops::uniform, of<I<>, I<>>, of<I<>, I<>>),
      row<"shape=[3]", "shape=[-1]">(ops::normal, of<I<>, I<>>, of<I<>, I<>>)));
}
