#include "compiled/ir/fragment_adder.hpp"

#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/machine/within.hpp"

namespace etalon::compiled {

namespace {

/// Whether an expression reads that tensor at these two variables.
bool reads(const Expr& e, spec::TensorId tensor, const Expr& first, const Expr& second) {
  return e.form() == Form::read && e->tensor == tensor && e->args.size() == 2 && e->args[0] == first && e->args[1] == second;
}

/// Whether an equation adds the product of the first two inputs to the third.
bool adds_product(const System& system, const Equation& e) {
  if (e.binders.size() != 2 || e.place.size() != 2 || !e.value.is(Primitive::add)) return false;
  const Expr row = spec::variable(e.binders[0]), column = spec::variable(e.binders[1]);
  const Expr& sum = e.value->args[1];
  if (!(e.place[0] == row) || !(e.place[1] == column) || !reads(e.value->args[0], system.inputs[2], row, column)) return false;
  if (sum.form() != Form::reduce || sum->reduction != spec::Reduction::sum || sum->binders.size() != 1 || sum->args[0].form() != Form::number) return false;
  const Expr term = spec::variable(sum->binders[0]);
  const Expr& product = sum->args[1];
  return product.is(Primitive::mul) && reads(product->args[0], system.inputs[0], row, term) && reads(product->args[1], system.inputs[1], term, column);
}

}  // namespace

std::optional<FragmentAdder> as_fragment_adder(const Instruction& i) {
  if (i.ptx.empty() || i.types.size() != 1) return std::nullopt;
  const DType type = i.types.front();
  const InstructionSignature signature = signature_of(i, type, 1);
  const System system = system_of(i, type, 1);
  const bool fits = system.inputs.size() == 3 && system.equations.size() == 1 && adds_product(system, system.equations[0]);
  if (!fits || signature.operands[0].dtype != signature.operands[1].dtype) return std::nullopt;
  const Dims& left = signature.operands[0].dims;
  const DType held = signature.operands[0].dtype;
  const int bits = contract_of(i).product_operand_precision;
  return FragmentAdder{&i, left[0], signature.result.dims[1], left[1], type, held, bits == 0 ? spec::format_of(held).precision : bits};
}

std::span<const FragmentAdder> fragment_adders() {
  static const std::vector<FragmentAdder> all = [] {
    std::vector<FragmentAdder> found;
    for (const Instruction& i : instructions) {
      if (const auto adder = as_fragment_adder(i)) found.push_back(*adder);
    }
    return found;
  }();
  return all;
}

const FragmentAdder* fragment_adder(DType type, DType left, DType right, const Machine& machine, const spec::Contract& promises) {
  for (const FragmentAdder& a : fragment_adders()) {
    if (a.type != type || !is_had_by(*a.instruction, machine)) continue;
    const bool holds = may_hold(left, a.held, a.bits, promises) && may_hold(right, a.held, a.bits, promises);
    if (holds && is_within(contract_of(*a.instruction), promises)) return &a;
  }
  return nullptr;
}

}  // namespace etalon::compiled
