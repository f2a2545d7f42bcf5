/// \file
/// The evaluator of equations, instantiated once per number type by evaluate_*.cpp and included by nothing else.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "reference/evaluate.hpp"
#include "reference/exact/undecided.hpp"
#include "reference/expressions.hpp"
#include "reference/place.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::reference {

template <class T>
class Evaluator : Expressions<T, Evaluator<T>> {
  using Base = Expressions<T, Evaluator<T>>;
  friend Base;
  using Base::boolean, Base::flat_, Base::go_on, Base::index, Base::integer, Base::offset, Base::real, Base::slots_, Base::system_, Base::values_;
  enum class Standing : std::uint8_t { missing, known, open };

 public:
  Evaluator(const spec::System& system, std::span<const Array<T>> inputs)
      : Base(system), recurrences_(spec::recurrences(system)) {
    standing_.resize(system.tensors.size());
    place_inputs(inputs);
  }

  /// Every element of every tensor, in the order of the equations.
  void run() {
    auto next = recurrences_.begin();
    for (std::size_t i = 0; i < flat_.equations.size();) {
      if (next != recurrences_.end() && next->equations.front().equation == i) {
        run_recurrence(*next);
        i += next++->equations.size();
      } else {
        allocate(flat_.equations[i].target);
        run_loops(flat_.equations[i++], 0, none);
      }
    }
    for (std::size_t t = 0; t < values_.size(); ++t) allocate(static_cast<spec::TensorId>(t));
  }

  /// The elements of the outputs that are asked for, and what they need.
  void run_for(const Selection& asked) {
    begin_on_demand();
    for (std::size_t o = 0; o < asked.size(); ++o) {
      for (std::size_t i = 0; i < asked[o].size(); ++i) {
        if (asked[o][i]) find(system_.outputs[o], i);
      }
    }
  }

  [[nodiscard]] std::vector<Array<T>> values() && { return std::move(values_); }

  /// The elements that stayed open; empty where there are none.
  [[nodiscard]] std::vector<bool> open(spec::TensorId tensor) const {
    const std::vector<Standing>& standing = standing_[index(tensor)];
    std::vector<bool> result;
    if (std::find(standing.begin(), standing.end(), Standing::open) == standing.end()) return result;
    for (const Standing s : standing) result.push_back(s == Standing::open);
    return result;
  }

  /// What the first of them hangs on; empty where there are none.
  [[nodiscard]] const std::string& question() const { return question_; }

 private:
  static std::size_t count(const Dims& d) { return static_cast<std::size_t>(d.count()); }

  void place_inputs(std::span<const Array<T>> inputs) {
    if (inputs.size() != system_.inputs.size()) {
      throw SpecViolation("evaluate: " + std::to_string(system_.inputs.size()) + " inputs expected, " +
                          std::to_string(inputs.size()) + " given");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const spec::TensorInfo& info = system_[system_.inputs[i]];
      if (inputs[i].kind != kind_of(info.dtype) || inputs[i].dims != info.dims) {
        throw SpecViolation("evaluate: " + info.name + " is " + std::string(name_of(info.dtype)) +
                            to_string(info.dims) + ", given " + to_string(inputs[i].dims) +
                            (inputs[i].kind == kind_of(info.dtype) ? "" : " of another kind"));
      }
      check_range(info, inputs[i]);
      values_[index(system_.inputs[i])] = inputs[i];
    }
  }

  static void check_range(const spec::TensorInfo& info, const Array<T>& value) {
    if (!info.range) return;
    for (const std::int64_t v : value.integer) {
      if (v < info.range->first || v > info.range->second) {
        throw SpecViolation("evaluate: " + info.name + " is " + std::to_string(v) + ", promised in " +
                            std::to_string(info.range->first) + ".." + std::to_string(info.range->second));
      }
    }
  }

  // --- equations ---

  void allocate(spec::TensorId tensor) {
    Array<T>& target = values_[index(tensor)];
    const spec::TensorInfo& info = system_[tensor];
    if (target.size() == count(info.dims) && target.dims == info.dims) return;
    target = Array<T>(kind_of(info.dtype), info.dims);
  }

  void run_recurrence(const spec::Recurrence& r) {
    for (const auto& e : r.equations) {
      allocate(flat_.equations[e.equation].target);
      standing_[index(flat_.equations[e.equation].target)].clear();
    }
    for (std::int64_t n = 0; n < r.steps; ++n) {
      for (const auto& e : r.equations) {
        const FlatEquation& equation = flat_.equations[e.equation];
        const auto step = static_cast<std::int32_t>(e.binder);
        slots_[index(flat_.loops[index(equation.loops.first + step)].slot)] = r.backwards ? r.steps - 1 - n : n;
        run_loops(equation, 0, step);
      }
    }
  }

  static constexpr std::int32_t none = -1;

  /// The loops of an equation, except the one whose variable has its value already.
  void run_loops(const FlatEquation& e, std::int32_t depth, std::int32_t given) {
    if (depth == e.loops.count) return write(e);
    if (depth == given) return run_loops(e, depth + 1, given);
    const Loop& loop = flat_.loops[index(e.loops.first + depth)];
    for (std::int64_t i = 0; i < loop.extent; ++i) {
      slots_[index(loop.slot)] = i;
      run_loops(e, depth + 1, given);
    }
  }

