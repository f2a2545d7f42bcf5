#include "conformance/interchange/stablehlo/equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "conformance/interchange/stablehlo/expressions.hpp"
#include "conformance/interchange/stablehlo/primitives.hpp"
#include "spec/error.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::conformance::stablehlo {
namespace {

using spec::Equation, spec::Expr, spec::System, spec::TensorId;

/// Where the values of an equation stand along one axis of its target: from `first` on, `step` apart.
struct Stride {
  std::int64_t first = 0, step = 1, extent = 1;
};

class EquationWriter {
 public:
  EquationWriter(const System& system, std::span<const Tensor> inputs, Instructions& out)
      : system_(system), out_(out), tensors_(system.tensors.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) tensors_[static_cast<std::size_t>(system.inputs[i])] = inputs[i];
  }

  [[nodiscard]] std::vector<Tensor> run() {
    const std::vector<spec::Recurrence> recurrences = spec::recurrences(system_);
    auto next = recurrences.begin();
    for (std::size_t i = 0; i < system_.equations.size();) {
      if (next != recurrences.end() && next->equations.front().equation == i) {
        write_steps(*next);
        i += next->equations.size();
        ++next;
      } else {
        write(system_.equations[i++]);
      }
    }
    std::vector<Tensor> outputs;
    for (const TensorId id : system_.outputs) outputs.push_back(tensor(id));
    return outputs;
  }

 private:
  [[nodiscard]] TensorType type_of(TensorId id) const {
    const spec::TensorInfo& info = system_[id];
    return {info.dtype, {info.dims.begin(), info.dims.end()}};
  }

  /// What is known of the tensor; of one that nothing is known of yet, zeros.
  [[nodiscard]] Tensor tensor(TensorId id) {
    std::optional<Tensor>& found = tensors_[static_cast<std::size_t>(id)];
    if (found) return *found;
    const TensorType type = type_of(id);
    return out_.filled(out_.convert(out_.integer(0), type.dtype), type.extents);
  }

  /// f64 where a tensor of the equation is.
  [[nodiscard]] DType arithmetic_of(const Equation& equation) const {
    bool is_wide = system_[equation.target].dtype == DType::f64;
    for_each(equation.value, [&](const Expr& e) {
      if (e.form() == spec::Form::read) is_wide = is_wide || system_[e->tensor].dtype == DType::f64;
    });
    return is_wide ? DType::f64 : DType::f32;
  }

  void write(const Equation& equation) {
    if (std::any_of(equation.binders.begin(), equation.binders.end(),
                    [](const spec::Binder& b) { return b.extent == 0; }))
      return;
    Expressions expressions(
        out_, [this](TensorId id) { return tensor(id); }, arithmetic_of(equation));
    expressions.scope().enter(equation.binders);
    const Spread value = expressions.value(equation.value);
    const Spread converted{stored(out_, value.tensor, system_[equation.target].dtype), value.over};
    put(equation, expressions.scope(), converted);
  }

  /// One axis for each axis of the target, and where its elements stand.
  void put(const Equation& equation, const Scope& scope, const Spread& value) {
    std::vector<Stride> strides;
    std::vector<spec::VariableId> axes;
    Extents turned, extents;
    for (const Expr& place : equation.place) {
      const spec::Affine index = spec::exact_affine(place);
      Stride stride{index.constant, 1, 1};
      if (!index.is_constant()) {
        const bool is_plain = index.terms.size() == 1 && index.terms[0].atom.form() == spec::Form::variable;
        const spec::VariableId variable = is_plain ? index.terms[0].atom->variable : -1;
        if (!is_plain || std::find(axes.begin(), axes.end(), variable) != axes.end())
          throw Unsupported(fmt::format("{}: a place that depends on several indices", system_[equation.target].name));
        stride.extent = scope.extent(variable);
        stride.step = index.terms[0].coefficient;
        if (stride.step < 0) {
          turned.push_back(static_cast<std::int64_t>(strides.size()));
          stride.first += stride.step * (stride.extent - 1);
          stride.step = -stride.step;
        }
        axes.push_back(variable);
      }
      extents.push_back(stride.extent);
      strides.push_back(stride);
    }
    const Tensor wide = scope.spread(out_, value, scope.joined(std::vector<Spread>{{{}, axes}}));
    const Tensor piece = out_.reverse(out_.reshape(permuted(wide, scope, axes), extents), turned);
    tensors_[static_cast<std::size_t>(equation.target)] = placed(equation.target, piece, strides);
  }

  /// The axes in the order of the target's, from that of the scope.
  [[nodiscard]] Tensor permuted(const Tensor& wide, const Scope& scope, const std::vector<spec::VariableId>& axes) {
    return out_.transpose(wide, Scope::positions(axes, scope.joined(std::vector<Spread>{{{}, axes}})));
  }

  /// The target with the piece in its place, and what is known of the others.
  [[nodiscard]] Tensor placed(TensorId target, const Tensor& piece, const std::vector<Stride>& strides) {
    const TensorType type = type_of(target);
    if (piece.type == type) return piece;
    Extents low, high, interior;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      const auto& [first, step, extent] = strides[axis];
      low.push_back(first);
      interior.push_back(step - 1);
      high.push_back(type.extents[axis] - first - step * (extent - 1) - 1);
    }
    const Tensor zero = out_.convert(out_.integer(0), type.dtype);
    const Tensor padded = out_.pad(piece, zero, low, high, interior);
    if (!tensors_[static_cast<std::size_t>(target)]) return padded;
    const Tensor here =
        out_.pad(out_.filled(out_.truth(true), piece.type.extents), out_.truth(false), low, high, interior);
    return out_.select(here, padded, tensor(target));
  }

  /// Step by step, with a number for the index that steps.
  void write_steps(const spec::Recurrence& recurrence) {
    for (std::int64_t n = 0; n < recurrence.steps; ++n) {
      const std::int64_t step = recurrence.backwards ? recurrence.steps - 1 - n : n;
      for (const spec::RecurrentEquation& recurrent : recurrence.equations) {
        Equation equation = system_.equations[recurrent.equation];
        const auto binder = equation.binders.begin() + static_cast<std::ptrdiff_t>(recurrent.binder);
        if (step >= binder->extent) continue;
        const spec::Substitution at_step{{binder->variable, spec::integer(step)}};
        equation.value = substitute(equation.value, at_step);
        for (Expr& place : equation.place) place = substitute(place, at_step);
        equation.binders.erase(binder);
        write(equation);
      }
    }
  }

  const System& system_;
  Instructions& out_;
  std::vector<std::optional<Tensor>> tensors_;
};

}  // namespace

std::vector<Tensor> write_equations(const System& system, std::span<const Tensor> inputs, Instructions& out) {
  return EquationWriter(system, inputs, out).run();
}

}  // namespace etalon::conformance::stablehlo
