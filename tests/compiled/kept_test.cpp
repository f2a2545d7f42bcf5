// Parameters that stay in panels between runs.
#include <catch2/catch.hpp>

#include <map>

#include <fmt/format.h>

#include "compiled/ir/panels.hpp"
#include "compiled/runtime/store.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t outputs = 64;
constexpr std::int64_t inputs = 40;

/// y = x·wᵀ, and a step of w with two states, all of whose numbers are small whole ones: w -= v += m += dᵀ·x.
std::string step_text(std::string_view dtype, std::int64_t batch, std::string_view more = "") {
  return fmt::format(
      "parameter w : {0}[64, 40]\nparameter m : {0}[64, 40]\nparameter v : {0}[64, 40]\ninput x : {0}[{1}, 40]\ninput d : {0}[{1}, 64]\n"
      "y = linear(x, w, _)\ng = vjp(y; w; d)\nm1 = add(m, g)\nv1 = add(v, m1)\nw1 = sub(w, v1)\n{2}output y\n"
      "update w := w1\nupdate m := m1\nupdate v := v1\n",
      dtype, batch, more);
}

spec::Program evaluation(std::string_view dtype, std::int64_t batch) {
  return spec::parse_program(fmt::format("parameter w : {0}[64, 40]\ninput x{1} : {0}[{1}, 40]\ny = linear(x{1}, w, _)\noutput y\n", dtype, batch));
}

/// Whole numbers from -3 to 3.
HostTensor whole_numbers(DType dtype, const Dims& dims, std::size_t seed) {
  std::vector<double> values(static_cast<std::size_t>(dims.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 5 + i / 7 + seed * 3) % 7) - 3;
  return real_tensor(dtype, dims, values);
}

double at2(const HostTensor& t, std::int64_t i, std::int64_t j) { return at(t, static_cast<std::size_t>(i * t.dims[1] + j)); }

/// x·wᵀ
HostTensor product(DType dtype, const HostTensor& x, const HostTensor& w) {
  std::vector<double> y;
  for (std::int64_t b = 0; b < x.dims[0]; ++b) {
    for (std::int64_t o = 0; o < outputs; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < inputs; ++i) sum += at2(x, b, i) * at2(w, o, i);
      y.push_back(sum);
    }
  }
  return real_tensor(dtype, {x.dims[0], outputs}, y);
}

/// w, m and v after so many steps.
std::vector<HostTensor> after_steps(DType dtype, const HostTensor& x, const HostTensor& d, std::vector<HostTensor> state, int steps) {
  for (int step = 0; step < steps; ++step) {
    std::vector<double> w, m, v;
    for (std::int64_t o = 0; o < outputs; ++o) {
      for (std::int64_t i = 0; i < inputs; ++i) {
        double g = 0;
        for (std::int64_t b = 0; b < x.dims[0]; ++b) g += at2(d, b, o) * at2(x, b, i);
        m.push_back(at2(state[1], o, i) + g);
        v.push_back(at2(state[2], o, i) + m.back());
        w.push_back(at2(state[0], o, i) - v.back());
      }
    }
    state = {real_tensor(dtype, {outputs, inputs}, w), real_tensor(dtype, {outputs, inputs}, m), real_tensor(dtype, {outputs, inputs}, v)};
  }
  return state;
}

std::vector<HostTensor> first_state(DType dtype) {
  return {whole_numbers(dtype, {outputs, inputs}, 1), whole_numbers(dtype, {outputs, inputs}, 2), whole_numbers(dtype, {outputs, inputs}, 3)};
}

void fill(compiled::Store& store, const std::vector<HostTensor>& state) {
  store.put("w", state[0]);
  store.put("m", state[1]);
  store.put("v", state[2]);
}

std::vector<HostTensor> state_in(const compiled::Store& store) { return {store.read("w"), store.read("m"), store.read("v")}; }

