#include "tools/log/segment.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "spec/system/ranges.hpp"
#include "spec/system/recurrence.hpp"
#include "spec/system/simplify.hpp"
#include "spec/system/splice.hpp"

namespace etalon::logging {

using spec::Equation;
using spec::Expr;
using spec::System;
using spec::TensorId;

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

/// What is the same for all segments of a system.
class Cutting {
 public:
  Cutting(const System& system, const std::vector<bool>& held)
      : system_(system), held_(held), is_input_(system.tensors.size()), recurrence_(system.tensors.size(), none),
        writers_(system.tensors.size()), ranges_(spec::value_ranges(system)) {
    for (const TensorId t : system.inputs) is_input_[at(t)] = true;
    for (std::size_t i = 0; i < system.equations.size(); ++i) writers_[at(system.equations[i].target)].push_back(i);
    const auto groups = spec::recurrent_groups(system);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t i : groups[g]) recurrence_[at(system.equations[i].target)] = g;
    }
  }

  std::vector<Segment> run() {
    std::vector<Segment> all;
    std::vector<bool> done(system_.tensors.size());
    // A tensor is complete at its last equation, and its recurrence at the last of any.
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      const TensorId t = system_.equations[i].target;
      if (!held_[at(t)] || done[at(t)]) continue;
      const std::vector<TensorId> together = with_recurrence(t);
      const auto complete = std::all_of(together.begin(), together.end(), [&](TensorId x) { return writers_[at(x)].back() <= i; });
      if (!complete) continue;
      for (const TensorId x : together) done[at(x)] = true;
      all.push_back(segment(together));
    }
    return all;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// The held tensors of its recurrence, in the order of their equations; itself alone where it has none.
  [[nodiscard]] std::vector<TensorId> with_recurrence(TensorId t) const {
    if (recurrence_[at(t)] == none) return {t};
    std::vector<TensorId> together;
    for (const Equation& e : system_.equations) {
      const bool joins = held_[at(e.target)] && recurrence_[at(e.target)] == recurrence_[at(t)];
      if (joins && std::find(together.begin(), together.end(), e.target) == together.end()) together.push_back(e.target);
    }
    return together;
  }

  [[nodiscard]] Segment segment(const std::vector<TensorId>& targets) const {
    Segment result;
    result.targets = targets;
    std::unordered_set<TensorId> known(targets.begin(), targets.end());
    std::vector<TensorId> open = targets;
    std::vector<std::size_t> equations;
    const auto meet = [&](const Expr& e) {
      if (e.form() != spec::Form::read || !known.insert(e->tensor).second) return;
      if (is_input_[at(e->tensor)] || held_[at(e->tensor)]) result.sources.push_back(e->tensor);
      else open.push_back(e->tensor);
    };
    while (!open.empty()) {
      const TensorId t = open.back();
      open.pop_back();
      for (const std::size_t i : writers_[at(t)]) {
        equations.push_back(i);
        spec::for_each(system_.equations[i].value, meet);
        for (const Expr& p : system_.equations[i].place) spec::for_each(p, meet);
      }
    }
    std::sort(equations.begin(), equations.end());
    std::sort(result.sources.begin(), result.sources.end());
    result.system = spliced(result, equations);
    result.equations = std::move(equations);
    return result;
  }

  [[nodiscard]] System spliced(const Segment& segment, const std::vector<std::size_t>& equations) const {
    System part;
    System whole;
    std::vector<TensorId> place(system_.tensors.size(), -1);
    const auto add = [&](TensorId t) {
      if (place[at(t)] < 0) {
        place[at(t)] = whole.add_tensor(system_[t].name, system_[t].dtype, system_[t].dims);
        whole.tensors.back().range = system_[t].range;
      }
      return place[at(t)];
    };
    for (const TensorId t : segment.sources) {
      whole.inputs.push_back(add(t));
      promise(whole.tensors.back(), ranges_[at(t)]);
    }
    for (const TensorId t : segment.targets) whole.outputs.push_back(add(t));
    for (const std::size_t i : equations) {
      (void)add(system_.equations[i].target);
      part.equations.push_back(system_.equations[i]);
      part.equations.back().origin = -1;
    }
    part.next_variable = system_.next_variable;
    (void)spec::splice(whole, part, std::move(place));
    return whole;
  }

  /// What its equations promise of an integer must be said where they are cut off.
  static void promise(spec::TensorInfo& info, const spec::Interval& range) {
    if (kind_of(info.dtype) != Kind::integer || info.range) return;
    if (range.low <= -spec::Interval::unbounded || range.high >= spec::Interval::unbounded) return;
    info.range = {range.low, range.high};
  }

  const System& system_;
  const std::vector<bool>& held_;
  std::vector<bool> is_input_;
  std::vector<std::size_t> recurrence_;  ///< per tensor, the number of its recurrence
  std::vector<std::vector<std::size_t>> writers_;
  std::vector<spec::Interval> ranges_;
};

double evaluations_of(const Expr& e) {
  double inside = 1;
  for (const Expr& a : e->args) inside += evaluations_of(a);
  for (const spec::Binder& b : e->binders) inside *= static_cast<double>(b.extent);
  return inside;
}

}  // namespace

std::vector<Segment> segments(const System& system, const std::vector<bool>& held) { return Cutting(system, held).run(); }

System with_shared_reductions(System system) {
  spec::name_reductions(system);
  spec::order_equations(system);
  return system;
}

double evaluations(const System& system) {
  double all = 0;
  for (const Equation& e : system.equations) {
    double one = evaluations_of(e.value);
    for (const spec::Binder& b : e.binders) one *= static_cast<double>(b.extent);
    all += one;
  }
  return all;
}

}  // namespace etalon::logging
