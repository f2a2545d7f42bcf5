// Factors that are read as a window slides: convolutions and their gradients where they lie, against the reference.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "compiled/ir/windows.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

struct Convolution {
  std::int64_t batch, in, out, height, width, kernel, stride = 1, padding = 0, dilation = 1;
  [[nodiscard]] std::int64_t along(std::int64_t extent) const { return (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
  [[nodiscard]] Dims image() const { return {batch, in, height, width}; }
  [[nodiscard]] Dims weights() const { return {out, in, kernel, kernel}; }
  [[nodiscard]] Dims result() const { return {batch, out, along(height), along(width)}; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{}x{}->{} {}x{} kernel {} stride {} padding {} dilation {}", batch, in, out, height, width, kernel, stride, padding, dilation);
  }
};

std::string type_of(const Dims& d) { return fmt::format("f32[{}, {}, {}, {}]", d[0], d[1], d[2], d[3]); }

/// The value and both gradients of a convolution.
System system_of(const Convolution& c) {
  return spec::lower(spec::parse_program(fmt::format(
      "input x : {}\ninput k : {}\ninput d : {}\n"
      "y = conv2d(x, k, _) {{padding = [{}, {}], stride = [{}, {}], dilation = [{}, {}]}}\n"
      "gx, gk = vjp(y; x, k; d)\noutput y, gx, gk\n",
      type_of(c.image()), type_of(c.weights()), type_of(c.result()), c.padding, c.padding, c.stride, c.stride, c.dilation, c.dilation)));
}

std::vector<HostTensor> integers_for(const Convolution& c) {
  return {small_integers(DType::f32, c.image(), 1), small_integers(DType::f32, c.weights(), 2), small_integers(DType::f32, c.result(), 3)};
}

compiled::CompileOptions always() {
  compiled::CompileOptions o = options();
  o.schedule.always = true;
  return o;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

const std::vector<Convolution> convolutions{
    {2, 5, 20, 9, 14, 3, 1, 1},      {1, 3, 16, 12, 30, 3, 1, 1},     {3, 4, 33, 8, 17, 5, 1, 2},  {2, 6, 10, 11, 13, 3, 2, 1},
    {2, 3, 18, 15, 16, 3, 1, 0},     {1, 2, 17, 13, 40, 3, 1, 2, 2},  {2, 1, 16, 14, 14, 3, 1, 1}, {1, 70, 9, 7, 7, 3, 1, 1},
    {2, 4, 40, 6, 29, 7, 1, 3},      {1, 8, 16, 5, 50, 1, 1, 0},      {2, 3, 12, 10, 10, 2, 1, 1}, {1, 2, 35, 3, 3, 3, 1, 1},
    {2, 3, 12, 12, 18, 3, 1, 2, 2},   {1, 4, 16, 9, 15, 5, 1, 2},     {2, 9, 11, 8, 23, 4, 1, 1, 3},
};

}  // namespace

TEST_CASE("convolutions of many shapes and their gradients are exact on integers", "[compiled][contractions][windows]") {
  for (const Convolution& c : convolutions) {
    INFO(c.text());
    const System s = system_of(c);
    const auto in = integers_for(c);
    CHECK(compiled_values(s, in, always()) == reference_values(s, in));
  }
}

TEST_CASE("a window is read where it lies, and copied at most once", "[compiled][contractions][windows]") {
  const Convolution c{4, 16, 32, 14, 14, 3, 1, 1};
  const std::string plan = dump_of(system_of(c), "plan");
  INFO(plan);
  CHECK(count(plan, "left packed with margins (a window, with the zeros around it)") == 3);
  CHECK(count(plan, "stored in vectors of rows") == 2);
  CHECK(count(plan, "whose steps have guards of their own") == 1);
  const Convolution inside{4, 16, 32, 14, 14, 3};
  CHECK_THAT(dump_of(system_of(inside), "plan"), Contains("left in place (a window, read where it lies)"));
}

TEST_CASE("what a guard leaves out leaves no trace", "[compiled][contractions][windows]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Convolution& c : convolutions) {
    INFO(c.text());
    const System s = system_of(c);
    auto in = integers_for(c);
    // Each corner of the kernel is infinite for one channel: it meets some places of the gradient and not others.
    const auto weights = in[1].view<float>();
    weights[0] = infinity;
    weights[static_cast<std::size_t>(c.kernel * c.kernel - 1)] = -infinity;
    const HostTensor got = compiled_values(s, in, always())[1];
    const HostTensor expected = reference_values(s, in)[1];
    std::size_t finite = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.dims.count()); ++i) {
      REQUIRE(same_number(at(got, i), at(expected, i)));
      finite += std::isfinite(at(expected, i)) ? 1 : 0;
    }
    if (c.kernel > 1 && c.in > 1) CHECK(finite > 0);
  }
}

