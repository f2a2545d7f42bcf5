#include "conformance/one_call.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace etalon::conformance {
namespace {

[[nodiscard]] bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

template <class Names>
[[nodiscard]] std::optional<std::size_t> place_of(const std::string& name, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

/// The call that gives all outputs.
[[nodiscard]] const spec::Call* giving_all(const spec::Program& program) {
  for (const auto& step : program.steps) {
    const auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) return nullptr;
    const auto gives = [&](const std::string& name) { return place_of(name, call->results).has_value(); };
    if (!program.outputs.empty() && std::all_of(program.outputs.begin(), program.outputs.end(), gives)) return call;
  }
  return nullptr;
}

/// What is told of each result of the call, by what is told of the outputs.
[[nodiscard]] std::vector<std::optional<HostTensor>> of_results(const std::vector<std::optional<HostTensor>>& of_outputs,
                                                               const std::vector<std::size_t>& results, std::size_t count) {
  if (of_outputs.empty()) return {};
  std::vector<std::optional<HostTensor>> all(count);
  for (std::size_t o = 0; o < results.size() && o < of_outputs.size(); ++o) all[results[o]] = of_outputs[o];
  return all;
}

[[nodiscard]] bool has_distinct(std::vector<std::size_t> places) {
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

[[nodiscard]] bool is_first_of_all(const std::vector<std::size_t>& places, std::size_t count) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != i) return false;
  }
  return places.size() == count;
}

/// Operand by operand; false where one is no input, or stands twice.
[[nodiscard]] bool take_operands(OneCall& one, const spec::Call& call, const spec::Request& request) {
  std::vector<std::string> names;
  for (const spec::Input& input : request.program.inputs) names.push_back(input.name);
  std::size_t next = 0;
  for (const auto& operand : call.operands) {
    one.call.operands.emplace_back();
    one.call.call.operands.emplace_back();
    if (!operand) continue;
    const auto input = place_of(*operand, names);
    if (!input || one.inputs[*input]) return false;
    one.inputs[*input] = next++;
    const HostTensor& value = request.inputs[*input];
    one.call.operands.back() = value;
    one.call.call.operands.back() = spec::ValueType{value.dtype, value.dims};
    if (!request.wrt.empty()) one.call.wrt.push_back(request.wrt[*input]);
    one.call.tangents.push_back(*input < request.tangents.size() ? request.tangents[*input] : std::nullopt);
  }
  return true;
}

[[nodiscard]] spec::TensorId append_zero(spec::System& system, const spec::Input& input) {
  const spec::TensorId zero = system.add_tensor(input.name + "~", input.dtype, input.dims);
  std::vector<spec::Binder> binders = system.bind_all(zero);
  system.define(zero, std::move(binders), spec::decimal(0), -1);
  return zero;
}

/// The outputs of a schema by kind, taken from it in the order of the request.
class Ordering {
 public:
  Ordering(Schema& schema, const OneCall& one, const spec::Request& request)
      : schema_(schema), one_(one), request_(request), given_(std::move(schema.system.outputs)) {}

  void run(std::size_t results) {
    std::vector<spec::TensorId>& outputs = schema_.system.outputs;
    outputs.clear();
    for (const std::size_t r : one_.results) outputs.push_back(given_[r]);
    next_ = results;
    const std::size_t values = outputs.size();
    if (next_ < given_.size() && request_.mode == spec::Mode::jvp) take_tangents(results);
    for (bool second : {false, true}) {
      if (next_ == given_.size() || request_.mode == spec::Mode::jvp) break;
      if (second) schema_.first_tangent = outputs.size();
      take_cotangents();
    }
    if (request_.mode == spec::Mode::jvp) schema_.first_tangent = values;
  }

 private:
  void take_tangents(std::size_t results) {
    std::vector<std::optional<spec::TensorId>> of_result(results);
    for (std::size_t r = 0; r < results; ++r) {
      if (is_real(schema_.system[given_[r]].dtype)) of_result[r] = given_[next_++];
    }
    for (const std::size_t r : one_.results) {
      if (of_result[r]) schema_.system.outputs.push_back(*of_result[r]);
    }
  }

  void take_cotangents() {
    std::vector<std::optional<spec::TensorId>> of_operand(one_.call.wrt.size());
    for (std::size_t i = 0; i < of_operand.size(); ++i) {
      if (one_.call.wrt[i]) of_operand[i] = given_[next_++];
    }
    for (std::size_t i = 0; i < one_.inputs.size(); ++i) {
      if (!request_.wrt[i]) continue;
      const auto& operand = one_.inputs[i];
      schema_.system.outputs.push_back(operand ? *of_operand[*operand] : append_zero(schema_.system, request_.program.inputs[i]));
    }
  }

  Schema& schema_;
  const OneCall& one_;
  const spec::Request& request_;
  std::vector<spec::TensorId> given_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<OneCall> one_call_of(const spec::Request& request) {
  const spec::Program& program = request.program;
  const spec::Call* call = giving_all(program);
  if (call == nullptr) return std::nullopt;
  OneCall one;
  for (const std::string& output : program.outputs) one.results.push_back(*place_of(output, call->results));
  one.inputs.resize(program.inputs.size());
  one.call.key.library = spec::library_of(program);
  one.call.mode = request.mode;
  one.call.call = {call->operation, {}, call->packs, call->attributes};
  if (!has_distinct(one.results) || !take_operands(one, *call, request)) return std::nullopt;
  const std::vector<bool>& wrt = one.call.wrt;
  if (request.mode != spec::Mode::forward && std::find(wrt.begin(), wrt.end(), true) == wrt.end()) return std::nullopt;
  one.call.cotangents = of_results(request.cotangents, one.results, call->results.size());
  one.call.cotangent_tangents = of_results(request.cotangent_tangents, one.results, call->results.size());
  return one;
}

Schema as_asked(Schema schema, const OneCall& one, const spec::Request& request) {
  const std::size_t results = definition_of(one.call).result_count == 0 ? 0 : instance_of(one.call).results.size();
  const bool all_read = std::all_of(one.inputs.begin(), one.inputs.end(), [](const auto& i) { return i.has_value(); });
  std::vector<std::size_t> order;
  for (const auto& i : one.inputs) order.push_back(i.value_or(0));
  if (is_first_of_all(one.results, results) && all_read && is_first_of_all(order, order.size())) return schema;
  Ordering(schema, one, request).run(results);
  return schema;
}

std::vector<bool> needs_parts(const spec::Program& program) {
  const spec::Library library = spec::library_of(program);
  std::set<std::string> touched;
  bool any = false;  // of the calls so far
  for (const auto& step : program.steps) {
    if (const auto* call = std::get_if<spec::Call>(&step)) {
      bool reads = library.named(call->operation).part_count > 0;
      any |= reads;
      for (const auto& operand : call->operands) reads |= operand && touched.count(*operand) > 0;
      for (const auto& [name, value] : call->attributes) {
        const auto* scalar = std::get_if<spec::ValueName>(&value);
        reads |= scalar != nullptr && touched.count(scalar->name) > 0;
      }
      if (reads) touched.insert(call->results.begin(), call->results.end());
    } else if (any) {
      // Derivatives and assignments reach back through what stands before them.
      if (const auto* derivative = std::get_if<spec::Differentiate>(&step))
        touched.insert(derivative->results.begin(), derivative->results.end());
      else
        touched.insert(std::get<spec::Assign>(step).buffer);
    }
  }
  std::vector<bool> needs;
  for (const std::string& output : program.outputs) needs.push_back(touched.count(output) > 0);
  return needs;
}

}  // namespace etalon::conformance
