#include "conformance/roles/draft.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace etalon::conformance {

Taken taken_where(const DrawnCall& call, const spec::ValueType& type, const std::vector<std::string>& values) {
  Taken taken(call.types.operands.size());
  for (std::size_t i = 0, k = 0; i < taken.size() && k < values.size(); ++i) {
    if (call.types.operands[i] == type) taken[i] = values[k++];
  }
  return taken;
}

bool Draft::add(DrawnCall call, Taken taken) {
  taken.resize(call.types.operands.size());
  share_inputs(call, taken);
  if (empty() && insists_ && !is_wished_for(call)) return false;
  const std::size_t inputs_before = program_.inputs.size();
  // Complete attributes, so that a backend needs no table of defaults.
  spec::Call step{call.types.operation, operands_of(call, taken), call.types.packs, call.instance.attributes, {}, {}};
  for (std::size_t r = 0; r < call.instance.results.size(); ++r) step.results.push_back("v" + std::to_string(results_.size() + r));
  program_.steps.emplace_back(std::move(step));
  if (admits_ && !admits_(program_, call.instance)) {
    program_.steps.pop_back();
    program_.inputs.resize(inputs_before);
    return false;
  }
  keep(std::move(call), taken);
  return true;
}

std::optional<std::string> Draft::add_hidden(DrawnCall call, Taken taken) {
  const std::size_t first = results_.size();
  if (!add(std::move(call), std::move(taken))) return std::nullopt;
  hide(first);
  return results_[first].name;
}

const Taken& Draft::read_by(std::size_t call) const { return std::get<spec::Call>(program_.steps[call]).operands; }

std::span<const Result> Draft::results(const Window& window) const {
  return std::span(results_).subspan(window.first, std::min(window.behind, results_.size()) - window.first);
}

std::vector<std::string> Draft::inputs_of(const spec::ValueType& type) const {
  std::vector<std::string> names;
  for (const spec::Input& input : program_.inputs) {
    if (input.dtype == type.dtype && input.dims == type.dims) names.push_back(input.name);
  }
  return names;
}

RandomProgram Draft::finished() {
  for (const Result& r : results_) {
    if (!r.read || (!r.hidden && draw_.chance(wish_.read_outputs))) program_.outputs.push_back(r.name);
  }
  if (!program_.inputs.empty() && draw_.chance(wish_.input_outputs)) program_.outputs.push_back(draw_.pick(program_.inputs).name);
  RandomProgram finished{std::move(program_), {}};
  for (DrawnCall& call : calls_) finished.assignments.push_back(std::move(call.assignment));
  return finished;
}

bool Draft::is_wished_for(const DrawnCall& first) {
  if ((wish_.doubled || wish_.twins) && !twins_of(first)) return false;
  if (!wish_.alike) return true;
  const auto other = drawing_.with_another_attribute(first);
  return other && other->alike && other->tells;
}

void Draft::share_inputs(const DrawnCall& call, Taken& taken) {
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto& type = call.types.operands[i];
    if (taken[i] || !type || !draw_.chance(wish_.shared_inputs)) continue;
    const std::vector<std::string> fitting = inputs_of(*type);
    if (!fitting.empty()) taken[i] = draw_.pick(fitting);
  }
}

Taken Draft::operands_of(const DrawnCall& call, const Taken& taken) {
  const auto& types = call.types.operands;
  const bool doubles = wish_.doubled && insists_;
  Taken operands(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i]) continue;
    const bool again = i > 0 && types[i] == types[i - 1] && (doubles || (!empty() && draw_.chance(wish_.shared_inputs / 2)));
    operands[i] = taken[i] ? *taken[i] : again ? *operands[i - 1] : add_input(*types[i]);
  }
  return operands;
}

std::string Draft::add_input(const spec::ValueType& type) {
  spec::Input input;
  input.name = "x" + std::to_string(program_.inputs.size());
  input.dtype = type.dtype;
  input.dims = type.dims;
  program_.inputs.push_back(input);
  return input.name;
}

void Draft::keep(DrawnCall call, const Taken& taken) {
  for (Result& r : results_) r.read = r.read || std::find(taken.begin(), taken.end(), r.name) != taken.end();
  const auto& names = std::get<spec::Call>(program_.steps.back()).results;
  const bool of_subject = wish_.about != nullptr && call.types.operation == wish_.about->name;
  for (std::size_t r = 0; r < names.size(); ++r) results_.push_back({names[r], call.instance.results[r], of_subject});
  calls_.push_back(std::move(call));
}

}  // namespace etalon::conformance
