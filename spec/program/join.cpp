#include "spec/program/join.hpp"

#include <unordered_map>
#include <utility>

#include "spec/error.hpp"

namespace etalon::spec {
namespace {

/// Carries expressions of one system over into another.
class Transfer {
 public:
  Transfer(const System& whole, std::vector<TensorId> tensors, VariableId shift)
      : whole_(whole), tensors_(std::move(tensors)), shift_(shift) {}

  [[nodiscard]] TensorId operator[](TensorId part) const { return tensors_[static_cast<std::size_t>(part)]; }

  [[nodiscard]] Binder operator()(const Binder& b) const { return {b.variable + shift_, b.extent, b.name}; }

  [[nodiscard]] std::vector<Binder> operator()(const std::vector<Binder>& binders) const {
    std::vector<Binder> result;
    for (const Binder& b : binders) result.push_back((*this)(b));
    return result;
  }

  [[nodiscard]] Expr operator()(const Expr& e) {
    const auto seen = done_.find(&*e);
    if (seen != done_.end()) return seen->second;
    Expr result = carry(e);
    done_.emplace(&*e, result);
    return result;
  }

  [[nodiscard]] std::vector<Expr> operator()(const std::vector<Expr>& args) {
    std::vector<Expr> result;
    result.reserve(args.size());
    for (const Expr& arg : args) result.push_back((*this)(arg));
    return result;
  }

 private:
  [[nodiscard]] Expr carry(const Expr& e) {
    switch (e.form()) {
      case Form::number: return e;
      case Form::variable: return variable({e->variable + shift_, 0, e->name});
      case Form::read: return carry_read(e);
      case Form::reduce: {
        std::vector<Expr> args = (*this)(e->args);
        return reduce(e->reduction, (*this)(e->binders), args[0], args[1], args.size() > 2 ? args[2] : Expr{});
      }
      default: return with_args(e, (*this)(e->args));
    }
  }

  [[nodiscard]] Expr carry_read(const Expr& e) {
    const TensorId tensor = (*this)[e->tensor];
    Expr result = whole_.at(tensor, (*this)(e->args));
    if (result.kind() == e.kind()) return result;
    if (e.kind() != Kind::real) throw InternalError("join: " + whole_[tensor].name + " is not of the kind read");
    return as_real(std::move(result));
  }

  const System& whole_;
  std::vector<TensorId> tensors_;
  VariableId shift_;
  std::unordered_map<const Node*, Expr> done_;
};

/// The tensor of `whole` for every tensor of `part`, added where it is not an input.
std::vector<TensorId> place_tensors(System& whole, const System& part, std::span<const TensorId> inputs,
                                    std::span<const std::string> names, Names& taken) {
  std::vector<TensorId> place(part.tensors.size(), -1);
  for (std::size_t i = 0; i < part.inputs.size(); ++i) place[static_cast<std::size_t>(part.inputs[i])] = inputs[i];
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    TensorId& id = place[static_cast<std::size_t>(part.outputs[i])];
    if (id < 0) id = whole.add_tensor(names[i], part[part.outputs[i]].dtype, part[part.outputs[i]].dims);
  }
  for (std::size_t i = 0; i < part.tensors.size(); ++i) {
    if (place[i] >= 0) continue;
    const TensorInfo& local = part.tensors[i];
    place[i] = whole.add_tensor(take_name(taken, names[0] + "." + local.name), local.dtype, local.dims);
    whole.tensors.back().range = local.range;
  }
  return place;
}

}  // namespace

std::string take_name(Names& taken, const std::string& name) {
  std::string result = name;
  for (int n = 2; !taken.insert(result).second; ++n) result = name + "." + std::to_string(n);
  return result;
}

TensorId append_copy(System& system, TensorId original, std::string name, std::int32_t origin) {
  const TensorId copy = system.add_tensor(std::move(name), system[original].dtype, system[original].dims);
  std::vector<Binder> binders = system.bind_all(copy);
  Expr value = system.at(original, variables(binders));
  system.define(copy, std::move(binders), std::move(value), origin);
  return copy;
}

std::vector<TensorId> join(System& whole, const System& part, std::span<const TensorId> inputs,
                           std::span<const std::string> results, const Source& source, Names& taken) {
  if (inputs.size() != part.inputs.size() || results.size() != part.outputs.size())
    throw InternalError("join: the system of " + (results.empty() ? "a call" : results[0]) +
                        " does not have the operands and results of its call");
  Transfer transfer(whole, place_tensors(whole, part, inputs, results, taken), whole.next_variable);
  whole.next_variable += part.next_variable;
  const auto first_origin = static_cast<std::int32_t>(whole.origins.size());
  for (Origin origin : part.origins) {
    origin.file = source.file;
    origin.line = source.line;
    origin.section = source.section;
    whole.origins.push_back(std::move(origin));
  }
  for (const Equation& e : part.equations) {
    whole.equations.push_back({transfer[e.target], transfer(e.binders), transfer(e.place), transfer(e.value),
                               e.origin < 0 ? -1 : e.origin + first_origin});
  }
  std::vector<TensorId> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    TensorId id = transfer[part.outputs[i]];
    if (whole[id].name != results[i]) id = append_copy(whole, id, results[i], part.origins.empty() ? -1 : first_origin);
    outputs.push_back(id);
  }
  return outputs;
}

}  // namespace etalon::spec
