#include "compiled/ir/local_definition.hpp"

#include <algorithm>

#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

namespace {

/// A store that changes no value of this definition: a tensor of the arithmetic's own type, or a copy.
bool stores_exactly(const System& system, const Equation& equation) {
  const DType dtype = system[equation.target].dtype;
  if (equation.value.form() == Form::read) return system[equation.value->tensor].dtype == dtype;
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64 || dtype == DType::boolean;
}

bool place_is_variables(const Equation& equation, LocalDefinition& local) {
  for (const Expr& p : equation.place) {
    if (p.form() != Form::variable) return false;
    if (std::find(local.axes.begin(), local.axes.end(), p->variable) != local.axes.end()) return false;
    local.axes.push_back(p->variable);
  }
  return local.axes.size() == equation.binders.size();
}

}  // namespace

LocalDefinition definition_in(const System& system, const Equation& equation) {
  LocalDefinition local;
  local.arithmetic = arithmetic_type(system, equation);
  local.copies = equation.value.form() == Form::read;
  bool reduces = false;
  bool other_reads = false;
  bool real_reads = false;
  spec::for_each(equation.value, [&](const Expr& e) {
    ++local.size;
    reduces = reduces || e.form() == Form::reduce;
    local.has_reals = local.has_reals || e.kind() == Kind::real;
    if (e.form() == Form::read && e.kind() == Kind::real) {
      real_reads = true;
      other_reads = other_reads || system[e->tensor].dtype != local.arithmetic;
    }
  });
  local.reads_only_arithmetic = real_reads && !other_reads;
  local.rounded = equation.value.kind() == Kind::real && local.arithmetic == DType::f32 && !is_single(system, equation.value);
  local.why_not = {};
  if (reduces)
    local.why_not = "it is a reduction, which is computed once";
  else if (!stores_exactly(system, equation))
    local.why_not = "to store it as " + std::string(name_of(system[equation.target].dtype)) + " rounds it";
  else if (!place_is_variables(equation, local))
    local.why_not = "its elements are not one for each index";
  return local;
}

Reader reader_of(const System& system, const Equation& equation) {
  const DType target = system[equation.target].dtype;
  return {arithmetic_type(system, equation), kind_of(target) == Kind::real, target == DType::f32};
}

bool keeps_bits(const LocalDefinition& local, const Reader& reader, bool rounds) {
  if (!local.has_reals || local.copies) return true;
  if (local.rounded && !rounds) return false;
  return local.arithmetic == reader.arithmetic && (reader.real_target || local.reads_only_arithmetic);
}

bool rounds_operand(const System& system, const Reader& reader, const Expr& e, const std::vector<Expr>& operands, std::size_t i) {
  if (reader.arithmetic != DType::f32 || e.kind() != Kind::real || (e.form() != Form::apply && e.form() != Form::select)) return false;
  for (std::size_t j = e.form() == Form::select ? 1 : 0; j < operands.size(); ++j) {
    if (j != i && is_single(system, operands[j])) return true;
  }
  return false;
}

Expr value_at(const Equation& equation, const LocalDefinition& local, const Expr& read) {
  spec::Substitution by;
  for (std::size_t axis = 0; axis < read->args.size(); ++axis) by.emplace(local.axes[axis], read->args[axis]);
  return spec::substitute(equation.value, by);
}

}  // namespace etalon::compiled
