// Models that judge: what their nodes answer of numbers in the boxes, in none and partly in each.
#include <catch2/catch.hpp>

#include <limits>

#include "conformance/interchange/onnx/verdict_graph.hpp"
#include "tests/interchange/small_model.hpp"

using namespace etalon;
using namespace etalon::tests;
using conformance::Way;

namespace {

[[nodiscard]] Way box(const std::vector<float>& lower, const std::vector<float>& upper, const std::vector<std::uint8_t>& admits) {
  const Dims dims{static_cast<std::int64_t>(lower.size())};
  return {HostTensor::of<float>(dims, lower), HostTensor::of<float>(dims, upper), admits};
}

/// What the nodes answer of y, computed as a program.
[[nodiscard]] std::vector<bool> verdict(const std::vector<Way>& ways, const HostTensor& y) {
  VerdictGraph graph = verdict_graph(ways, y.dtype);
  Model model{17, std::move(graph.nodes), {}, {}, {{"verdict", 0, {}}}};
  std::map<std::string, HostTensor> inputs{{"y", y}};
  for (auto& [name, tensor] : graph.inputs) REQUIRE(inputs.emplace(name, tensor).second);
  for (const auto& [name, tensor] : inputs) model.inputs.push_back(declared(name, tensor.dtype, {tensor.dims.begin(), tensor.dims.end()}));
  const auto answered = computed(model, inputs);
  REQUIRE(answered.has_value());
  CHECK(answered->at(0).dims == graph.verdict);
  std::vector<bool> truths;
  for (const std::byte b : answered->at(0).bytes) truths.push_back(b != std::byte{0});
  return truths;
}

constexpr std::uint8_t number = reference::admits_finite;
constexpr std::uint8_t number_or_nan = reference::admits_finite | reference::admits_nan;
constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("of one box each element has a verdict") {
  const std::vector<Way> one{box({1, 1, 0}, {2, 2, 0}, {number, number_or_nan, reference::admits_positive_infinity})};
  CHECK(verdict(one, reals({3}, {1.5F, no_number, infinity})) == std::vector{true, true, true});
  CHECK(verdict(one, reals({3}, {no_number, 3, 0})) == std::vector{false, false, false});
}

TEST_CASE("of several boxes one must hold the whole tensor") {
  const std::vector<Way> two{box({0, 0}, {1, 1}, {number, number_or_nan}), box({10, 20}, {10, 20}, {number, number})};
  CHECK(verdict(two, reals({2}, {0.5F, 1})) == std::vector{true});
  CHECK(verdict(two, reals({2}, {0.5F, no_number})) == std::vector{true});
  CHECK(verdict(two, reals({2}, {10, 20})) == std::vector{true});
  // Each element lies in a box, and no box holds both.
  CHECK(verdict(two, reals({2}, {0.5F, 20})) == std::vector{false});
  CHECK(verdict(two, reals({2}, {10, 1})) == std::vector{false});
  CHECK(verdict(two, reals({2}, {10, no_number})) == std::vector{false});
  CHECK(verdict(two, reals({2}, {5, 5})) == std::vector{false});
}

TEST_CASE("integers and truth values may have several values too") {
  const auto integer = [](std::int64_t a, std::int64_t b) { return Way{integers({a, b}), integers({a, b}), {number, number}}; };
  const std::vector<Way> ways{integer(1, 2), integer(3, 4), integer(5, 6)};
  CHECK(verdict(ways, integers({5, 6})) == std::vector{true});
  CHECK(verdict(ways, integers({3, 6})) == std::vector{false});
  const auto truth = [](bool a, bool b) {
    const HostTensor t = HostTensor::of<bool>({2}, {a, b});
    return Way{t, t, {number, number}};
  };
  const std::vector<Way> truths{truth(true, false), truth(false, true)};
  CHECK(verdict(truths, HostTensor::of<bool>({2}, {false, true})) == std::vector{true});
  CHECK(verdict(truths, HostTensor::of<bool>({2}, {true, true})) == std::vector{false});
}
