// What NaN does in comparisons, extrema and positions (M12), on every backend that promises it.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "reference/backend.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>> backends() {
  std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>> all;
  all.emplace_back("reference", reference::make_reference_backend());
  all.emplace_back("cpu", compiled::make_cpu_backend());
  all.emplace_back("cpu-c", compiled::source::make_c_backend());
  return all;
}

std::vector<double> answer(spec::Backend& backend, const std::string& call, const std::vector<HostTensor>& inputs) {
  std::string text;
  const std::string names = "ab";
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    text += std::string("input ") + names[k] + " : " + std::string(name_of(inputs[k].dtype)) + "[";
    for (std::size_t axis = 0; axis < inputs[k].dims.rank; ++axis) text += (axis == 0 ? "" : ", ") + std::to_string(inputs[k].dims[axis]);
    text += "]\n";
  }
  spec::Request request;
  request.program = spec::parse_program(text + "y = " + call + "\noutput y\n");
  request.inputs = inputs;
  const spec::Answer given = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&given)) FAIL(call << ": " << refusal->why);
  const HostTensor& y = std::get<spec::Numbers>(given).outputs.at(0);
  std::vector<double> values;
  for (std::int64_t i = 0; i < y.dims.count(); ++i) values.push_back(at(y, static_cast<std::size_t>(i)));
  return values;
}

void check(const std::string& what, const std::vector<double>& got, const std::vector<double>& want, std::size_t& compared) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO(what << ", element " << i << " is " << got[i] << ", M12 says " << want[i]);
    CHECK(same_number(got[i], want[i]));
    ++compared;
  }
}

/// Nine times the same, so that whole vectors and the rest of one are there.
std::vector<double> repeated(const std::vector<double>& values) {
  std::vector<double> all;
  for (int i = 0; i < 9; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

}  // namespace

TEST_CASE("NaN in comparisons and in extrema of two is as M12 says", "[sound][compiled][M12]") {
  const std::vector<double> a = repeated({not_a_number, not_a_number, 1, -inf, not_a_number}), b = repeated({1, -inf, not_a_number, not_a_number, not_a_number});
  const auto n = static_cast<std::int64_t>(a.size());
  std::size_t compared = 0;
  for (const auto& [name, backend] : backends()) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const std::vector<HostTensor> inputs{real_tensor(dtype, {n}, a), real_tensor(dtype, {n}, b)};
      const auto all = [n](double value) { return std::vector<double>(static_cast<std::size_t>(n), value); };
      for (const std::string call : {"maximum(a, b)", "minimum(a, b)", "add(a, b)"})
        check(name + ": " + call, answer(*backend, call, inputs), all(not_a_number), compared);
      for (const std::string call : {"eq(a, b)", "lt(a, b)", "le(a, b)", "gt(a, b)", "ge(a, b)"})
        check(name + ": " + call, answer(*backend, call, inputs), all(0), compared);
      check(name + ": ne", answer(*backend, "ne(a, b)", inputs), all(1), compared);
      const std::vector<HostTensor> one{real_tensor(dtype, {5}, {not_a_number, -1, 0, 2, not_a_number})};
      check(name + ": relu", answer(*backend, "relu(a)", one), {not_a_number, 0, 0, 2, not_a_number}, compared);
      check(name + ": clamp", answer(*backend, "clamp(a) {low = -0.5, high = 1.0}", one), {not_a_number, -0.5, 0, 1, not_a_number}, compared);
      check(name + ": sign", answer(*backend, "sign(a)", one), {not_a_number, -1, 0, 1, not_a_number}, compared);
    }
  }
  CHECK(compared > 3 * 4 * 9 * 45);
}

TEST_CASE("NaN in extrema of sets, and where it stands, is as M12 says", "[sound][compiled][M12]") {
  // Rows without NaN, with one in each place among many, with two, and of nothing else.
  std::vector<double> elements;
  std::vector<double> largest, smallest, first_largest, first_smallest;
  constexpr int width = 21;
  const auto add = [&](const std::vector<int>& nans) {
    for (int k = 0; k < width; ++k) {
      bool is_nan = false;
      for (const int at : nans) is_nan = is_nan || at == k;
      elements.push_back(is_nan ? not_a_number : k == 7 ? inf : k == 9 ? -inf : k);
    }
    largest.push_back(nans.empty() ? inf : not_a_number);
    smallest.push_back(nans.empty() ? -inf : not_a_number);
    first_largest.push_back(nans.empty() ? 7 : nans.front());
    first_smallest.push_back(nans.empty() ? 9 : nans.front());
  };
  add({});
  for (int k = 0; k < width; ++k) add({k});
  add({3, 5});
  add({8, 16, 20});
  const auto rows = static_cast<std::int64_t>(largest.size());
  std::size_t compared = 0;
  for (const auto& [name, backend] : backends()) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const std::vector<HostTensor> x{real_tensor(dtype, {rows, width}, elements)};
      check(name + ": max", answer(*backend, "max(a) {axes = [1]}", x), largest, compared);
      check(name + ": min", answer(*backend, "min(a) {axes = [1]}", x), smallest, compared);
      check(name + ": argmax", answer(*backend, "argmax(a) {axes = [1]}", x), first_largest, compared);
      check(name + ": argmin", answer(*backend, "argmin(a) {axes = [1]}", x), first_smallest, compared);
    }
  }
  CHECK(compared == 3 * 4 * 4 * largest.size());
}