std::string layouts_of(const std::string& program, compiled::CompileOptions o = options()) {
  std::string text;
  o.dump_after = {"lay_out", "plan"};
  o.dump = [&](std::string_view stage, const std::string& dumped) {
    if (stage == "lay_out" || stage == "plan") text += dumped;
  };
  (void)compiled::compile(spec::parse_program(program), o);
  return text;
}

}  // namespace

TEST_CASE("elements in panels lie where their indices say, and come back", "[compiled][kept]") {
  const Dims dims{3, 8, 5};
  std::vector<float> values;
  for (int i = 0; i < 120; ++i) values.push_back(static_cast<float>(i));
  std::size_t compared = 0;
  for (const compiled::Panels panels : {compiled::Panels{1, 4}, compiled::Panels{0, 3}, compiled::Panels{2, 5}, compiled::Panels{1, 8}}) {
    const Dims lie = in_panels(dims, panels);
    REQUIRE(lie.count() == dims.count());
    REQUIRE(lie.rank == 4);
    std::vector<float> laid(120), back(120);
    to_panels(std::as_bytes(std::span(values)).data(), std::as_writable_bytes(std::span(laid)).data(), dims, sizeof(float), panels);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 8; ++j) {
        for (std::int64_t k = 0; k < 5; ++k) {
          const std::int64_t all[] = {i, j, k};
          std::vector<std::int64_t> there{all[panels.axis] / panels.width};
          for (std::size_t a = 0; a < 3; ++a) {
            if (a != panels.axis) there.push_back(all[a]);
          }
          there.push_back(all[panels.axis] % panels.width);
          std::int64_t element = 0;
          for (std::size_t a = 0; a < 4; ++a) element = element * lie[a] + there[a];
          CHECK(laid[static_cast<std::size_t>(element)] == values[static_cast<std::size_t>((i * 8 + j) * 5 + k)]);
          ++compared;
        }
      }
    }
    from_panels(std::as_bytes(std::span(laid)).data(), std::as_writable_bytes(std::span(back)).data(), dims, sizeof(float), panels);
    CHECK(back == values);
  }
  CHECK(compared == 480);
}

TEST_CASE("a step whose tiles read a parameter in panels keeps it and its states so", "[compiled][kept]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::string text = step_text(name_of(dtype), 33);
    const std::string width = std::to_string(panel_of(dtype));
    const std::string made = layouts_of(text);
    CHECK_THAT(made, Contains("w: in panels of " + width + " along axis 0: its contraction reads it so"));
    CHECK_THAT(made, Contains("m: in panels of " + width + " along axis 0: like w") && Contains("v: in panels of " + width));
    CHECK_THAT(made, Contains("right in place (it lies in panels)") && !Contains("y.columns"));
    const HostTensor x = whole_numbers(dtype, {33, inputs}, 4), d = whole_numbers(dtype, {33, outputs}, 5);
    for (const unsigned threads : {1U, 2U, 3U}) {
      compiled::CompileOptions o = options();
      o.threads = threads;
      o.least_shared_work = 0;
      const compiled::Executable step = compiled::compile(spec::parse_program(text), o);
      compiled::Store store;
      step.declare(store);
      fill(store, first_state(dtype));
      for (int run = 0; run < 3; ++run) {
        const HostTensor w = store.read("w");
        const auto y = step.run(store, {{"x", x}, {"d", d}});
        CHECK(y.at(0) == product(dtype, x, w));
      }
      CHECK(store.entry("w").panels.has_value());
      CHECK(state_in(store) == after_steps(dtype, x, d, first_state(dtype), 3));
      // What is written meanwhile is what the next run reads.
      fill(store, first_state(dtype));
      CHECK(state_in(store) == first_state(dtype));
      (void)step.run(store, {{"x", x}, {"d", d}});
      CHECK(state_in(store) == after_steps(dtype, x, d, first_state(dtype), 1));
    }
  }
}

