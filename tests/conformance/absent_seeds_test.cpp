// Tangents and cotangents that nobody gives: who leaves their terms out and who fills in zeros is right, and nobody else.
#include <catch2/catch.hpp>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/filled_seeds.hpp"
#include "conformance/judge.hpp"
#include "reference/backend.hpp"
#include "spec/library/library.hpp"
#include "spec/program/program.hpp"
#include "tests/sanitized.hpp"

using namespace etalon;
using conformance::Check;
using conformance::Verdict;
using spec::Mode;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float quarter_turn = 1.57079637F;

using Row = std::vector<std::optional<HostTensor>>;

[[nodiscard]] HostTensor one(float x) { return HostTensor::of<float>(Dims{1}, std::vector<float>{x}); }

[[nodiscard]] spec::Request asked(const std::string& program, const std::vector<float>& inputs, Mode mode) {
  spec::Request r;
  r.mode = mode;
  r.program = spec::parse_program(program);
  for (const float x : inputs) r.inputs.push_back(one(x));
  r.wrt.assign(inputs.size(), true);
  r.tangents.resize(inputs.size());
  r.cotangents.resize(r.program.outputs.size());
  r.cotangent_tangents.resize(r.program.outputs.size());
  return r;
}

[[nodiscard]] bool passes(const spec::Request& r, const std::vector<float>& values, const Row& tangents, const Row& cotangents) {
  spec::Numbers numbers;
  for (const float y : values) numbers.outputs.push_back(one(y));
  numbers.tangents = tangents;
  numbers.cotangents = cotangents;
  return conformance::judge(r, numbers, spec::contract_named("ieee")).verdict == Verdict::pass;
}

[[nodiscard]] spec::Numbers reference_of(const spec::Request& r) {
  return std::get<spec::Numbers>(reference::make_reference_backend()->run(r));
}

// The slope of the second operand is infinity over infinity, and its tangent is left out.
[[nodiscard]] spec::Request beside_a_constant() {
  return asked("input x : f32[1]\nv = full() {dtype = f32, shape = [1], value = inf}\ny = atan2(v, x)\noutput y\n", {0}, Mode::jvp);
}

}  // namespace

TEST_CASE("a tangent that nobody gives makes no term, or one of zeros", "[sound][absent]") {
  const spec::Request r = beside_a_constant();
  for (const float sound : {0.0F, not_a_number}) CHECK(passes(r, {quarter_turn}, {one(sound)}, {}));
  for (const float wrong : {1.0F, -1e-30F, inf, -inf}) CHECK_FALSE(passes(r, {quarter_turn}, {one(wrong)}, {}));
  CHECK(*reference_of(r).tangents[0] == one(0));
}

TEST_CASE("a tangent of zeros that somebody gives makes a term", "[absent]") {
  spec::Request r = beside_a_constant();
  r.tangents[0] = one(0);
  CHECK(passes(r, {quarter_turn}, {one(not_a_number)}, {}));
  CHECK_FALSE(passes(r, {quarter_turn}, {one(0)}, {}));
}

TEST_CASE("what a program computes from no tangent has none, or zeros", "[sound][absent]") {
  // The root of 0 has an infinite slope.
  for (const char* root : {"input c : f32[1]\nh = sqrt(c)\n", "c = full() {dtype = f32, shape = [1], value = 0}\nh = sqrt(c)\n"}) {
    const bool is_input = root[0] == 'i';
    spec::Request r = asked(std::string("input x : f32[1]\n") + root + "y = add(x, h)\noutput y\n", is_input ? std::vector<float>{2, 0} : std::vector<float>{2}, Mode::jvp);
    r.tangents[0] = one(3);
    for (const bool marked : {true, false}) {
      if (is_input) r.wrt[1] = marked;
      for (const float sound : {3.0F, not_a_number}) CHECK(passes(r, {2}, {one(sound)}, {}));
      for (const float wrong : {0.0F, 4.0F, inf}) CHECK_FALSE(passes(r, {2}, {one(wrong)}, {}));
      CHECK(*reference_of(r).tangents[0] == one(3));
    }
  }
}

TEST_CASE("a cotangent that nobody gives makes no term, or one of zeros", "[sound][absent]") {
  spec::Request r = asked("input x : f32[1]\nh = sqrt(x)\ny = neg(x)\noutput h\noutput y\n", {0}, Mode::vjp);
  r.cotangents[1] = one(7);
  for (const float sound : {-7.0F, not_a_number}) CHECK(passes(r, {0, 0}, {}, {one(sound)}));
  for (const float wrong : {0.0F, 7.0F, -inf}) CHECK_FALSE(passes(r, {0, 0}, {}, {one(wrong)}));
  CHECK(*reference_of(r).cotangents[0] == one(-7));
}

TEST_CASE("beside a value that overflows zeros may turn NaN before they meet it", "[sound][absent]") {
  constexpr float large = 3e38F;
  spec::Request r = asked("input x : f32[1]\nh = square(x)\ny = neg(x)\noutput h\noutput y\n", {large}, Mode::vjp);
  r.cotangents[1] = one(7);
  // Who doubles x before the cotangent is multiplied has infinity.
  for (const float sound : {-7.0F, not_a_number}) CHECK(passes(r, {inf, -large}, {}, {one(sound)}));
  for (const float wrong : {0.0F, -8.0F, inf}) CHECK_FALSE(passes(r, {inf, -large}, {}, {one(wrong)}));
}

