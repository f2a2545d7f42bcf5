#include "covering.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "conformance/draw.hpp"
#include "conformance/shapes.hpp"
#include "reference/evaluate.hpp"
#include "spec/program/program.hpp"

namespace etalon::test {
namespace {

using conformance::CallTypes;

std::string bucket(std::int64_t n) { return n < 0 ? "<0" : n == 0 ? "0" : n == 1 ? "1" : ">1"; }

std::string bucket(const spec::AttributeValue& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return bucket(*n);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* x = std::get_if<double>(&value)) return *x < 0 ? "<0" : *x == 0 ? "0" : ">0";
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    if (list->empty()) return "none";
    return bucket(*std::min_element(list->begin(), list->end())) + bucket(*std::max_element(list->begin(), list->end()));
  }
  return "other";
}

std::vector<std::string> choices_of(const CallTypes& call) {
  std::vector<std::string> choices;
  for (const auto& [name, value] : call.attributes) choices.push_back(name + "=" + bucket(value));
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    choices.push_back(std::to_string(i) + (call.operands[i] ? "" : " absent"));
  }
  return choices;
}

/// Adds the call's pairs; whether one was new.
bool add_pairs(const CallTypes& call, std::set<std::pair<std::string, std::string>>& seen) {
  const std::vector<std::string> choices = choices_of(call);
  bool fresh = false;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t j = i; j < choices.size(); ++j) fresh = seen.emplace(choices[i], choices[j]).second || fresh;
  }
  return fresh;
}

reference::Array<double> values_of(const spec::ValueType& type, double low, double high, std::mt19937_64& engine) {
  if (kind_of(type.dtype) == Kind::real) return random_reals(type.dims, low, high, engine);
  std::vector<std::int64_t> values(static_cast<std::size_t>(type.dims.count()));
  const std::uint64_t most = kind_of(type.dtype) == Kind::boolean ? 2 : 4;
  // A scalar integer may count steps, the first of which is 1.
  const std::int64_t least = kind_of(type.dtype) == Kind::integer && type.dims.rank == 0 ? 1 : 0;
  for (std::int64_t& v : values) v = least + static_cast<std::int64_t>(engine() % most);
  return reference::Array<double>::of_integers(type.dims, values, kind_of(type.dtype));
}

bool finite_at(const spec::System& system, const Point& point) {
  for (const auto& out : reference::evaluate<double>(system, point)) {
    if (!std::all_of(out.real.begin(), out.real.end(), [](double x) { return std::isfinite(x); })) return false;
  }
  return true;
}

}  // namespace

std::vector<CallTypes> covering_calls(const spec::Definition& definition) {
  conformance::Draw draw(std::string(definition.name) + " covering calls");
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<CallTypes> calls;
  constexpr int patience = 60;
  for (int idle = 0; idle < patience; ++idle) {
    const auto assignment = conformance::draw_assignment(definition, draw, {.elements = 6, .edges = false}, DType::f64);
    if (!assignment) continue;
    const auto call = conformance::call_of(definition, *assignment, DType::f64);
    if (!call || !add_pairs(*call, seen)) continue;
    calls.push_back(*call);
    idle = 0;
  }
  return calls;
}

std::optional<CallPoint> draw_point(const CallTypes& call, std::mt19937_64& engine, const spec::Library& library) {
  CallPoint drawn{conformance::instance_of(call, library), {}, {}};
  constexpr std::pair<double, double> ranges[] = {{-2, 2}, {0.25, 2.25}, {0.125, 0.875}, {4, 6}};
  for (int attempt = 0; attempt < 5000; ++attempt) {
    drawn.point.clear();
    drawn.wrt.clear();
    for (const auto& type : call.operands) {
      if (!type) continue;
      if (kind_of(type->dtype) == Kind::real) drawn.wrt.push_back(drawn.point.size());
      // First all operands from one range, then each from its own.
      const auto [low, high] = ranges[attempt < 4 ? static_cast<std::size_t>(attempt) : engine() % 4];
      drawn.point.push_back(values_of(*type, low, high, engine));
    }
    if (finite_at(drawn.instance.system, drawn.point)) return drawn;
  }
  return std::nullopt;
}

std::string describe(const CallTypes& call) {
  std::string text = call.operation + "(";
  for (const auto& type : call.operands) {
    text += type ? std::string(name_of(type->dtype)) + to_string(type->dims) + " " : "absent ";
  }
  spec::Program program;
  program.steps.emplace_back(spec::Call{call.operation, {}, {}, call.attributes, {"y"}, {}});
  return text + ") in " + spec::to_text(program);
}

}  // namespace etalon::test