TEST_CASE("columns that lie side by side are kept in panels along the last axis", "[compiled][kept]") {
  const std::string text = "parameter w : f32[64, 512]\ninput x : f32[96, 64]\ny = matmul(x, w)\noutput y\n";
  CHECK_THAT(layouts_of(text), Contains(fmt::format("w: in panels of {} along axis 1", panel_of(DType::f32))) && Contains("it lies in panels"));
  const compiled::Executable e = compiled::compile(spec::parse_program(text), options());
  compiled::CompileOptions plain = options();
  plain.schedule.keep = false;
  CHECK_THAT(layouts_of(text, plain), !Contains("in place (it lies in panels)") && Contains("right packed in panels"));
  compiled::Store store;
  store.put("w", normal_numbers(DType::f32, {64, 512}, 1));
  const HostTensor x = normal_numbers(DType::f32, {96, 64}, 2);
  compiled::Store other;
  other.put("w", store.read("w"));
  CHECK(e.run(store, {{"x", x}}) == compiled::compile(spec::parse_program(text), plain).run(other, {{"x", x}}));
  CHECK(store.entry("w").panels == compiled::Panels{1, panel_of(DType::f32)});
  CHECK(!other.entry("w").panels);
  CHECK(store.read("w") == other.read("w"));
}

TEST_CASE("the report says which parameters lie in panels, and why", "[compiled][kept]") {
  compiled::CompileOptions o = options();
  o.explain = true;
  const compiled::Executable step = compiled::compile(spec::parse_program(step_text("f32", 33)), o);
  std::map<std::string, std::string> layouts;
  for (const compiled::ValueReport& v : step.report().values) layouts.emplace(v.name, v.layout);
  CHECK(layouts.at("w") == fmt::format("panels of {} along axis 0: its contraction reads it so", panel_of(DType::f32)));
  CHECK(layouts.at("m") == fmt::format("panels of {} along axis 0: like w", panel_of(DType::f32)));
  CHECK(layouts.at("x").empty());
  CHECK(layouts.at("y").empty());
}

TEST_CASE("siblings of a step read what it keeps, whatever they like best", "[compiled][kept]") {
  const DType dtype = DType::f32;
  const HostTensor x = whole_numbers(dtype, {33, inputs}, 4), d = whole_numbers(dtype, {33, outputs}, 5);
  const HostTensor many = whole_numbers(dtype, {100, inputs}, 6), one = whole_numbers(dtype, {1, inputs}, 7);
  const compiled::Executable step = compiled::compile(spec::parse_program(step_text("f32", 33)), options());
  const compiled::Executable evaluate = compiled::compile(evaluation("f32", 100), options());
  const compiled::Executable infer = compiled::compile(evaluation("f32", 1), options());
  const compiled::Executable looks = compiled::compile(
      spec::parse_program("parameter w : f32[64, 40]\nparameter m : f32[64, 40]\nt = transpose(m) {permutation = [1, 0]}\ns = sum(w) {axes = [0]}\nw2 = add(w, w)\noutput t, s\nupdate w := w2\n"),
      options());
  const bool reader_first = GENERATE(false, true);
  compiled::Store store;
  fill(store, first_state(dtype));
  if (reader_first) {
    CHECK(evaluate.run(store, {{"x100", many}}).at(0) == product(dtype, many, first_state(dtype)[0]));
    CHECK(!store.entry("m").panels);
  }
  (void)step.run(store, {{"x", x}, {"d", d}});
  const auto expected = after_steps(dtype, x, d, first_state(dtype), 1);
  REQUIRE(store.entry("w").panels.has_value());
  CHECK(evaluate.run(store, {{"x100", many}}).at(0) == product(dtype, many, expected[0]));
  CHECK(infer.run(store, {{"x1", one}}).at(0) == product(dtype, one, expected[0]));
  const auto seen = looks.run(store);
  for (std::int64_t i = 0; i < inputs; ++i) {
    double sum = 0;
    for (std::int64_t o = 0; o < outputs; ++o) {
      sum += at2(expected[0], o, i);
      CHECK(at2(seen.at(0), i, o) == at2(expected[1], o, i));
    }
    CHECK(at(seen.at(1), static_cast<std::size_t>(i)) == sum);
  }
  CHECK(store.entry("w").panels == compiled::Panels{0, panel_of(DType::f32)});
  const HostTensor doubled = store.read("w");
  for (std::size_t k = 0; k < static_cast<std::size_t>(outputs * inputs); ++k) CHECK(at(doubled, k) == 2 * at(expected[0], k));
  (void)step.run(store, {{"x", x}, {"d", d}});
  CHECK(state_in(store) == after_steps(dtype, x, d, {doubled, expected[1], expected[2]}, 1));
}