TEST_CASE("a result that nothing asked for reads gets no cotangent, or zeros", "[sound][absent]") {
  spec::Request r = asked("input x : f32[1]\nh = sqrt(x)\ny = neg(x)\noutput y\n", {0}, Mode::vjp);
  r.cotangents[0] = one(7);
  for (const float sound : {-7.0F, not_a_number}) CHECK(passes(r, {0}, {}, {one(sound)}));
  CHECK_FALSE(passes(r, {0}, {}, {one(0)}));
}

TEST_CASE("a second derivative leaves the same terms out", "[sound][absent]") {
  spec::Request r = asked("input x : f32[1]\nh = sqrt(x)\ny = square(x)\noutput h\noutput y\n", {0}, Mode::jvp_of_vjp);
  r.tangents[0] = one(1);
  r.cotangents[1] = one(7);
  for (const float first : {0.0F, not_a_number}) {
    for (const float second : {14.0F, not_a_number}) CHECK(passes(r, {0, 0}, {one(second)}, {one(first)}));
  }
  CHECK_FALSE(passes(r, {0, 0}, {one(14)}, {one(1)}));
  CHECK_FALSE(passes(r, {0, 0}, {one(0)}, {one(0)}));
  const spec::Numbers exact = reference_of(r);
  CHECK(*exact.cotangents[0] == one(0));
  CHECK(*exact.tangents[0] == one(14));
}

TEST_CASE("a cotangent that nobody gives may move: its tangent makes a term", "[absent]") {
  spec::Request r = asked("input x : f32[1]\ny = square(x)\noutput y\n", {3}, Mode::jvp_of_vjp);
  r.tangents[0] = one(5);
  r.cotangent_tangents[0] = one(2);
  CHECK(passes(r, {9}, {one(12)}, {one(0)}));
  CHECK_FALSE(passes(r, {9}, {one(0)}, {one(0)}));
  const spec::Numbers exact = reference_of(r);
  CHECK(*exact.cotangents[0] == one(0));
  CHECK(*exact.tangents[0] == one(12));
}

TEST_CASE("zeros that are filled in may turn NaN in every branch of a decision", "[sound][absent]") {
  // Bounds of both hang on decisions; the rate over 1 - beta^t makes slopes that are no numbers.
  for (const char* id : {"adamax.vjp.f64.0019", "amsgrad.vjp.f32.0011"}) {
    const std::string text(id);
    const bool wide = text.find("f64") != std::string::npos;
    const auto c = conformance::make_case({text.substr(0, text.find('.')), Check::vjp, wide ? DType::f64 : DType::f32, wide ? 19U : 11U, wide ? 2U : 4U, {}});
    REQUIRE(c);
    const spec::Request r = request_of(*c);
    spec::Request filled = r;
    const auto types = conformance::result_types(*c);
    for (std::size_t o = 0; o < types.size(); ++o) {
      if (!filled.cotangents[o]) filled.cotangents[o] = HostTensor(types[o].dtype, types[o].dims);
    }
    const auto backend = reference::make_reference_backend();
    for (const spec::Request* asked : {&r, &std::as_const(filled)}) {
      const spec::Answer answer = backend->run(*asked);
      if (!std::holds_alternative<spec::Numbers>(answer)) continue;
      INFO(text);
      CHECK(conformance::judge(r, std::get<spec::Numbers>(answer), spec::contract_named("ieee")).verdict != Verdict::fail);
    }
  }
}

// The reference follows numbers with tangents through the equations; the bounds leave terms out of written derivatives.
TEST_CASE("of every definition the reference's derivatives along some seeds are admitted", "[sound][absent]") {
  constexpr std::size_t every = test::sanitized ? 6 : 1;
  std::size_t number = 0, cases = 0, filled = 0;
  const auto backend = reference::make_reference_backend();
  for (const spec::Definition* d : spec::Library().definitions()) {
    if (number++ % every != 0) continue;
    for (const Check check : {Check::jvp, Check::vjp, Check::second}) {
      const auto c = conformance::make_case({std::string(d->name), check, DType::f64, number % 5, 1, {}});
      if (!c || elements_of(*c) > 60) continue;
      const spec::Request whole = request_of(*c);
      for (auto list : {&spec::Request::tangents, &spec::Request::cotangents, &spec::Request::cotangent_tangents}) {
        for (std::size_t i = 0; i < (whole.*list).size(); ++i) {
          if (!(whole.*list)[i]) continue;
          spec::Request r = whole;
          (r.*list)[i].reset();
          const spec::Answer exact = backend->run(r);
          if (!std::holds_alternative<spec::Numbers>(exact)) continue;
          INFO(conformance::id_of(c->key) << " without seed " << i);
          CHECK(conformance::judge(r, std::get<spec::Numbers>(exact), spec::contract_named("ieee")).verdict != Verdict::fail);
          filled += conformance::with_filled_seeds(r) ? 1 : 0;
          ++cases;
        }
      }
    }
  }
  INFO(cases << " cases");
  CHECK(cases * every > 300);
  CHECK(filled == cases);
}
