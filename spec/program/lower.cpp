#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spec/derivative/derivative.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/join.hpp"
#include "spec/program/wishes.hpp"

namespace etalon::spec {
namespace {

/// The system so far, and the tensor of every value of the program.
class Lowering {
 public:
  explicit Lowering(Program program) : program_(std::move(program)), analysis_(analyse(program_)) {}

  /// \param steps if any, filled with the step of each equation.
  System run(std::vector<std::size_t>* steps = nullptr) {
    for (const auto& [value, type] : analysis_.types) taken_.insert(value);
    for (const Input& input : program_.inputs) {
      const TensorId id = system_.add_tensor(input.name, input.dtype, input.dims);
      system_.tensors.back().range = input.range;
      system_.inputs.push_back(id);
      inputs_.insert(id);
      tensor_.emplace(input.name, id);
    }
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      if (const auto* call = std::get_if<Call>(&program_.steps[i])) append(*call, *analysis_.instances[i]);
      else if (const auto* assign = std::get_if<Assign>(&program_.steps[i])) append(*assign, i);
      else append(std::get<Differentiate>(program_.steps[i]));
      if (steps != nullptr) note(i);
    }
    for (const std::string& output : program_.outputs) system_.outputs.push_back(tensor_.at(output));
    outputs_.insert(system_.outputs.begin(), system_.outputs.end());
    for (const Update& update : all_updates(program_)) append_update(update);
    if (steps != nullptr) {
      step_of_.resize(system_.tensors.size(), program_.steps.size());
      steps->clear();
      for (const Equation& e : system_.equations) steps->push_back(step_of_[static_cast<std::size_t>(e.target)]);
    }
    for (const Wish& wish : program_.wishes) append_wish(wish);
    return std::move(system_);
  }

 private:
  /// Tensors that are new belong to this step, except those that stand before what was there already: a derivative has
  /// named parts of the equation that follows them.
  void note(std::size_t step) {
    const bool only_appends = !std::holds_alternative<Differentiate>(program_.steps[step]);
    const std::size_t first = only_appends ? noted_equations_ : 0;
    step_of_.resize(system_.tensors.size(), step);
    std::size_t behind = step;
    for (std::size_t i = system_.equations.size(); i-- > first;) {
      const auto t = static_cast<std::size_t>(system_.equations[i].target);
      if (t < noted_tensors_) behind = step_of_[t];
      else step_of_[t] = behind;
    }
    noted_tensors_ = system_.tensors.size();
    noted_equations_ = system_.equations.size();
  }

  void append(const Call& call, const Instance& instance) {
    std::vector<TensorId> inputs;
    for (const auto& operand : call.operands) {
      if (operand) inputs.push_back(tensor_.at(*operand));
    }
    for (const std::string& attribute : runtime_attributes(call))
      inputs.push_back(tensor_.at(std::get<ValueName>(call.attributes.at(attribute)).name));
    const std::vector<TensorId> results = join(system_, instance.system, inputs, call.results, call.source, taken_);
    for (std::size_t i = 0; i < results.size(); ++i) tensor_.emplace(call.results[i], results[i]);
  }

  /// What the buffer holds from here on is a new tensor.
  void append(const Assign& step, std::size_t position) {
    std::vector<TensorId> inputs;
    for (const std::string& name : analysis_.reads[position]) {
      const auto found = tensor_.find(name);
      inputs.push_back(found != tensor_.end() ? found->second : TensorId{0});  // an unwritten buffer is never read
    }
    const bool first = tensor_.count(step.buffer) == 0;
    const std::string name = first ? step.buffer : taken_.take(step.buffer, ".");
    tensor_[step.buffer] = join(system_, analysis_.instances[position]->system, inputs, {&name, 1}, step.source, taken_)[0];
  }

  void append(const Differentiate& step) {
    const bool reverse = step.mode == Differentiate::Mode::vjp;
    const std::int32_t origin = add_origin(step);
    const std::vector<TensorId> of = tensors(step.of);
    const std::vector<TensorId> wrt = tensors(step.wrt);
    const std::vector<TensorId> seeds = seed_tensors(step, reverse ? of : wrt, origin);
    const std::size_t before = system_.tensors.size();
    const std::vector<TensorId> found = reverse ? cotangents(of, seeds, wrt) : tangents(of, wrt, seeds, origin);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool fresh = static_cast<std::size_t>(found[i]) >= before && named_.count(found[i]) == 0;
      const TensorId id = fresh ? found[i] : append_copy(system_, found[i], step.results[i], origin);
      system_.tensors[static_cast<std::size_t>(id)].name = step.results[i];
      named_.insert(id);
      tensor_.emplace(step.results[i], id);
    }
    name_locals(before);
  }

