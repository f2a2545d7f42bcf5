#include "tests/adequacy/answers.hpp"

#include <algorithm>

#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/undecided.hpp"
#include "reference/host.hpp"
#include "spec/system/simplify.hpp"
#include "tests/adequacy/number_changes.hpp"

namespace etalon::adequacy {
namespace {

using Tensors = std::vector<HostTensor>;
using spec::System;

template <class T>
Tensors answered(const System& system, std::span<const HostTensor> inputs, std::span<const DType> types) {
  std::vector<reference::Array<T>> given;
  for (const HostTensor& t : inputs) given.push_back(reference::from_host<T>(t));
  const auto values = reference::evaluate<T>(system, given);
  Tensors all;
  for (std::size_t o = 0; o < values.size(); ++o) all.push_back(reference::to_host(values[o], types[o]));
  return all;
}

std::vector<DType> types_of(const System& system) {
  std::vector<DType> types;
  for (const spec::TensorId t : system.outputs) types.push_back(system[t].dtype);
  return types;
}

std::optional<Tensors> answer_as(const System& system, std::span<const HostTensor> inputs, Precision precision,
                                 std::span<const DType> types) {
  if (precision == Precision::quick) return answered<double>(system, inputs, types);
#define ETALON_TRY(Bits)                                              \
  try {                                                               \
    return answered<reference::Precise<Bits>>(system, inputs, types); \
  } catch (const reference::Undecided&) {                             \
  }
  ETALON_TRY(191)
  ETALON_TRY(511) ETALON_TRY(2047)
#undef ETALON_TRY
      return std::nullopt;
}

bool is_among(const std::vector<spec::TensorId>& list, spec::TensorId t) {
  return std::find(list.begin(), list.end(), t) != list.end();
}

// The system that reads a tensor from outside instead of computing it.
System given_from_outside(System system, spec::TensorId t) {
  std::erase_if(system.equations, [&](const spec::Equation& e) { return e.target == t; });
  if (!is_among(system.inputs, t)) system.inputs.push_back(t);
  return system;
}

// What the rest makes of this tensor; a result that is the tensor itself is what it is given.
std::optional<Tensors> after(const System& system, std::span<const HostTensor> inputs, Precision precision,
                             spec::TensorId t, const HostTensor& value) {
  const System rest = given_from_outside(system, t);
  Tensors given(inputs.begin(), inputs.end());
  given.push_back(value);
  return answer(rest, given, precision);
}

std::optional<HostTensor> value_of(System system, std::span<const HostTensor> inputs, Precision precision,
                                   spec::TensorId t) {
  system.outputs = {t};
  spec::remove_dead(system);  // what reads a tensor that is not given any more
  auto values = answer(system, inputs, precision);
  return values ? std::optional(values->front()) : std::nullopt;
}

std::optional<Tensors> with_numbers(const System& system, std::span<const HostTensor> inputs, Precision precision,
                                    spec::TensorId t, const NumberChange& change) {
  const auto input = std::find(system.inputs.begin(), system.inputs.end(), t);
  if (input != system.inputs.end()) {
    Tensors given(inputs.begin(), inputs.end());
    change(given[static_cast<std::size_t>(input - system.inputs.begin())]);
    return answer(system, given, precision);
  }
  auto value = value_of(system, inputs, precision, t);
  if (!value) return std::nullopt;
  const HostTensor before = *value;
  change(*value);
  if (*value == before) return answer(system, inputs, precision);
  return after(system, inputs, precision, t, *value);
}

std::optional<Tensors> rounded_twice(const System& system, std::span<const HostTensor> inputs, Precision precision,
                                     spec::TensorId t) {
  std::vector<DType> types = types_of(system);
  for (std::size_t o = 0; o < types.size(); ++o) {
    if (system.outputs[o] == t) types[o] = types[o] == DType::f32 ? DType::f64 : DType::f32;
  }
  auto values = answer_as(system, inputs, precision, types);
  for (std::size_t o = 0; values && o < types.size(); ++o) {
    if (system.outputs[o] != t) continue;
    HostTensor narrow(system[t].dtype, (*values)[o].dims);
    for (std::size_t i = 0; i < static_cast<std::size_t>(narrow.dims.count()); ++i)
      conformance::set_element(narrow, i, conformance::element((*values)[o], i));
    (*values)[o] = narrow;
  }
  return values;
}

// The terms of the sum as a tensor of their own, zero where the guard forbids them: the last axis runs over all of
// them.
std::optional<HostTensor> added_in(System system, std::span<const HostTensor> inputs, Precision precision,
                                   std::size_t equation, DType type) {
  const spec::Equation e = system.equations[equation];
  const spec::TensorInfo target = system[e.target];
  if (e.binders.size() + e.value->binders.size() > Dims::max_rank) return std::nullopt;
  for (std::size_t k = 0; k < e.place.size(); ++k) {
    if (k >= e.binders.size() || e.place[k].form() != spec::Form::variable ||
        e.place[k]->variable != e.binders[k].variable)
      return std::nullopt;
  }
  if (e.place.size() != e.binders.size()) return std::nullopt;
  std::vector<spec::Binder> binders = e.binders;
  binders.insert(binders.end(), e.value->binders.begin(), e.value->binders.end());
  Dims dims;
  for (const spec::Binder& b : binders) dims.push_back(b.extent);
  const spec::TensorId terms = system.add_tensor("terms of a sum", target.dtype, dims);
  spec::Equation term = e;
  term.target = terms;
  term.binders = binders;
  term.place = spec::variables(binders);
  const spec::Expr& guard = e.value->args[0];
  term.value =
      guard.form() == spec::Form::number ? e.value->args[1] : spec::select(guard, e.value->args[1], spec::decimal(0));
  system.equations[equation] = term;
  const auto values = value_of(system, inputs, precision, terms);
  if (!values) return std::nullopt;
  HostTensor sums(target.dtype, target.dims);
  const auto count = static_cast<std::size_t>(target.dims.count());
  const std::size_t each = count == 0 ? 0 : static_cast<std::size_t>(dims.count()) / count;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < each; ++k) sum = rounded_to(sum + conformance::element(*values, i * each + k), type);
    conformance::set_element(sums, i, sum);
  }
  return sums;
}

}  // namespace

std::optional<Tensors> answer(const System& system, std::span<const HostTensor> inputs, Precision precision) {
  return answer_as(system, inputs, precision, types_of(system));
}

std::optional<Tensors> answer(const System& system, std::span<const HostTensor> inputs, Precision precision,
                              const Change& change) {
  if (change.numbers) {
    const auto& [t, how] = *change.numbers;
    return how ? with_numbers(system, inputs, precision, t, how) : rounded_twice(system, inputs, precision, t);
  }
  if (!change.accumulate) return answer(applied(change, system), inputs, precision);
  const auto sums = added_in(system, inputs, precision, change.accumulate->first, change.accumulate->second);
  if (!sums) return std::nullopt;
  return after(system, inputs, precision, system.equations[change.accumulate->first].target, *sums);
}

}  // namespace etalon::adequacy
