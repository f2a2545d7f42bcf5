#include "compiled/ir/term_adder.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/machine/within.hpp"

namespace etalon::compiled {

namespace {

/// Equations that add products to one of the operands, one after the other.
class Reader {
 public:
  Reader(const System& system, const Instruction& i, DType type) : system_(system) {
    adder_.instruction = &i;
    adder_.type = type;
  }

  std::optional<TermAdder> read() {
    if (system_.inputs.size() != 3 || system_.outputs.size() != 1 || system_.equations.empty()) return std::nullopt;
    const Dims& result = system_[system_.outputs[0]].dims;
    if (result.rank != 1) return std::nullopt;
    adder_.lanes = result[0];
    for (const Equation& e : system_.equations) {
      if (!reads_term(e)) return std::nullopt;
    }
    if (last_ != system_.outputs[0] || !numbered(sum_, 2)) return std::nullopt;
    const Dims& factor = system_[left_].dims;
    adder_.terms = factor[0] / adder_.lanes;
    if (!(factor == system_[right_].dims) || adder_.terms < 2 || factor[0] % adder_.lanes != 0) return std::nullopt;
    const bool every = strides_ == std::set{adder_.terms} && terms_.size() == static_cast<std::size_t>(adder_.terms) && *terms_.begin() == 0 &&
                       *terms_.rbegin() == adder_.terms - 1 && system_.equations.size() == terms_.size();
    return every && numbered(left_, 0) && numbered(right_, 1) ? std::optional(adder_) : std::nullopt;
  }

 private:
  /// target[l] = before[l] + left[s·l + t] · right[s·l + t].
  bool reads_term(const Equation& e) {
    if (e.binders.size() != 1 || e.place.size() != 1 || !(e.place[0] == spec::variable(e.binders[0])) || !e.value.is(Primitive::add)) return false;
    const Expr& before = e.value->args[0];
    const Expr& product = e.value->args[1];
    if (before.form() != Form::read || before->args.size() != 1 || !(before->args[0] == e.place[0]) || !product.is(Primitive::mul)) return false;
    const Expr& a = product->args[0];
    const Expr& b = product->args[1];
    if (a.form() != Form::read || b.form() != Form::read || a->args.size() != 1 || b->args.size() != 1 || !(a->args[0] == b->args[0])) return false;
    const loops::Affine at = loops::affine(a->args[0]);
    if (!at.opaque.empty() || at.variables.size() != 1) return false;
    const bool first = last_ < 0;
    if (first) sum_ = before->tensor, left_ = a->tensor, right_ = b->tensor;
    else if (before->tensor != last_ || a->tensor != left_ || b->tensor != right_) return false;
    last_ = e.target;
    strides_.insert(at.coefficient(e.binders[0].variable));
    terms_.insert(at.constant);
    return true;
  }

  /// Whether the tensor is one of the operands.
  bool numbered(spec::TensorId tensor, std::size_t role) {
    const auto found = std::find(system_.inputs.begin(), system_.inputs.end(), tensor);
    adder_.operands[role] = static_cast<std::size_t>(found - system_.inputs.begin());
    return found != system_.inputs.end();
  }

  const System& system_;
  TermAdder adder_;
  spec::TensorId sum_ = -1, left_ = -1, right_ = -1;
  spec::TensorId last_ = -1;        ///< what the equations so far give
  std::set<std::int64_t> strides_;  ///< from lane to lane
  std::set<std::int64_t> terms_;    ///< which of a lane's are added
};

}  // namespace

std::optional<TermAdder> as_term_adder(const Instruction& i) {
  if (i.types.size() != 1 || is_of_any_lanes(i) || i.llvm.empty() || i.llvm.find("ptr %") != std::string_view::npos) return std::nullopt;
  const DType type = i.types.front();
  const InstructionSignature signature = signature_of(i, type, 1);
  const System system = system_of(i, type, 1);
  std::optional<TermAdder> adder = Reader(system, i, type).read();
  if (!adder || signature.operands[adder->operands[0]].dtype != signature.operands[adder->operands[1]].dtype) return std::nullopt;
  adder->held = signature.operands[adder->operands[0]].dtype;
  return adder;
}

std::span<const TermAdder> term_adders() {
  static const std::vector<TermAdder> all = [] {
    std::vector<TermAdder> found;
    for (const Instruction& i : instructions) {
      if (const auto adder = as_term_adder(i)) found.push_back(*adder);
    }
    return found;
  }();
  return all;
}

const TermAdder* term_adder(DType type, DType left, DType right, const Machine& machine, const spec::Contract& promises) {
  for (const TermAdder& a : term_adders()) {
    if (a.type != type || a.lanes != machine.lanes_f32 || !is_had_by(*a.instruction, machine)) continue;
    const int bits = spec::format_of(a.held).precision;
    if (may_hold(left, a.held, bits, promises) && may_hold(right, a.held, bits, promises) && is_within(contract_of(*a.instruction), promises)) return &a;
  }
  return nullptr;
}

}  // namespace etalon::compiled
