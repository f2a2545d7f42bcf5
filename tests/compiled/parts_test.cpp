// Copies of factors that are made piece by piece, and long sums in parts.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

/// A convolution of `batch` images of `side` by `side` and its gradients.
struct Images {
  std::int64_t batch, in, out, side;
  [[nodiscard]] Dims image() const { return {batch, in, side, side}; }
  [[nodiscard]] Dims weights() const { return {out, in, 3, 3}; }
  [[nodiscard]] Dims result() const { return {batch, out, side, side}; }
  [[nodiscard]] System system() const {
    return spec::lower(spec::parse_program(fmt::format(
        "input x : f32[{0}, {1}, {3}, {3}]\ninput k : f32[{2}, {1}, 3, 3]\ninput d : f32[{0}, {2}, {3}, {3}]\n"
        "y = conv2d(x, k, _) {{padding = [1, 1]}}\ngx, gk = vjp(y; x, k; d)\noutput y, gx, gk\n",
        batch, in, out, side)));
  }
  template <class Draw>
  [[nodiscard]] std::vector<HostTensor> numbers(Draw draw) const {
    return {draw(DType::f32, image(), 1U), draw(DType::f32, weights(), 2U), draw(DType::f32, result(), 3U)};
  }
};

/// Too large for a second cache together, so that the sum over images falls into parts; and one that is not.
const Images large{16, 12, 40, 24};
const Images small{9, 10, 20, 10};

compiled::CompileOptions without(const char* stage) {
  compiled::CompileOptions o = options();
  o.off.insert(stage);
  return o;
}

}  // namespace

TEST_CASE("each turn copies its piece of a factor and keeps every bit", "[compiled][contractions][parts]") {
  for (const Images& images : {large, small}) {
    const System s = images.system();
    CHECK_THAT(dump_of(s, "plan"), Contains("each turn of its kernel's outer loop copies its own"));
    CHECK_THAT(dump_of(s, "loops"), Contains("each tile fetches its share of"));
    const auto whole = without("pieces");
    CHECK_THAT(dump_of(s, "plan", whole), !Contains("each turn of its kernel's outer loop"));
    const auto in = images.numbers(normal_numbers);
    const auto expected = compiled_values(s, in, whole);
    for (const unsigned threads : {1U, 2U, 3U}) {
      compiled::CompileOptions o = options();
      o.threads = threads;
      CHECK(compiled_values(s, in, o) == expected);
      o.plan.reuse = false;
      CHECK(compiled_values(s, in, o) == expected);
    }
  }
}

TEST_CASE("a piece that is larger than near memory is copied as a whole", "[compiled][contractions][parts]") {
  const Images wide{8, 20, 16, 64};
  CHECK_THAT(dump_of(wide.system(), "plan"), Contains(".window in arena"));
}

TEST_CASE("a copy that two contractions read is made once", "[compiled][contractions][parts]") {
  const System s = spec::lower(spec::parse_program(
      "input x : f32[9, 4, 12, 12]\ninput k : f32[20, 4, 3, 3]\ninput l : f32[20, 4, 3, 3]\n"
      "y = conv2d(x, k, _) {padding = [1, 1]}\nz = conv2d(x, l, _) {padding = [1, 1]}\noutput y, z\n"));
  const std::string plan = dump_of(s, "plan");
  INFO(plan);
  CHECK_THAT(plan, Contains(".window in arena") && !Contains("each turn of its kernel's outer loop"));
}

TEST_CASE("a sum over images that is read again falls into parts", "[compiled][contractions][parts]") {
  const System s = large.system();
  CHECK_THAT(dump_of(s, "plan"), Contains("gk.parts"));
  CHECK_THAT(dump_of(small.system(), "plan"), !Contains("gk.parts"));
  const auto whole = without("lift");
  CHECK_THAT(dump_of(s, "plan", whole), !Contains("gk.parts"));
  // Sums of small integers are exact in any order.
  const auto integers = large.numbers(small_integers);
  CHECK(compiled_values(s, integers) == compiled_values(s, integers, whole));
  // Elsewhere the parts are another tree of the same height, and the same for every number of threads.
  const auto in = large.numbers(normal_numbers);
  const auto expected = compiled_values(s, in);
  CHECK(expected != compiled_values(s, in, whole));
  for (const unsigned threads : {2U, 3U}) {
    compiled::CompileOptions o = options();
    o.threads = threads;
    CHECK(compiled_values(s, in, o) == expected);
  }
}

TEST_CASE("parts make no tree higher than declared", "[compiled][contractions][parts]") {
  // 33 rows of 64 are one block of terms each, and 6 steps add 33 of them, as the contract has it for 33 blocks in all. Of
  // 65 a part is two blocks, one of 64 terms, and the tree a step higher than for the 34 blocks of all terms.
  const auto has_parts = [](std::int64_t length) {
    const System s = spec::lower(spec::parse_program(fmt::format(
        "input x : f32[33, 20, {0}]\ninput k : f32[110, 20, 3]\ninput d : f32[33, 110, {0}]\n"
        "y = conv1d(x, k, _) {{padding = 1}}\ngk = vjp(y; k; d)\noutput gk\n", length)));
    return dump_of(s, "plan").find("gk.parts") != std::string::npos;
  };
  CHECK(has_parts(64));
  CHECK(!has_parts(65));
}

TEST_CASE("what is done with the images of a contraction keeps every bit", "[compiled][contractions][parts]") {
  // The pooled image, what it adds up to, and the cotangent that pooling gives back.
  const System s = spec::lower(spec::parse_program(
      "input x : f32[12, 3, 20, 20]\ninput k : f32[20, 3, 3, 3]\ninput d : f32[12, 20, 10, 10]\n"
      "c = conv2d(x, k, _) {padding = [1, 1]}\nr = relu(c)\np = max_pool2d(r) {kernel = 2}\n"
      "t = sum(p) {axes = [1, 2, 3]}\ngx, gk = vjp(p; x, k; d)\noutput p, t, gx, gk\n"));
  compiled::CompileOptions apart = options();
  apart.plan.fuse = false;
  CHECK_THAT(dump_of(s, "plan"), Contains("c in register") && !Contains("fusion is off"));
  CHECK_THAT(dump_of(s, "plan", apart), Contains("fusion is off") && !Contains("c in register"));
  const std::vector<HostTensor> in{normal_numbers(DType::f32, {12, 3, 20, 20}, 1), normal_numbers(DType::f32, {20, 3, 3, 3}, 2),
                                   normal_numbers(DType::f32, {12, 20, 10, 10}, 3)};
  const auto expected = compiled_values(s, in, apart);
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const bool reuse : {true, false}) {
      compiled::CompileOptions o = options();
      o.threads = threads;
      o.plan.reuse = reuse;
      CHECK(compiled_values(s, in, o) == expected);
    }
  }
}