  /// Positions of `wrt` that one derivative may treat as independent together: all inputs; each intermediate value
  /// alone, so that it does not hide the paths of the others through it.
  [[nodiscard]] std::vector<std::vector<std::size_t>> independent_groups(const std::vector<TensorId>& wrt) const {
    std::vector<std::size_t> inputs;
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      if (inputs_.contains(wrt[i])) inputs.push_back(i);
      else groups.push_back({i});
    }
    if (!inputs.empty()) groups.insert(groups.begin(), inputs);
    return groups;
  }

  [[nodiscard]] static std::vector<TensorId> picked(const std::vector<TensorId>& from, const std::vector<std::size_t>& positions) {
    std::vector<TensorId> result;
    for (const std::size_t i : positions) result.push_back(from[i]);
    return result;
  }

  [[nodiscard]] std::vector<TensorId> cotangents(const std::vector<TensorId>& of, const std::vector<TensorId>& seeds,
                                                 const std::vector<TensorId>& wrt) {
    std::vector<TensorId> result(wrt.size(), -1);
    for (const auto& group : independent_groups(wrt)) {
      const std::vector<TensorId> found = append_vjp(system_, of, seeds, picked(wrt, group));
      for (std::size_t k = 0; k < group.size(); ++k) result[group[k]] = found[k];
    }
    return result;
  }

  [[nodiscard]] std::vector<TensorId> tangents(const std::vector<TensorId>& of, const std::vector<TensorId>& wrt,
                                               const std::vector<TensorId>& seeds, std::int32_t origin) {
    std::vector<TensorId> result;
    for (const auto& group : independent_groups(wrt)) {
      const std::vector<TensorId> found = append_jvp(system_, of, picked(wrt, group), picked(seeds, group));
      if (result.empty()) {
        result = found;
        continue;
      }
      for (std::size_t k = 0; k < found.size(); ++k) result[k] = append_sum(result[k], found[k], origin);
    }
    return result;
  }

  [[nodiscard]] TensorId append_sum(TensorId a, TensorId b, std::int32_t origin) {
    const TensorId sum = system_.add_tensor(system_[a].name, system_[a].dtype, system_[a].dims);
    std::vector<Binder> binders = system_.bind_all(sum);
    Expr value = system_.at(a, variables(binders)) + system_.at(b, variables(binders));
    system_.define(sum, std::move(binders), std::move(value), origin);
    return sum;
  }

  [[nodiscard]] std::int32_t add_origin(const Differentiate& step) {
    system_.origins.push_back({step.mode == Differentiate::Mode::vjp ? "vjp" : "jvp", summary(step), step.source.file,
                               step.source.line, step.source.section});
    return static_cast<std::int32_t>(system_.origins.size() - 1);
  }

  [[nodiscard]] std::vector<TensorId> tensors(const std::vector<std::string>& names) const {
    std::vector<TensorId> ids;
    for (const std::string& name : names) ids.push_back(tensor_.at(name));
    return ids;
  }

  /// The given seeds, and the constant 1 where a lone scalar has none.
  [[nodiscard]] std::vector<TensorId> seed_tensors(const Differentiate& step, const std::vector<TensorId>& seeded,
                                                   std::int32_t origin) {
    std::vector<TensorId> ids;
    for (std::size_t i = 0; i < seeded.size(); ++i) {
      if (!step.seeds.empty() && step.seeds[i]) {
        ids.push_back(tensor_.at(*step.seeds[i]));
        continue;
      }
      const TensorId one = system_.add_tensor(taken_.take(step.results[0] + ".seed", "."), system_[seeded[i]].dtype, {});
      system_.define(one, {}, decimal(1), origin);
      ids.push_back(one);
    }
    return ids;
  }

  /// Tensors of a derivative give way to the names that the program uses.
  void name_locals(std::size_t before) {
    for (std::size_t i = before; i < system_.tensors.size(); ++i) {
      if (named_.count(static_cast<TensorId>(i)) == 0)
        system_.tensors[i].name = taken_.take(system_.tensors[i].name, ".");
    }
  }

  /// Outputs are distinct tensors, also where a value is an output and an update, or updates two parameters.
  void append_update(const Update& update) {
    TensorId id = tensor_.at(update.value);
    if (outputs_.contains(id)) id = append_copy(system_, id, taken_.take(update.parameter + ".next", "."));
    system_.outputs.push_back(id);
    outputs_.insert(id);
  }

  /// Of a capture that is no output nobody is told: its numbers go nowhere.
  void append_wish(const Wish& wish) {
    const TensorId id = tensor_.at(wish.value);
    if (wish.asked != Asked::capture || outputs_.contains(id)) system_.wishes.push_back({id, wish.asked, summary(wish)});
  }

  Program program_;
  Analysis analysis_;
  System system_;
  std::map<std::string, TensorId> tensor_;
  std::unordered_set<TensorId> inputs_;
  std::unordered_set<TensorId> outputs_;
  std::unordered_set<TensorId> named_;  ///< results of derivatives
  FreshNames taken_;
  std::vector<std::size_t> step_of_;  ///< of each tensor, where steps are wanted
  std::size_t noted_tensors_ = 0;
  std::size_t noted_equations_ = 0;
};

}  // namespace

System lower(const Program& program, std::vector<std::size_t>& steps) {
  return has_open_extents(program) ? Lowering(with_extents(program)).run(&steps) : Lowering(program).run(&steps);
}

System lower(const Program& program) {
  return has_open_extents(program) ? Lowering(with_extents(program)).run() : Lowering(program).run();
}

}  // namespace etalon::spec
