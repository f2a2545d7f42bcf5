#include "conformance/smaller_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "spec/program/analysis.hpp"

namespace etalon::conformance {
namespace {

const spec::Call& call_at(const spec::Program& program, std::size_t k) { return std::get<spec::Call>(program.steps[k]); }

template <class T>
void erase_at(std::vector<T>& list, std::size_t i) {
  if (i < list.size()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
}

/// Removes calls whose results nobody reads and inputs that no call reads.
void remove_unread(Case& c) {
  spec::Program& p = *c.program;
  std::set<std::string> read(p.outputs.begin(), p.outputs.end());
  for (std::size_t k = p.steps.size(); k-- > 0;) {
    const spec::Call& call = call_at(p, k);
    if (std::none_of(call.results.begin(), call.results.end(), [&](const auto& name) { return read.contains(name); })) {
      erase_at(p.steps, k);
      erase_at(c.assignments, k);
      continue;
    }
    for (const std::string& name : spec::values_read(call)) read.insert(name);
  }
  for (std::size_t i = p.inputs.size(); i-- > 0;) {
    if (read.contains(p.inputs[i].name)) continue;
    erase_at(p.inputs, i);
    erase_at(c.operands, i);
    erase_at(c.call.operands, i);
    erase_at(c.tangents, i);
    if (i < c.wrt.size()) c.wrt.erase(c.wrt.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

[[nodiscard]] bool asks_something(const Case& c) {
  if (c.program->steps.empty() || c.program->outputs.empty()) return false;
  if (c.mode == spec::Mode::forward) return true;
  const bool seeded = std::any_of(c.cotangents.begin(), c.cotangents.end(), [](const auto& t) { return t.has_value(); });
  return seeded && std::find(c.wrt.begin(), c.wrt.end(), true) != c.wrt.end();
}

[[nodiscard]] Case without_output(const Case& c, std::size_t o) {
  Case smaller = c;
  erase_at(smaller.program->outputs, o);
  erase_at(smaller.cotangents, o);
  erase_at(smaller.cotangent_tangents, o);
  remove_unread(smaller);
  return smaller;
}

/// The values of all results, rounded to their types.
[[nodiscard]] std::map<std::string, HostTensor> results_of(const Case& c) {
  spec::Program all = *c.program;
  all.outputs.clear();
  for (std::size_t k = 0; k < all.steps.size(); ++k) {
    const auto& results = call_at(all, k).results;
    all.outputs.insert(all.outputs.end(), results.begin(), results.end());
  }
  std::vector<reference::Array<double>> inputs;
  for (const HostTensor& t : present(c)) inputs.push_back(reference::from_host<double>(t));
  const spec::System system = spec::lower(all);
  const auto values = reference::evaluate<double>(system, inputs);
  std::map<std::string, HostTensor> results;
  for (std::size_t i = 0; i < all.outputs.size(); ++i)
    results[all.outputs[i]] = reference::to_host(values[i], system[system.outputs[i]].dtype);
  return results;
}

/// The results of call k are inputs, without derivatives.
[[nodiscard]] std::optional<Case> without_call(const Case& c, std::size_t k, const std::map<std::string, HostTensor>& values) {
  Case smaller = c;
  const spec::Call call = call_at(*c.program, k);
  for (const std::string& name : call.results) {
    if (std::find(c.program->outputs.begin(), c.program->outputs.end(), name) != c.program->outputs.end()) return std::nullopt;
    const HostTensor& value = values.at(name);
    spec::Input input;
    input.name = name;
    input.dtype = value.dtype;
    input.dims = value.dims;
    smaller.program->inputs.push_back(std::move(input));
    smaller.operands.emplace_back(value);
    smaller.call.operands.emplace_back(spec::ValueType{value.dtype, value.dims});
    if (c.mode == spec::Mode::forward) continue;
    const bool real = kind_of(value.dtype) == Kind::real;
    smaller.wrt.push_back(real);
    smaller.tangents.emplace_back();
    if (real) smaller.tangents.back() = value;
  }
  erase_at(smaller.program->steps, k);
  erase_at(smaller.assignments, k);
  remove_unread(smaller);
  return smaller;
}

}  // namespace

std::vector<Case> smaller_programs(const Case& c) {
  std::vector<Case> candidates;
  const auto offer = [&](Case candidate) {
    if (asks_something(candidate)) candidates.push_back(std::move(candidate));
  };
  for (std::size_t o = 0; c.program->outputs.size() > 1 && o < c.program->outputs.size(); ++o) offer(without_output(c, o));
  if (c.program->steps.size() < 2) return candidates;
  const auto values = results_of(c);
  for (std::size_t k = 0; k < c.program->steps.size(); ++k) {
    if (auto smaller = without_call(c, k, values)) offer(std::move(*smaller));
  }
  return candidates;
}

}  // namespace etalon::conformance
