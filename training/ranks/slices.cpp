#include "training/ranks/slices.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "spec/error.hpp"
#include "spec/system/system.hpp"

namespace etalon::training {

namespace {

using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::System;
using spec::TensorId;

std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

/// Whether what it reads are scalars, and tensors as large as the target at the target's own place.
bool stays_in_place(const System& system, const Equation& equation, const std::vector<Expr>& place, const Expr& e) {
  if (e.form() == Form::variable || e.form() == Form::reduce) return false;
  if (e.form() == Form::read) {
    const Dims& dims = system[e->tensor].dims;
    return dims.rank == 0 || (dims == system[equation.target].dims && e->args == place);
  }
  return std::ranges::all_of(e->args, [&](const Expr& part) { return stays_in_place(system, equation, place, part); });
}

/// Which tensors depend on one another.
class Classes {
 public:
  explicit Classes(std::size_t count) : parents_(count) {
    for (std::size_t i = 0; i < count; ++i) parents_[i] = i;
  }
  std::size_t of(TensorId id) {
    std::size_t at = index(id);
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void join(TensorId a, TensorId b) { parents_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parents_;
};

bool is_elementwise(const System& system, const Equation& equation) {
  const std::vector<Expr> place = spec::variables(equation.binders);
  return equation.place == place && stays_in_place(system, equation, place, equation.value);
}

std::optional<Classes> classes_of(const System& system) {
  Classes classes(system.tensors.size());
  for (const Equation& equation : system.equations) {
    if (!is_elementwise(system, equation)) return std::nullopt;
    spec::for_each(equation.value, [&](const Expr& e) {
      if (e.form() == Form::read && system[e->tensor].dims.rank > 0) classes.join(equation.target, e->tensor);
    });
  }
  return classes;
}

/// What would have to be cut as well, and is not.
bool has_more_than_inputs(const spec::Program& program) {
  const auto is_call = [](const auto& step) { return std::holds_alternative<spec::Call>(step); };
  const auto is_fixed = [](const spec::Input& i) { return i.dims.rank > 0 && (i.value || i.role == spec::Role::constant); };
  return !program.buffers.empty() || !std::ranges::all_of(program.steps, is_call) || std::ranges::any_of(program.inputs, is_fixed);
}

bool has_scalar_outputs(const spec::Program& program) {
  const std::map<std::string, spec::ValueType> types = spec::types_of(program);
  return std::ranges::all_of(program.outputs, [&](const std::string& name) { return types.at(name).dims.rank == 0; });
}

/// A shape in an attribute, say, would be another one's.
bool can_be_cut(const spec::Program& program, const std::vector<Slices::Group>& groups) {
  try {
    spec::verify(sliced(program, Slices(groups, 2), 0));
    return true;
  } catch (const SpecViolation&) {
    return false;
  }
}

}  // namespace

Slices::Slices(const std::vector<Group>& groups, int owners) : owners_(owners) {
  if (owners < 1) throw SpecViolation("ranks: 0 owners, expected at least 1");
  for (const Group& group : groups) {
    for (const std::string& tensor : group.tensors) places_[tensor] = {elements_, group.elements};
    elements_ += group.elements;
  }
}

std::optional<Slice> Slices::part(const std::string& tensor, int owner) const {
  const auto found = places_.find(tensor);
  if (found == places_.end()) return std::nullopt;
  const Place& place = found->second;
  const std::int64_t each = elements_ / owners_, more = elements_ % owners_;
  const auto begin = [&](std::int64_t o) { return std::clamp(o * each + std::min(o, more) - place.offset, std::int64_t{0}, place.elements); };
  return Slice{begin(owner), begin(owner + 1)};
}

std::optional<std::vector<Slices::Group>> elementwise_groups(const spec::Program& program) {
  if (has_more_than_inputs(program) || !has_scalar_outputs(program)) return std::nullopt;
  const System system = spec::lower(program);
  std::optional<Classes> classes = classes_of(system);
  if (!classes) return std::nullopt;
  std::vector<Slices::Group> groups;
  std::map<std::size_t, std::size_t> group_of;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const spec::Input& input = program.inputs[i];
    if (input.dims.rank == 0) continue;
    const auto [at, is_new] = group_of.try_emplace(classes->of(system.inputs[i]), groups.size());
    if (is_new) groups.push_back({input.dims.count(), {}});
    groups[at->second].tensors.push_back(input.name);
  }
  return can_be_cut(program, groups) ? std::optional(std::move(groups)) : std::nullopt;
}

spec::Program sliced(spec::Program program, const Slices& slices, int owner) {
  for (spec::Input& input : program.inputs) {
    const std::optional<Slice> part = slices.part(input.name, owner);
    if (!part) continue;
    input.dims = {part->count()};
    input.open.clear();
  }
  return program;
}

HostTensor slice_of(const HostTensor& tensor, Slice part) {
  HostTensor slice(tensor.dtype, {part.count()});
  slice.bytes.clear();
  append(slice.bytes, tensor, part);
  return slice;
}

void append(Bytes& to, const HostTensor& tensor, Slice part) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  to.insert(to.end(), tensor.bytes.begin() + part.first * size, tensor.bytes.begin() + part.end * size);
}

}  // namespace etalon::training