  void write(const FlatEquation& e) {
    go_on();
    const std::size_t element = offset(system_[e.target], e.place);
    Standing standing = Standing::known;
    try {
      write_value(e, element);
    } catch (Undecided& question) {
      standing = Standing::open;
      const spec::TensorInfo& info = system_[e.target];
      question.of(info.name + to_string(indices_of(info.dims, element)));
      if (question_.empty()) question_ = question.what();
    }
    std::vector<Standing>& all = standing_[index(e.target)];
    if (all.empty() && standing == Standing::open) all.assign(count(system_[e.target].dims), Standing::known);
    if (!all.empty()) all[element] = standing;
  }

  void write_value(const FlatEquation& e, std::size_t at_element) {
    Array<T>& target = values_[index(e.target)];
    const Kind kind = target.kind;
    if (kind == Kind::real) {
      target.real[at_element] = real(e.value);
    } else if (kind == Kind::boolean) {
      target.integer[at_element] = boolean(e.value) ? 1 : 0;
    } else {
      const std::int64_t v = integer(e.value);
      target.integer[at_element] = system_[e.target].dtype == DType::i32 ? static_cast<std::int32_t>(v) : v;
    }
  }

  // --- elements on demand ---

  void begin_on_demand() {
    writers_.resize(values_.size());
    for (const FlatEquation& e : flat_.equations) {
      writers_[index(e.target)].push_back(&e);
      allocate(e.target);
      standing_[index(e.target)].assign(count(system_[e.target].dims), Standing::missing);
    }
    recurrence_of_.resize(values_.size());
    for (const spec::Recurrence& r : recurrences_) {
      for (const auto& e : r.equations) recurrence_of_[index(flat_.equations[e.equation].target)] = &r;
    }
  }

  /// Evaluates the element unless that was done.
  void find(spec::TensorId tensor, std::size_t element) {
    std::vector<Standing>& standing = standing_[index(tensor)];
    if (standing.empty() || standing[element] != Standing::missing) return;
    const std::vector<std::int64_t> outer = slots_;  // equations may share variables
    if (const spec::Recurrence* r = recurrence_of_[index(tensor)]) {
      run_recurrence(*r);
    } else {
      for (const FlatEquation* e : writers_[index(tensor)]) {
        const std::optional<bool> gives = solve_place(flat_, *e, system_[tensor].dims, element, slots_);
        if (!gives) run_loops(*e, 0, none);
        else if (*gives) write(*e);
      }
      if (standing[element] == Standing::missing) standing[element] = Standing::known;  // given by none, so zero
    }
    slots_ = outer;
  }

  /// Makes sure that the element can be read. \throws Undecided
  void need(spec::TensorId tensor, std::size_t element) {
    if (standing_[index(tensor)].empty()) return;
    find(tensor, element);
    const std::vector<Standing>& standing = standing_[index(tensor)];
    if (!standing.empty() && standing[element] == Standing::open) throw Undecided("an operand");
  }

  std::vector<spec::Recurrence> recurrences_;
  std::vector<std::vector<Standing>> standing_;  ///< by tensor; where it is empty all of the tensor is known
  std::vector<std::vector<const FlatEquation*>> writers_;
  std::vector<const spec::Recurrence*> recurrence_of_;
  std::string question_;
};

template <class T>
std::vector<Array<T>> evaluate_all(const spec::System& system, std::span<const Array<T>> inputs) {
  Evaluator<T> evaluator(system, inputs);
  evaluator.run();
  if (!evaluator.question().empty()) throw Undecided(evaluator.question());
  return std::move(evaluator).values();
}

template <class T>
Partial<T> evaluate_partly(const spec::System& system, std::span<const Array<T>> inputs, const Selection& asked) {
  Evaluator<T> evaluator(system, inputs);
  if (all_of(asked)) evaluator.run();
  else evaluator.run_for(asked);
  Partial<T> result;
  result.question = evaluator.question();
  for (const spec::TensorId t : system.outputs) result.open.push_back(evaluator.open(t));
  const std::vector<Array<T>> all = std::move(evaluator).values();
  for (const spec::TensorId t : system.outputs) result.outputs.push_back(all[static_cast<std::size_t>(t)]);
  return result;
}

template <class T>
std::vector<Array<T>> evaluate(const spec::System& system, std::span<const Array<T>> inputs) {
  Partial<T> found = evaluate_partly<T>(system, inputs, everything(system));
  for (const std::vector<bool>& open : found.open) {
    if (!open.empty()) throw Undecided(found.question);
  }
  return std::move(found.outputs);
}

}  // namespace etalon::reference

/// Instantiates the evaluation over T and over its dual numbers.
#define ETALON_EVALUATE_OVER(T)                                                                        \
  template std::vector<Array<T>> evaluate(const spec::System&, std::span<const Array<T>>);             \
  template std::vector<Array<T>> evaluate_all(const spec::System&, std::span<const Array<T>>);         \
  template Partial<T> evaluate_partly(const spec::System&, std::span<const Array<T>>, const Selection&);
#define ETALON_EVALUATE(T) ETALON_EVALUATE_OVER(T) ETALON_EVALUATE_OVER(Dual<T>)
