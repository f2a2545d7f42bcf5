#include "tests/adequacy/answers.hpp"

#include <algorithm>
#include <cmath>

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

std::vector<DType> types_of(const System& system, Stored stored = Stored::as_typed) {
  std::vector<DType> types;
  for (const TensorId t : system.outputs) {
    const DType own = system[t].dtype;
    types.push_back(stored == Stored::binary64 && kind_of(own) == Kind::real ? DType::f64 : own);
  }
  return types;
}

std::vector<TensorId> reads_of(const spec::Equation& e) {
  std::vector<TensorId> reads;
  const auto collect = [&](const spec::Expr& sub) {
    if (sub.form() == spec::Form::read && std::find(reads.begin(), reads.end(), sub->tensor) == reads.end())
      reads.push_back(sub->tensor);
  };
  spec::for_each(e.value, collect);
  for (const spec::Expr& p : e.place) spec::for_each(p, collect);
  return reads;
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
#define ETALON_TRY(Bits)                                                   \
  try {                                                                    \
    return partly<reference::Precise<Bits>>(system, inputs, types, asked); \
  } catch (const reference::Undecided&) {                                  \
  }
  ETALON_TRY(191)
  ETALON_TRY(511)
  ETALON_TRY(2047)
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
                                     const HostTensor& value, const Selection& asked, Stored stored) {
  std::erase_if(system.equations, [&](const spec::Equation& e) { return e.target == t; });
  Tensors given(inputs.begin(), inputs.end());
  const auto input = std::find(system.inputs.begin(), system.inputs.end(), t);
  if (input == system.inputs.end()) {
    system.inputs.push_back(t);
    given.push_back(value);
  } else {
    given[static_cast<std::size_t>(input - system.inputs.begin())] = value;
  }
  return exactly(system, given, types_of(system, stored), asked);
}

bool is_same(const Array<double>& a, const Array<double>& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.integer == b.integer && std::equal(a.real.begin(), a.real.end(), b.real.begin(), b.real.end(), same);
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

Answers::Answers(const System& system, Tensors inputs) : system_(system), inputs_(std::move(inputs)) {
  nameless_.tensors = system.tensors;
  nameless_.next_variable = system.next_variable;
  for (spec::TensorInfo& t : nameless_.tensors) t.name.clear();
  for (const spec::Equation& e : system.equations) reads_.push_back(reads_of(e));
}

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
    for (const TensorId t : system_.outputs)
      sound_->push_back(reference::to_host(values()[index(t)], system_[t].dtype));
  }
  return *sound_;
}

// The tensors that are others where this one is: all that depends on it.
const std::vector<bool>& Answers::dependent(TensorId from) {
  const auto [found, added] = dependent_.try_emplace(from, system_.tensors.size(), false);
  if (!added) return found->second;
  std::vector<bool>& all = found->second;
  all[index(from)] = true;
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t e = 0; e < reads_.size(); ++e) {
      const TensorId target = system_.equations[e].target;
      if (all[index(target)]) continue;
      grows |= all[index(target)] =
          std::any_of(reads_[e].begin(), reads_[e].end(), [&](TensorId t) { return all[index(t)]; });
    }
  }
  return all;
}

bool Answers::is_needed(TensorId tensor, std::size_t first_output) {
  const std::vector<bool>& changes = dependent(tensor);
  const auto empty = [&](TensorId t) { return system_[t].dims.count() == 0; };
  return !empty(tensor) &&
         std::any_of(system_.outputs.begin() + static_cast<std::ptrdiff_t>(first_output), system_.outputs.end(),
                     [&](TensorId t) { return changes[index(t)] && !empty(t); });
}