TEST_CASE("a factor that chooses another value outside of its tensor keeps it", "[compiled][contractions][windows]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {3, 4, 20});
  const TensorId k = input(s, "k", DType::f32, {18, 4, 3});
  const TensorId y = output(s, "y", DType::f32, {3, 18, 20});
  const auto i = s.bind_all(y);
  const std::vector<Binder> depth{s.bind("c", 4), s.bind("u", 3)};
  const Expr c = variable(depth[0]);
  const Expr u = variable(depth[1]);
  const Expr at = variable(i[2]) + u - spec::integer(1);
  const auto le = [](const Expr& a, const Expr& b) { return apply(Primitive::le, {a, b}); };
  // The guard leaves out what is before the first element; behind the last one there are sevens.
  const Expr guard = le(u, variable(i[2]) + spec::integer(20)) && le(spec::integer(0), at);
  const Expr factor = spec::select(le(at, spec::integer(19)), s.at(x, {variable(i[0]), c, at}), spec::decimal(7));
  s.define(y, i, reduce(spec::Reduction::sum, depth, guard, s.at(k, {variable(i[1]), c, u}) * factor));
  const std::vector<HostTensor> in{small_integers(DType::f32, {3, 4, 20}, 1), small_integers(DType::f32, {18, 4, 3}, 2)};
  CHECK(compiled_values(s, in, always()) == reference_values(s, in));
}

TEST_CASE("zeros around an image meet the weights", "[compiled][contractions][windows]") {
  const Convolution c{2, 3, 16, 6, 14, 3, 1, 1};
  const System s = system_of(c);
  auto in = integers_for(c);
  in[1].view<float>()[0] = std::numeric_limits<float>::infinity();
  const HostTensor got = compiled_values(s, in, always())[0];
  const HostTensor expected = reference_values(s, in)[0];
  for (std::size_t i = 0; i < static_cast<std::size_t>(got.dims.count()); ++i) REQUIRE(same_number(at(got, i), at(expected, i)));
  CHECK(std::isnan(at(got, 0)));
}

TEST_CASE("depths of several loops fall into blocks as declared", "[compiled][contractions]") {
  std::mt19937 engine(5);
  std::uniform_int_distribution<std::int64_t> loops(1, 4), extent(1, 90);
  std::size_t tall = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Binder> depth(static_cast<std::size_t>(loops(engine)));
    std::int64_t all = 1;
    for (Binder& b : depth) all *= b.extent = extent(engine);
    const compiled::DepthWalk w = compiled::walk(depth);
    const auto joins = [](std::int64_t n) {
      std::int64_t levels = 0;
      while ((std::int64_t{1} << levels) < n) ++levels;
      return levels;
    };
    REQUIRE(w.longest() <= 64);
    REQUIRE(w.turns >= 1);
    REQUIRE(w.longest() + joins(w.blocks) <= 64 + joins((all + 63) / 64));
    REQUIRE(w.blocks * w.longest() >= all);
    tall += w.blocks > 1 ? 1U : 0U;
  }
  CHECK(tall > 1000);
}

TEST_CASE("convolutions have the same bits for one, two and three threads", "[compiled][contractions][windows]") {
  const Convolution c{5, 7, 34, 12, 19, 3, 1, 1};
  const System s = system_of(c);
  const std::vector<HostTensor> in{normal_numbers(DType::f32, c.image(), 1), normal_numbers(DType::f32, c.weights(), 2),
                                   normal_numbers(DType::f32, c.result(), 3)};
  const auto one = compiled_values(s, in, always());
  for (const unsigned threads : {2U, 3U}) {
    compiled::CompileOptions o = always();
    o.threads = threads;
    CHECK(compiled_values(s, in, o) == one);
  }
}

TEST_CASE("steps share loads of rows where a tile is one vector wide, and every bit stays", "[compiled][contractions][windows]") {
  // The same images and weights, once among as many results as one vector holds, and once among three times as many.
  const std::int64_t lanes = lanes_of(DType::f32), results = std::max<std::int64_t>(lanes, 8);
  for (const std::int64_t dilation : {1, 2}) {
    const Convolution narrow{2, 5, results, 12, 14, 3, 1, dilation, dilation};
    Convolution wide = narrow;
    wide.out = 3 * results;
    const auto values = [](const Convolution& c) {
      return spec::lower(spec::parse_program(fmt::format("input x : {}\ninput k : {}\ny = conv2d(x, k, _) {{padding = [{}, {}], dilation = [{}, {}]}}\noutput y\n",
                                                         type_of(c.image()), type_of(c.weights()), c.padding, c.padding, c.dilation, c.dilation)));
    };
    if (lanes > 1) {
      CHECK_THAT(dump_of(values(narrow), "plan"), Contains("where 3 steps share loads of rows"));
      CHECK_THAT(dump_of(values(wide), "plan"), !Contains("share loads"));
    }
    const HostTensor image = normal_numbers(DType::f32, narrow.image(), 1);
    const HostTensor all = normal_numbers(DType::f32, wide.weights(), 2);
    HostTensor some(DType::f32, narrow.weights());
    std::copy_n(all.view<float>().begin(), narrow.weights().count(), some.view<float>().begin());
    const auto few = compiled_values(values(narrow), {image, some});
    const auto many = compiled_values(values(wide), {image, all});
    const std::int64_t share = narrow.result().count() / narrow.batch;
    std::size_t compared = 0;
    for (std::int64_t n = 0; n < narrow.batch; ++n) {
      for (std::int64_t i = 0; i < share; ++i, ++compared) {
        REQUIRE(at(few[0], static_cast<std::size_t>(n * share + i)) == at(many[0], static_cast<std::size_t>(n * 3 * share + i)));
      }
    }
    CHECK(compared > 1000);
  }
}
