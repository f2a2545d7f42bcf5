// One place knows what is admitted: what the judge passes lies in the bounds that are served, and a call is judged alike
// whatever stands beside it.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "conformance/admissible.hpp"
#include "conformance/case.hpp"
#include "conformance/judge.hpp"
#include "conformance/schemas.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/bounds_question.hpp"
#include "tests/conformance/within_bounds.hpp"
#include "tests/sanitized.hpp"
#include "tests/simulator/simulator.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance::Verdict;
using spec::Mode;

namespace {

[[nodiscard]] HostTensor row(std::vector<float> elements) { return HostTensor::of<float>({static_cast<std::int64_t>(elements.size())}, elements); }

[[nodiscard]] spec::Request asked(const std::string& program, std::vector<HostTensor> inputs, Mode mode = Mode::forward) {
  spec::Request r;
  r.mode = mode;
  r.program = spec::parse_program(program);
  r.inputs = std::move(inputs);
  return r;
}

[[nodiscard]] Verdict verdict(const spec::Request& request, std::vector<HostTensor> outputs, std::vector<std::optional<HostTensor>> cotangents = {}) {
  spec::Numbers numbers;
  numbers.outputs = std::move(outputs);
  numbers.cotangents = std::move(cotangents);
  return conformance::judge(request, numbers, {}).verdict;
}

/// What a simulator makes of the system, as the answer to the request; tensors that the system does not answer are those of
/// `rest`.
template <class T>
[[nodiscard]] std::vector<HostTensor> simulated(const spec::System& system, const std::vector<HostTensor>& inputs, unsigned seed,
                                                const std::vector<HostTensor>& rest) {
  std::vector<HostTensor> got = bounds_test::Simulator<T>(system, inputs, {}, seed, bounds_test::Elements::anew).run();
  for (std::size_t t = got.size(); t < rest.size(); ++t) got.push_back(rest[t]);
  return got;
}

[[nodiscard]] spec::Numbers as_answer(const conformance::Question& question, const std::vector<HostTensor>& tensors) {
  spec::Numbers numbers;
  for (const conformance::AnswerList& list : question.lists) {
    std::vector<std::optional<HostTensor>> all;
    std::size_t next = list.first;
    for (const bool is_there : list.present) all.push_back(is_there ? std::optional(tensors.at(next++)) : std::nullopt);
    if (list.name == "outputs") {
      for (const auto& t : all) numbers.outputs.push_back(*t);
    } else {
      (list.name == "cotangents" ? numbers.cotangents : numbers.tangents) = all;
    }
  }
  return numbers;
}

/// The request's equations and every schema of the case, each evaluated with all freedoms.
template <class T>
[[nodiscard]] std::vector<spec::Numbers> simulations(const Case& c, const spec::Request& request) {
  const conformance::Question question = conformance::question_of(request);
  const auto first = simulated<T>(question.system, question.inputs, 1, {});
  std::vector<spec::Numbers> answers{as_answer(question, first), as_answer(question, simulated<T>(question.system, question.inputs, 2, {}))};
  unsigned seed = 3;
  if (c.program) return answers;
  for (const conformance::Schema& schema : conformance::other_schemas(c, c.mode)) {
    if (!bounds_test::computes_in<T>(schema.system)) continue;
    answers.push_back(as_answer(question, simulated<T>(schema.system, schema.inputs, seed++, first)));
  }
  return answers;
}

}  // namespace

TEST_CASE("whatever the judge passes lies in the bounds that are served", "[admissible]") {
  constexpr std::size_t most_elements = 200, every = test::sanitized ? 4 : 1;
  const auto backend = reference::make_reference_backend();
  tests::Within all;
  std::size_t cases = 0, number = 0;
  for (const spec::Definition* d : spec::library()) {
    if (number++ % every != 0) continue;
    std::uint64_t index = cases;
    for (const Check check : {Check::value, Check::jvp, Check::vjp, Check::second, Check::special, Check::program}) {
      const bool wide = ++index % 3 == 0;
      const auto c = conformance::make_case({std::string(d->name), check, wide ? DType::f64 : DType::f32, index % 20, 1, {}});
      if (!c || elements_of(*c) > most_elements) continue;
      const spec::Request request = request_of(*c);
      if (c->mode == Mode::jvp_of_vjp && index % 5 != 0) continue;
      std::vector<spec::Numbers> answers;
      const spec::Answer exact = backend->run(request);
      if (const auto* numbers = std::get_if<spec::Numbers>(&exact)) answers.push_back(*numbers);
      const conformance::Question question = conformance::question_of(request);
      for (auto& numbers : bounds_test::computes_in<float>(question.system) ? simulations<float>(*c, request) : simulations<double>(*c, request))
        answers.push_back(std::move(numbers));
      tests::hold_passed(request, answers, {}, all);
      ++cases;
    }
  }
  // Answers that the equations alone do not admit are among them: cumsum, added up otherwise.
  const auto request = asked("input x : f32[3]\ny = cumsum(x)\noutput y\n", {row({1e16F, -1e16F, 1})});
  spec::Numbers otherwise;
  otherwise.outputs = {row({1e16F, 0, 0})};
  const std::size_t before = all.by_ways;
  tests::hold_passed(request, {otherwise}, {}, all);
  CHECK(all.by_ways == before + 1);
  INFO(all.first);
  INFO(cases << " cases, " << all.passed << " answers passed, " << all.by_ways << " of them by other ways, " << all.convicted << " did not pass");
  CHECK(all.outside == 0);
  CHECK(all.by_ways * every >= 10);
  CHECK(cases * every >= 400);
  CHECK(all.passed * every >= 1000);
  CHECK(all.comparisons * every >= 10000);
}