// The equations of the tensor `from` and of what depends on it are evaluated, or it has a value and no equation.
std::optional<Tensors> Answers::behind(const std::vector<spec::Equation>& equations, TensorId from,
                                       const HostTensor* given) {
  const std::vector<bool>& changes = dependent(from);
  System rest = nameless_;
  std::vector<bool> read(system_.tensors.size(), false);
  for (const spec::Equation& e : equations) {
    if (!changes[index(e.target)] || (given != nullptr && e.target == from)) continue;
    rest.equations.push_back(e);
    for (const TensorId t : reads_of(e)) read[index(t)] = true;
  }
  if (given != nullptr) read[index(from)] = true;
  Values inputs;
  for (std::size_t t = 0; t < read.size(); ++t) {
    const auto id = static_cast<TensorId>(t);
    const bool is_given = given != nullptr && id == from;
    if (!read[t] || (changes[t] && !is_given)) continue;
    rest.inputs.push_back(id);
    inputs.push_back(is_given ? reference::from_host<double>(*given) : values()[t]);
  }
  for (const TensorId t : system_.outputs) {
    if (changes[index(t)]) rest.outputs.push_back(t);
  }
  if (given == nullptr) rest.outputs.push_back(from);
  const Values found = reference::evaluate<double>(rest, inputs);
  if (given == nullptr && is_same(found.back(), values()[index(from)])) return std::nullopt;
  Tensors all = sound();
  for (std::size_t o = 0, next = 0; o < all.size(); ++o) {
    if (changes[index(system_.outputs[o])]) all[o] = reference::to_host(found[next++], all[o].dtype);
  }
  return all;
}

std::optional<Tensors> Answers::numbers_changed(TensorId t, const NumberChange& change) {
  const HostTensor before = reference::to_host(values()[index(t)], system_[t].dtype);
  HostTensor after = before;
  if (change) {
    change(after);
    return after == before ? std::nullopt : behind(system_.equations, t, &after);
  }
  const std::vector<DType> types = wider(system_, t);
  Tensors all;
  for (std::size_t o = 0; o < types.size(); ++o)
    all.push_back(reference::to_host(values()[index(system_.outputs[o])], types[o]));
  narrow(all, system_);
  return all;
}

std::optional<Tensors> Answers::sum_changed(std::size_t equation, DType type) {
  const auto terms = terms_of_sum(system_, equation);
  if (!terms) return std::nullopt;
  System one = terms->system;
  one.equations = {one.equations[equation]};
  one.outputs = {terms->tensor};
  one.inputs = reads_[equation];
  Values inputs;
  for (const TensorId t : one.inputs) inputs.push_back(values()[index(t)]);
  const auto found = reference::evaluate<double>(one, inputs);
  const HostTensor sums =
      added_in(reference::to_host(found.front(), one[terms->tensor].dtype), system_[terms->target].dims, type);
  return behind(system_.equations, terms->target, &sums);
}

std::optional<Tensors> Answers::quick(const Change& change) {
  if (change.numbers) return numbers_changed(change.numbers->first, change.numbers->second);
  if (change.accumulate) return sum_changed(change.accumulate->first, change.accumulate->second);
  if (change.equation) {
    std::vector<spec::Equation> equations = system_.equations;
    equations[change.equation->first].value = change.equation->second;
    return behind(equations, equations[change.equation->first].target, nullptr);
  }
  if (!change.system) return std::nullopt;
  Answers other(*change.system, inputs_);
  return other.sound();
}

std::optional<Tensors> Answers::exact(const Change& change, const Selection& asked, Stored stored) const {
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
    return exactly_after(system_, inputs_, t, *value, asked, stored);
  }
  if (change.accumulate) {
    const auto& [equation, type] = *change.accumulate;
    const auto terms = terms_of_sum(system_, equation);
    if (!terms) return std::nullopt;
    const auto values = value_of(terms->system, inputs_, terms->tensor);
    if (!values) return std::nullopt;
    const HostTensor sums = added_in(*values, system_[terms->target].dims, type);
    return exactly_after(system_, inputs_, terms->target, sums, asked, stored);
  }
  const System mutated = applied(change, system_);
  return exactly(mutated, inputs_, types_of(mutated, stored), asked);
}

}  // namespace etalon::adequacy
