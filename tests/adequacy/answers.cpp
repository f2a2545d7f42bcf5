#include "tests/adequacy/answers.hpp"

#include <algorithm>
#include <set>

#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/undecided.hpp"
#include "reference/host.hpp"
#include "spec/system/simplify.hpp"
#include "tests/adequacy/number_changes.hpp"
#include "tests/adequacy/sums.hpp"

namespace etalon::adequacy {
namespace {

using reference::Array;
using reference::Selection;
using spec::System;
using spec::TensorId;
using Tensors = Answers::Tensors;

std::size_t index(TensorId t) { return static_cast<std::size_t>(t); }

std::vector<DType> types_of(const System& system) {
  std::vector<DType> types;
  for (const TensorId t : system.outputs) types.push_back(system[t].dtype);
  return types;
}

void collect_reads(const spec::Expr& e, std::set<TensorId>& to) {
  spec::for_each(e, [&](const spec::Expr& sub) {
    if (sub.form() == spec::Form::read) to.insert(sub->tensor);
  });
}

std::set<TensorId> reads_of(const spec::Equation& e) {
  std::set<TensorId> reads;
  collect_reads(e.value, reads);
  for (const spec::Expr& p : e.place) collect_reads(p, reads);
  return reads;
}

// The tensors that are others where this one is: all that depends on it, in the order of the equations but for those
// of a recurrence.
std::set<TensorId> dependent(const System& system, TensorId from) {
  std::set<TensorId> all{from};
  for (std::size_t before = 0; before != all.size();) {
    before = all.size();
    for (const spec::Equation& e : system.equations) {
      const auto reads = reads_of(e);
      if (std::any_of(reads.begin(), reads.end(), [&](TensorId t) { return all.contains(t); })) all.insert(e.target);
    }
  }
  return all;
}

// The system that gives the dependent outputs alone and reads all that does not depend. A tensor that is given has no
// equation.
System only(System system, const std::set<TensorId>& tensors, TensorId given) {
  std::erase_if(system.equations,
                [&](const spec::Equation& e) { return e.target == given || !tensors.contains(e.target); });
  std::set<TensorId> read;
  for (const spec::Equation& e : system.equations) read.merge(reads_of(e));
  if (given >= 0) read.insert(given);
  std::erase_if(system.outputs, [&](TensorId t) { return !tensors.contains(t); });
  system.inputs.clear();
  for (const TensorId t : read) {
    if (t == given || !tensors.contains(t)) system.inputs.push_back(t);
  }
  return system;
}

template <class T>
Tensors rounded(const std::vector<Array<T>>& values, std::span<const DType> types, const Selection& asked) {
  Tensors all;
  for (std::size_t o = 0; o < values.size(); ++o) {
    all.emplace_back(types[o], values[o].dims);
    for (std::size_t i = 0; i < asked[o].size(); ++i) {
      if (asked[o][i]) reference::set_rounded(all.back(), values[o], i);
    }
  }
  return all;
}

template <class T>
Tensors partly(const System& system, std::span<const HostTensor> inputs, std::span<const DType> types,
               const Selection& asked) {
  std::vector<Array<T>> given;
  for (const HostTensor& t : inputs) given.push_back(reference::from_host<T>(t));
  const auto found = reference::evaluate_partly<T>(system, given, asked);
  for (std::size_t o = 0; o < asked.size(); ++o) {
    for (std::size_t i = 0; i < asked[o].size() && !found.open[o].empty(); ++i) {
      if (asked[o][i] && found.open[o][i]) throw reference::Undecided(found.question);
    }
  }
  return rounded(found.outputs, types, asked);
}

std::optional<Tensors> exactly(const System& system, std::span<const HostTensor> inputs, std::span<const DType> types,
                               const Selection& asked) {
#define ETALON_TRY(Bits)                                                    \
  try {                                                                     \
    return partly<reference::Precise<Bits>>(system, inputs, types, asked); \
  } catch (const reference::Undecided&) {                                   \
  }
  ETALON_TRY(191)
  ETALON_TRY(511) ETALON_TRY(2047)
#undef ETALON_TRY
      return std::nullopt;
}

std::optional<HostTensor> value_of(System system, std::span<const HostTensor> inputs, TensorId t) {
  system.outputs = {t};
  spec::remove_dead(system);
  auto values = exactly(system, inputs, types_of(system), reference::everything(system));
  return values ? std::optional(std::move(values->front())) : std::nullopt;
}

// What the rest makes of this tensor; a result that is the tensor itself is what it is given.
std::optional<Tensors> exactly_after(System system, std::span<const HostTensor> inputs, TensorId t,
                                     const HostTensor& value, const Selection& asked) {
  std::erase_if(system.equations, [&](const spec::Equation& e) { return e.target == t; });
  Tensors given(inputs.begin(), inputs.end());
  const auto input = std::find(system.inputs.begin(), system.inputs.end(), t);
  if (input == system.inputs.end()) {
    system.inputs.push_back(t);
    given.push_back(value);
  } else {
    given[static_cast<std::size_t>(input - system.inputs.begin())] = value;
  }
  return exactly(system, given, types_of(system), asked);
}

// The types of the outputs where this one is rounded to a wider type first.
std::vector<DType> wider(const System& system, TensorId t) {
  std::vector<DType> types = types_of(system);
  for (std::size_t o = 0; o < types.size(); ++o) {
    if (system.outputs[o] == t) types[o] = types[o] == DType::f32 ? DType::f64 : DType::f32;
  }
  return types;
}

void narrow(Tensors& values, const System& system) {
  for (std::size_t o = 0; o < values.size(); ++o) {
    const DType type = system[system.outputs[o]].dtype;
    if (values[o].dtype != type) values[o] = reference::to_host(reference::from_host<double>(values[o]), type);
  }
}

}  // namespace

const Answers::Values& Answers::values() {
  if (!values_) {
    Values given;
    for (const HostTensor& t : inputs_) given.push_back(reference::from_host<double>(t));
    values_ = reference::evaluate_all<double>(system_, given);
  }
  return *values_;
}

const Tensors& Answers::sound() {
  if (!sound_) {
    sound_.emplace();
    for (const TensorId t : system_.outputs) sound_->push_back(reference::to_host(values()[index(t)], system_[t].dtype));
  }
  return *sound_;
}

// The equations of `changed` are others than the system's for the tensor `from` and what depends on it, or its value is
// given.
std::optional<Tensors> Answers::behind(System changed, TensorId from, const HostTensor* given) {
  const System rest = only(std::move(changed), dependent(system_, from), given != nullptr ? from : -1);
  Values inputs;
  for (const TensorId t : rest.inputs)
    inputs.push_back(given != nullptr && t == from ? reference::from_host<double>(*given) : values()[index(t)]);
  const Values found = reference::evaluate<double>(rest, inputs);
  Tensors all = sound();
  for (std::size_t o = 0, next = 0; o < all.size() && next < found.size(); ++o) {
    if (system_.outputs[o] == rest.outputs[next]) all[o] = reference::to_host(found[next++], all[o].dtype);
  }
  return all == sound() ? std::nullopt : std::optional(std::move(all));
}

std::optional<Tensors> Answers::numbers_changed(TensorId t, const NumberChange& change) {
  const HostTensor before = reference::to_host(values()[index(t)], system_[t].dtype);
  HostTensor after = before;
  change(after);
  if (after == before) return std::nullopt;
  return behind(system_, t, &after);
}

std::optional<Tensors> Answers::quick(const Change& change) {
  if (change.numbers) {
    const auto& [t, how] = *change.numbers;
    if (how) return numbers_changed(t, how);
    const std::vector<DType> types = wider(system_, t);
    Tensors all;
    for (std::size_t o = 0; o < types.size(); ++o)
      all.push_back(reference::to_host(values()[index(system_.outputs[o])], types[o]));
    narrow(all, system_);
    return all == sound() ? std::nullopt : std::optional(std::move(all));
  }
  if (change.accumulate) {
    const auto& [equation, type] = *change.accumulate;
    const auto terms = terms_of_sum(system_, equation);
    if (!terms) return std::nullopt;
    System one = only(terms->system, {terms->tensor}, -1);
    one.outputs = {terms->tensor};
    Values inputs;
    for (const TensorId t : one.inputs) inputs.push_back(values()[index(t)]);
    const auto found = reference::evaluate<double>(one, inputs);
    const HostTensor sums =
        added_in(reference::to_host(found.front(), one[terms->tensor].dtype), system_[terms->target].dims, type);
    return behind(system_, terms->target, &sums);
  }
  if (change.equation) return behind(applied(change, system_), system_.equations[change.equation->first].target, nullptr);
  Answers other(*change.system, inputs_);
  return other.sound() == sound() ? std::nullopt : std::optional(other.sound());
}

std::optional<Tensors> Answers::exact(const Change& change, const Selection& asked) const {
  if (change.numbers && !change.numbers->second) {
    auto values = exactly(system_, inputs_, wider(system_, change.numbers->first), asked);
    if (values) narrow(*values, system_);
    return values;
  }
  if (change.numbers) {
    const auto& [t, how] = *change.numbers;
    auto value = value_of(system_, inputs_, t);
    if (!value) return std::nullopt;
    how(*value);
    return exactly_after(system_, inputs_, t, *value, asked);
  }
  if (change.accumulate) {
    const auto& [equation, type] = *change.accumulate;
    const auto terms = terms_of_sum(system_, equation);
    if (!terms) return std::nullopt;
    const auto values = value_of(terms->system, inputs_, terms->tensor);
    if (!values) return std::nullopt;
    const HostTensor sums = added_in(*values, system_[terms->target].dims, type);
    return exactly_after(system_, inputs_, terms->target, sums, asked);
  }
  const System mutated = applied(change, system_);
  return exactly(mutated, inputs_, types_of(mutated), asked);
}

}  // namespace etalon::adequacy
