#include "tools/log/diff.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "tools/log/judge.hpp"
#include "tools/log/outline.hpp"

namespace etalon::logging {

using Json = nlohmann::ordered_json;

namespace {

/// The first element of other bits.
std::optional<std::size_t> first_other(const HostTensor& a, const HostTensor& b) {
  const std::size_t size = size_of(a.dtype);
  for (std::size_t i = 0; i * size < a.bytes.size(); ++i) {
    if (std::memcmp(a.bytes.data() + i * size, b.bytes.data() + i * size, size) != 0) return i;
  }
  return std::nullopt;
}

void require_same_inputs(const Log& a, const Log& b) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    const auto other = first_other(a.inputs[i], b.inputs[i]);
    if (!other) continue;
    throw SpecViolation(fmt::format("the logs were given different numbers: {} is {} in the first and {} in the second",
                                    element_name(a.meaning.program.inputs[i].name, a.inputs[i].dims, *other), element_text(a.inputs[i], *other),
                                    element_text(b.inputs[i], *other)));
  }
}

void find_difference(const Log& a, const Log& b, Comparison& result) {
  std::vector<bool> seen(a.values.size());
  for (std::size_t q = 0; q < a.meaning.system.equations.size(); ++q) {
    const auto t = static_cast<std::size_t>(a.meaning.system.equations[q].target);
    if (seen[t] || !a.values[t] || !b.values[t]) continue;
    seen[t] = true;
    ++result.shared;
    if (result.difference) continue;
    const auto other = first_other(*a.values[t], *b.values[t]);
    if (!other) continue;
    const spec::TensorInfo& info = a.meaning.system.tensors[t];
    result.difference = Difference{a.meaning.steps[q], element_name(info.name, info.dims, *other),
                                   {element_text(*a.values[t], *other), element_text(*b.values[t], *other)}};
  }
}

/// `"net.cpp":20 in section "forward", step 4: h = matmul(x, w)`
std::string where(const spec::Program& program, std::size_t step) {
  if (step >= program.steps.size()) return "updates";
  const spec::Source source = source_of(program, step);
  std::string text = source.file.empty() ? "" : fmt::format("{}:{}: ", source.file, source.line);
  if (!source.section.empty()) text += "section " + in_quotes(source.section) + ", ";
  return text + fmt::format("step {}: {}", step + 1, summary_of(program, step));
}

std::string fault_text(const spec::Program& program, const Fault& fault, const std::string& name) {
  std::string text = fmt::format("{}\n  {} is {} in {}, expected {}, admitted {}{}\n", where(program, fault.step), fault.element, fault.found, name,
                                 fault.expected, fault.admitted, fault.why.empty() ? "" : ": " + fault.why);
  if (fault.offenders > 1) text += fmt::format("  {} elements of it are outside their bounds\n", fault.offenders);
  text += "  " + fault.equation + "\n";
  if (!fault.operands.empty()) text += fmt::format("  {} = {}\n", fault.element, fault.operands);
  return text;
}

Json source_json(const spec::Program& program, std::size_t step) {
  const spec::Source source = source_of(program, step);
  return {{"step", step + 1}, {"file", source.file}, {"line", source.line}, {"section", source.section}, {"call", summary_of(program, step)}};
}

Json fault_json(const spec::Program& program, const Fault& fault) {
  Json one = source_json(program, fault.step);
  one.update(Json{{"element", fault.element}, {"found", fault.found}, {"expected", fault.expected}, {"admitted", fault.admitted},
                  {"offenders", fault.offenders}, {"equation", fault.equation}, {"operands", fault.operands}, {"why", fault.why}});
  return one;
}

}  // namespace

Comparison compare(const Log& a, const Log& b) {
  if (!same_program(a.meaning.program, b.meaning.program)) {
    throw SpecViolation(fmt::format("the logs are of different programs: {} ({}) and {} ({})", a.file, digest_of(a.meaning.program), b.file,
                                    digest_of(b.meaning.program)));
  }
  require_same_inputs(a, b);
  Comparison result;
  result.program = a.meaning.program;
  result.logs = {judge(a), judge(b)};
  for (const Judged& one : result.logs) {
    if (one.elements + one.undecided == 0) throw SpecViolation("a log holds no value: there is nothing to judge");
  }
  find_difference(a, b, result);
  return result;
}

std::string to_text(const Comparison& comparison, const std::array<std::string, 2>& names) {
  std::string text;
  for (std::size_t i = 0; i < 2; ++i) {
    const Judged& one = comparison.logs[i];
    for (std::size_t f = 0; f < one.faults.size(); ++f) {
      if (f == 0) text += fault_text(comparison.program, one.faults[f], names[i]);
      else text += fmt::format("also {}: {}\n", where(comparison.program, one.faults[f].step), one.faults[f].element);
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Judged& one = comparison.logs[i];
    text += fmt::format("{} ({}, contract {}): {} of {} assignments outside their bounds, {} elements compared, {} undecided, worst error {:.3g} of its bound{}\n",
                        names[i], one.backend, one.contract, one.faults.size(), one.assignments, one.elements, one.undecided, one.worst_ratio,
                        one.left_out == 0 ? "" : fmt::format("; {} not judged, which read an integer that is outside", one.left_out));
  }
  if (comparison.shared == 0) return text + "the logs hold no value in common\n";
  if (!comparison.difference) return text + fmt::format("the same bits in all {} values that both hold\n", comparison.shared);
  const Difference& d = *comparison.difference;
  return text + fmt::format("first different bits: {}\n  {} is {} in {}, {} in {}\n", where(comparison.program, d.step), d.element, d.values[0], names[0],
                            d.values[1], names[1]);
}

std::string to_json(const Comparison& comparison, const std::array<std::string, 2>& names) {
  Json logs = Json::array();
  for (std::size_t i = 0; i < 2; ++i) {
    const Judged& one = comparison.logs[i];
    Json faults = Json::array();
    for (const Fault& fault : one.faults) faults.push_back(fault_json(comparison.program, fault));
    logs.push_back({{"log", names[i]}, {"backend", one.backend}, {"contract", one.contract}, {"assignments", one.assignments}, {"elements", one.elements},
                    {"undecided", one.undecided}, {"not_judged", one.left_out}, {"worst_ratio", one.worst_ratio}, {"faults", std::move(faults)}});
  }
  Json all{{"within_bounds", comparison.within_bounds()}, {"logs", std::move(logs)}, {"shared", comparison.shared}, {"first_difference", nullptr}};
  if (comparison.difference) {
    Json first = source_json(comparison.program, comparison.difference->step);
    first.update(Json{{"element", comparison.difference->element}, {"values", comparison.difference->values}});
    all["first_difference"] = std::move(first);
  }
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace etalon::logging
