/// \file
/// Models and other structs as packs: a `hana::tuple` of their leaves in order, and back. Packs join and split as
/// tuples do; a function of a pack takes it whole or one by one. It knows no world.
#pragma once

#include <boost/hana/append.hpp>
#include <boost/hana/concat.hpp>
#include <boost/hana/drop_front.hpp>
#include <boost/hana/flatten.hpp>
#include <boost/hana/fold_left.hpp>
#include <boost/hana/members.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/size.hpp>
#include <boost/hana/take_front.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <cstddef>
#include <tuple>
#include <utility>

#include "training/model/structure.hpp"

namespace etalon::training {

namespace detail {

template <class Leaf>
[[nodiscard]] auto leaves_of(const Leaf& leaf);

template <class T, std::size_t n, std::size_t... I>
[[nodiscard]] auto leaves_of_array(const std::array<T, n>& members, std::index_sequence<I...>) {
  return boost::hana::flatten(boost::hana::make_tuple(leaves_of(members[I])...));
}

template <class Leaf>
[[nodiscard]] auto leaves_of(const Leaf& leaf) {
  if constexpr (is_array<Leaf>) {
    return leaves_of_array(leaf, std::make_index_sequence<std::tuple_size_v<Leaf>>{});
  } else if constexpr (boost::hana::Struct<Leaf>::value) {
    return boost::hana::unpack(boost::hana::members(leaf), [](const auto&... member) {
      return boost::hana::flatten(boost::hana::make_tuple(leaves_of(member)...));
    });
  } else {
    return boost::hana::make_tuple(leaf);
  }
}

/// Leaves of a model, without looking at values.
template <class Model>
using LeavesOf = decltype(leaves_of(std::declval<const Model&>()));
template <class Pack>
inline constexpr std::size_t pack_size = decltype(boost::hana::size(std::declval<const Pack&>()))::value;

/// Writes the leaves of a pack into a model from position `first` on.
template <std::size_t first, class Model, class Pack>
void fill(Model& model, const Pack& pack);

template <std::size_t first, class Members, class Pack, std::size_t... I>
void fill_members(Members&& members, const Pack& pack, std::index_sequence<I...>) {
  constexpr auto offsets = [] {
    std::array<std::size_t, sizeof...(I) + 1> at{first};
    std::size_t n = 0;
    ((at[n + 1] = at[n] + pack_size<LeavesOf<std::remove_cvref_t<decltype(std::get<I>(members))>>>, ++n), ...);
    return at;
  }();
  (fill<offsets[I]>(std::get<I>(members), pack), ...);
}

template <std::size_t first, class Model, class Pack>
void fill(Model& model, const Pack& pack) {
  if constexpr (is_array<Model>) {
    fill_members<first>(model, pack, std::make_index_sequence<std::tuple_size_v<Model>>{});
  } else if constexpr (boost::hana::Struct<Model>::value) {
    auto members = boost::hana::unpack(boost::hana::accessors<Model>(), [&](auto... accessor) {
      return std::tie(boost::hana::second(accessor)(model)...);
    });
    fill_members<first>(members, pack, std::make_index_sequence<std::tuple_size_v<decltype(members)>>{});
  } else {
    model = pack[boost::hana::size_c<first>];
  }
}

template <class F, class... Xs>
class Curried {
 public:
  Curried(F f, boost::hana::tuple<Xs...> taken) : f_(std::move(f)), taken_(std::move(taken)) {}
  template <class X>
  [[nodiscard]] auto operator()(const X& x) const {
    auto more = boost::hana::append(taken_, x);
    if constexpr (std::is_invocable_v<const F&, const Xs&..., const X&>) {
      return boost::hana::unpack(std::move(more), f_);
    } else {
      return Curried<F, Xs..., X>(f_, std::move(more));
    }
  }

 private:
  F f_;
  boost::hana::tuple<Xs...> taken_;
};

}  // namespace detail

/// The leaves of a model as a pack.
template <class Model>
[[nodiscard]] auto pack_of(const Model& model) {
  return detail::leaves_of(model);
}

/// The model with these leaves: `model_of_pack<Mlp<V>>(pack_of(m))` is m.
template <class Model, class... Leaves>
[[nodiscard]] Model model_of_pack(const boost::hana::tuple<Leaves...>& pack) {
  static_assert(sizeof...(Leaves) == detail::pack_size<detail::LeavesOf<Model>>, "one member of the pack per leaf of the model");
  Model model;
  detail::fill<0>(model, pack);
  return model;
}

/// One pack after another.
template <class First, class... More>
[[nodiscard]] auto join(const First& first, const More&... more) {
  return boost::hana::fold_left(boost::hana::make_tuple(more...), first, boost::hana::concat);
}

/// The first `count` members, and the others.
template <std::size_t count, class... Members>
[[nodiscard]] auto split(const boost::hana::tuple<Members...>& pack) {
  static_assert(count <= sizeof...(Members), "a pack is split within its length");
  return boost::hana::make_pair(boost::hana::take_front_c<count>(pack), boost::hana::drop_front(pack, boost::hana::size_c<count>));
}

/// f that takes its arguments one by one: `curried(f)(a)(b)` is `f(a, b)`. The call happens as soon as it can.
template <class F>
[[nodiscard]] auto curried(F f) {
  return detail::Curried<F>(std::move(f), boost::hana::tuple<>());
}

/// f that takes its arguments as one pack: `whole(f)(pack)` is f of its members.
template <class F>
[[nodiscard]] auto whole(F f) {
  return [f = std::move(f)](const auto& pack) { return boost::hana::unpack(pack, f); };
}

}  // namespace etalon::training