TEST_CASE("a parameter stays as it is where something of its size cannot go along", "[compiled][kept]") {
  CHECK_THAT(layouts_of(step_text("f32", 33, "output g\n")), Contains("w: as it is: g is given to the caller"));
  CHECK_THAT(layouts_of("parameter w : f32[64, 40]\ninput x : f32[33, 40]\ninput d : f32[33, 64]\ny = linear(x, w, _)\ng = vjp(y; w; d)\n"
                        "w1 = sub(w, g)\noutput y\nupdate w := w1\n"),
             Contains("w: as it is: its update rides along with a contraction"));
  CHECK_THAT(layouts_of("parameter w : f32[63, 40]\ninput x : f32[33, 40]\ny = linear(x, w, _)\noutput y\n"),
             Contains(fmt::format("w: as it is: its 63 columns are no whole panels of {}", panel_of(DType::f32))));
  CHECK_THAT(layouts_of("parameter w : f32[64, 40]\ninput x : f32[33, 40]\ny = linear(x, w, _)\nt = transpose(w) {permutation = [1, 0]}\ns = sum(t) {axes = [0]}\noutput y, s\n"),
             Contains("w: as it is: w is read by more than contractions and its update"));
  CHECK_THAT(layouts_of("parameter w : f32[64, 40]\nparameter m : f32[64, 40]\ninput k : f32[64, 40]\ninput x : f32[33, 40]\ninput d : f32[33, 64]\n"
                        "y = linear(x, w, _)\ng = vjp(y; w; d)\nh = mul(g, k)\nm1 = add(m, h)\nw1 = sub(w, m1)\noutput y\nupdate w := w1\nupdate m := m1\n"),
             Contains("w: as it is: k is given at each run"));
}

TEST_CASE("a factor kept in panels is copied along its other axis as without them", "[compiled][kept]") {
  // The cotangent of x reads w the other way round.
  const std::string more = "gx = vjp(y; x; d)\noutput gx\n";
  const std::string text = step_text("f32", 96, more);
  CHECK_THAT(layouts_of(text), Contains(fmt::format("w: in panels of {} along axis 0", panel_of(DType::f32))));
  const HostTensor x = whole_numbers(DType::f32, {96, inputs}, 4), d = whole_numbers(DType::f32, {96, outputs}, 5);
  compiled::Store store;
  fill(store, first_state(DType::f32));
  const auto found = compiled::compile(spec::parse_program(text), options()).run(store, {{"x", x}, {"d", d}});
  const HostTensor w = first_state(DType::f32)[0];
  std::size_t compared = 0;
  for (std::int64_t b = 0; b < 96; ++b) {
    for (std::int64_t i = 0; i < inputs; ++i) {
      double sum = 0;
      for (std::int64_t o = 0; o < outputs; ++o) sum += at2(d, b, o) * at2(w, o, i);
      CHECK(at2(found.at(0), b, i) == sum);
      ++compared;
    }
  }
  CHECK(compared == 96U * inputs);
  CHECK(found.at(1) == product(DType::f32, x, w));
}
