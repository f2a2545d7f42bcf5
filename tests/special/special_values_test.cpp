// The special cases of the array API standard, on every backend that is built: tests/special/array_api.txt.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "reference/backend.hpp"
#ifdef ETALON_COMPILED
#include "compiled/runtime/backend.hpp"
#endif

using namespace etalon;

namespace {

struct Line {
  std::vector<std::string> operands;
  std::string result;
};

std::map<std::string, std::vector<Line>> lines_of(const std::string& path) {
  std::map<std::string, std::vector<Line>> table;
  std::ifstream in(path);
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream words(text);
    std::string operation;
    words >> operation;
    Line line;
    for (std::string word; words >> word && word != "=";) line.operands.push_back(word);
    words >> line.result;
    table[operation].push_back(line);
  }
  return table;
}

bool is_angle(const std::string& word) { return word.find("pi") != std::string::npos; }

double angle(const std::string& word) {
  const std::size_t at = word.find("pi");
  const std::string factor = word.substr(0, at);
  const std::size_t slash = word.find('/');
  const double times = factor.empty() ? 1 : factor == "-" ? -1 : std::stod(factor);
  return times * 3.14159265358979323846 / (slash == std::string::npos ? 1 : std::stod(word.substr(slash + 1)));
}

double number(const std::string& word) {
  if (word == "true" || word == "false") return word == "true" ? 1 : 0;
  return is_angle(word) ? angle(word) : std::stod(word);
}

template <class T>
HostTensor operand(const std::vector<Line>& lines, std::size_t which) {
  std::vector<T> values;
  for (const Line& line : lines) values.push_back(static_cast<T>(number(line.operands[which])));
  return HostTensor::of(Dims{static_cast<std::int64_t>(lines.size())}, values);
}

double element(const HostTensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::f32: return static_cast<double>(t.view<float>()[i]);
    case DType::f64: return t.view<double>()[i];
    default: return t.view<std::uint8_t>()[i] != 0 ? 1 : 0;
  }
}

/// The same class and sign, the same number, an angle to one ulp.
bool agrees(double got, const std::string& word, DType dtype) {
  const double want = number(word);
  if (std::isnan(want)) return std::isnan(got);
  if (!is_angle(word)) return got == want && std::signbit(got) == std::signbit(want);
  const double ulp = std::ldexp(1.0, std::ilogb(want) - (dtype == DType::f32 ? 23 : 52));
  return std::abs(got - want) <= ulp;
}

spec::Program call_of(const std::string& operation, const std::vector<HostTensor>& inputs) {
  spec::Program program;
  spec::Call call;
  call.operation = operation;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    spec::Input input;
    input.name = "x" + std::to_string(i);
    input.dtype = inputs[i].dtype;
    input.dims = inputs[i].dims;
    call.operands.emplace_back(input.name);
    program.inputs.push_back(std::move(input));
  }
  call.results = {"y"};
  program.steps.emplace_back(std::move(call));
  program.outputs = {"y"};
  return program;
}

HostTensor answer_of(spec::Backend& backend, const std::string& operation, std::vector<HostTensor> inputs) {
  spec::Request request;
  request.program = call_of(operation, inputs);
  request.inputs = std::move(inputs);
  const spec::Answer answer = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) FAIL(operation << ": " << refusal->why);
  return std::get<spec::Numbers>(answer).outputs.at(0);
}

std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>> backends() {
  std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>> all;
  all.emplace_back("reference", reference::make_reference_backend());
#ifdef ETALON_COMPILED
  all.emplace_back("cpu", compiled::make_cpu_backend());
#endif
  return all;
}

template <class T>
std::size_t check(spec::Backend& backend, const std::string& operation, const std::vector<Line>& lines) {
  std::vector<HostTensor> inputs;
  for (std::size_t k = 0; k < lines[0].operands.size(); ++k) inputs.push_back(operand<T>(lines, k));
  const DType dtype = inputs[0].dtype;
  const HostTensor y = answer_of(backend, operation, std::move(inputs));
  REQUIRE(y.dims.count() == static_cast<std::int64_t>(lines.size()));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(operation << ' ' << lines[i].operands[0] << ' ' << (lines[i].operands.size() > 1 ? lines[i].operands[1] : "")
                   << " in " << name_of(dtype) << " is " << element(y, i) << ", expected " << lines[i].result);
    CHECK(agrees(element(y, i), lines[i].result, dtype));
  }
  return lines.size();
}

}  // namespace

TEST_CASE("special values are those of the array API standard", "[special]") {
  const auto table = lines_of(ETALON_SOURCE_DIR "/tests/special/array_api.txt");
  for (const auto& [name, backend] : backends()) {
    INFO("backend " << name);
    std::size_t compared = 0;
    for (const auto& [operation, lines] : table) {
      compared += check<float>(*backend, operation, lines) + check<double>(*backend, operation, lines);
      // One element alone takes the scalar path of a backend that has vectors.
      for (std::size_t i = 0; i < lines.size(); i += 5) compared += check<float>(*backend, operation, {lines[i]});
    }
    CHECK(compared > 1500);
  }
}

TEST_CASE("the table's reader tells zeros and angles apart", "[special]") {
  CHECK(agrees(0.0, "+0", DType::f64));
  CHECK_FALSE(agrees(-0.0, "+0", DType::f64));
  CHECK_FALSE(agrees(1.5707, "pi/2", DType::f32));
  CHECK(agrees(1.57079637050628662109375, "pi/2", DType::f32));
  CHECK_FALSE(agrees(std::numeric_limits<double>::quiet_NaN(), "pi/2", DType::f32));
  // Half an ulp of the word's own value, one for 3π.
  CHECK(std::abs(number("-3pi/4") + 2.356194490192344928847) <= 1.5 * 0x1p-51);
}
