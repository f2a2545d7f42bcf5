/// \file
/// Concatenated axes as choices: a term of an `einsum` takes one piece of each of them. It knows no text.
#pragma once

#include <cstddef>
#include <string_view>

#include "spec/einsum/plan.hpp"

namespace etalon::spec::einsum_notation {

/// One piece for every concatenated axis; tensors are the operands, then the result.
class Choice {
 public:
  constexpr Choice(const Specification& spec, const Plan& plan) : spec_(&spec), plan_(&plan) {}

  [[nodiscard]] constexpr const Piece& piece(std::size_t tensor, std::size_t axis) const {
    return shape(tensor).axes[axis].pieces[taken_[tensor][axis]];
  }
  [[nodiscard]] constexpr std::size_t taken(std::size_t tensor, std::size_t axis) const { return taken_[tensor][axis]; }

  /// The next choice for the tensors from `first` to `last`; false when all have been, and then the first one again.
  constexpr bool advance(std::size_t first, std::size_t last) {
    for (std::size_t t = first; t <= last; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        const Axis& axis = shape(t).axes[k];
        if (axis.form != Axis::Form::concat) continue;
        if (++taken_[t][k] < axis.piece_count) return true;
        taken_[t][k] = 0;
      }
    }
    return false;
  }

  /// A name that is chosen somewhere is chosen wherever it could be.
  [[nodiscard]] constexpr bool consistent() const {
    for (std::size_t t = 0; t <= spec_->operand_count; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        if (shape(t).axes[k].form == Axis::Form::concat && !agrees(piece(t, k).name)) return false;
      }
    }
    return true;
  }

  /// Whether a tensor's indices outside concatenations are ones that this choice has.
  [[nodiscard]] constexpr bool takes(std::size_t tensor) const {
    for (std::size_t k = 0; k < shape(tensor).count; ++k) {
      const Axis& axis = shape(tensor).axes[k];
      if (axis.form == Axis::Form::index && !active(axis.name)) return false;
      if (axis.form == Axis::Form::affine && (!active(axis.name) || (!axis.kernel.empty() && !active(axis.kernel)))) return false;
    }
    return true;
  }

  /// Whether the term is one: the result takes it, some operand does, and they have the result's pieces.
  [[nodiscard]] constexpr bool contributes() const {
    const std::size_t result = spec_->operand_count;
    if (!consistent() || !takes(result)) return false;
    bool any = false;
    for (std::size_t t = 0; t < result; ++t) any = any || takes(t);
    for (std::size_t k = 0; k < spec_->result.count; ++k) {
      if (spec_->result.axes[k].form == Axis::Form::concat && !is_read(piece(result, k).name)) return false;
    }
    return any;
  }

  /// Whether an operand of the term has the index; `alone` where it must stand for itself.
  [[nodiscard]] constexpr bool is_read(std::string_view name, bool alone = false) const {
    if (name.empty()) return false;
    for (std::size_t t = 0; t < spec_->operand_count; ++t) {
      if (!takes(t)) continue;
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        const Axis& axis = shape(t).axes[k];
        if (axis.form == Axis::Form::index && axis.name == name) return true;
        if (alone) continue;
        if (axis.form == Axis::Form::affine && (axis.name == name || axis.kernel == name)) return true;
        if (axis.form == Axis::Form::concat && piece(t, k).name == name) return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] constexpr const Shape& shape(std::size_t t) const {
    return t < spec_->operand_count ? spec_->operands[t] : spec_->result;
  }
  [[nodiscard]] constexpr bool agrees(std::string_view name) const {
    if (name.empty()) return true;
    for (std::size_t t = 0; t <= spec_->operand_count; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        const Axis& axis = shape(t).axes[k];
        bool could = false;
        for (std::size_t p = 0; p < axis.piece_count; ++p) could = could || axis.pieces[p].name == name;
        if (could && piece(t, k).name != name) return false;
      }
    }
    return true;
  }
  [[nodiscard]] constexpr bool active(std::string_view name) const {
    if (!(*plan_)[name].piece) return true;
    for (std::size_t t = 0; t <= spec_->operand_count; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        if (shape(t).axes[k].form == Axis::Form::concat && piece(t, k).name == name) return true;
      }
    }
    return false;
  }

  const Specification* spec_;
  const Plan* plan_;
  std::size_t taken_[Specification::max_operands + 1][Shape::max_axes] = {};
};

}  // namespace etalon::spec::einsum_notation