TEST_CASE("a call is judged alike with an input that nobody reads and with calls beside it", "[admissible]") {
  const HostTensor x = row({1e16F, -1e16F, 1}), z = row({0, 0, 0});
  const std::vector<float> sums{1e16F, 0, 0}, wrong{1e16F, 0, 2e9F};
  const auto alone = asked("input x : f32[3]\ny = cumsum(x)\noutput y\n", {x});
  const auto unused = asked("input u : f32[2]\ninput x : f32[3]\ny = cumsum(x)\noutput y\n", {row({1, 2}), x});
  const auto second = asked("input x : f32[3]\ninput z : f32[3]\ny = cumsum(x)\nk = exp(z)\noutput y\noutput k\n", {x, z});
  const auto shared = asked("input x : f32[3]\ninput u : f32[1]\ny = cumsum(x)\nk = neg(x)\noutput y\noutput k\n", {x, row({1})});
  for (const auto& [sum, expected] : {std::pair(sums, Verdict::pass), std::pair(wrong, Verdict::fail)}) {
    CHECK(verdict(alone, {row(sum)}) == expected);
    CHECK(verdict(unused, {row(sum)}) == expected);
    CHECK(verdict(second, {row(sum), row({1, 1, 1})}) == expected);
    CHECK(verdict(shared, {row(sum), row({-1e16F, 1e16F, -1})}) == expected);
  }
}

TEST_CASE("cotangents beside an input that nobody reads are judged alike, and its own are zero", "[admissible]") {
  auto unused = asked("input u : f32[2]\ninput x : f32[3]\ny = cumsum(x) {reverse = true}\noutput y\n", {row({1, 2}), row({1, 2, 3})}, Mode::vjp);
  unused.wrt = {true, true};
  unused.cotangents = {row({1e16F, -1e16F, 1})};
  // Of a reversed sum the cotangents are sums from the start.
  const HostTensor values = row({6, 5, 3}), sums = row({1e16F, 0, 0});
  CHECK(verdict(unused, {values}, {row({0, 0}), sums}) == Verdict::pass);
  CHECK(verdict(unused, {values}, {row({0, 1}), sums}) == Verdict::fail);
  CHECK(verdict(unused, {values}, {row({0, 0}), row({1e16F, 0, 2e9F})}) == Verdict::fail);
}

TEST_CASE("a call keeps its ways where it reads inputs in another order, or one twice", "[admissible]") {
  const HostTensor x = row({1e16F, -1e16F, 1});
  const auto twice = asked("input c : bool[3]\ninput x : f32[3]\ny = where(c, x, x)\nz = cumsum(y)\noutput z\n", {HostTensor(DType::boolean, {3}), x});
  CHECK(verdict(twice, {row({1e16F, 0, 0})}) == Verdict::pass);
  CHECK(verdict(twice, {row({1e16F, 0, 2e9F})}) == Verdict::fail);
  const std::string power = "input p : f32[2]\ninput b : f32[2]\ny = pow(b, p)\noutput y\n";
  const auto parts = conformance::components_of(asked(power, {row({2, 3}), row({4, 5})}));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].inputs == std::vector<std::size_t>{1, 0});
  CHECK(conformance::case_of(parts[0].request));
  CHECK(verdict(asked(power, {row({2, 3}), row({4, 5})}), {row({16, 125})}) == Verdict::pass);
  CHECK(conformance::case_of(asked("input x : f32[2]\ny = mul(x, x)\noutput y\n", {row({1, 2})})));
}

TEST_CASE("bounds of integers are integers, all that a decision leaves open between them", "[admissible]") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  spec::Json answer = tests::served(asked("input x : i64[]\ny = neg(x)\noutput y\n", {HostTensor::of<std::int64_t>({}, {big})}), {});
  CHECK(spec::tensor_from_json(answer.at("lower").at(0), "t") == HostTensor::of<std::int64_t>({}, {-big}));
  CHECK(spec::tensor_from_json(answer.at("upper").at(0), "t") == HostTensor::of<std::int64_t>({}, {-big}));
  // exp(1) and exp(1 + 2^-23) differ by less than what exp may err by.
  answer = tests::served(asked("input x : f32[2]\nh = exp(x)\np = argmax(h) {axes = [0]}\noutput p\n", {row({1, 1.0000001F})}), {});
  CHECK(spec::tensor_from_json(answer.at("lower").at(0), "t") == HostTensor::of<std::int64_t>({}, {0}));
  CHECK(spec::tensor_from_json(answer.at("upper").at(0), "t") == HostTensor::of<std::int64_t>({}, {1}));
}

TEST_CASE("cotangents of equal calls are added in any order", "[sound][admissible]") {
  // The first two calls sum the same; who knows nothing of that adds 0.1 - 1 before 1.
  auto r = asked("input x : f32[2]\na = mean(x) {axes = [0], keepdims = true}\nb = mean(x) {axes = [0], keepdims = true}\nh = neg(x)\nd = mean(h) {axes = [0], keepdims = true}\noutput a\noutput b\noutput d\n", {row({0, 0})}, Mode::vjp);
  r.wrt = {true};
  r.cotangents = {row({2}), row({-2}), row({0.2F})};
  const std::vector<HostTensor> values{row({0}), row({0}), row({0})};
  for (const float sound : {-0.1F, (-0.1F - 1) + 1}) CHECK(verdict(r, values, {row({sound, sound})}) == Verdict::pass);
  CHECK(verdict(r, values, {row({-0.1F - 2e-7F, -0.1F})}) == Verdict::fail);
}
