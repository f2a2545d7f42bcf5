/// \file
/// The names of a specification of `einsum` and where their extents come from. It knows no text of definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/einsum/spec.hpp"

namespace etalon::spec::einsum_notation {

/// A name of the specification.
struct Identifier {
  enum class Extent : std::uint8_t {
    unknown,
    stated,    ///< it stands alone in an operand
    solved,    ///< it follows from the extent of a computed axis
    attribute  ///< nothing gives it but the call
  };
  std::string_view name;
  std::size_t begin = 0;
  bool row = false;
  bool joins = false;
  bool factor = false;  ///< a stride or dilation: an attribute, not an index
  bool piece = false;   ///< of some concatenation
  bool read = false;    ///< in some operand
  std::size_t sharers = 0;  ///< operands in which a row stands
  Extent extent = Extent::unknown;
};

/// The condition on the extent of a computed axis of an operand, or what it gives.
struct Step {
  std::size_t operand = 0;
  std::size_t axis = 0;
  int solves = -1;  ///< an identifier, or -1
};

class Plan {
  template <class... Parts>
  constexpr void fail(std::size_t where, const Parts&... parts) {
    if (diagnosis.ok()) diagnosis = diagnose("einsum: ", parts...).at(spec_.text, where);
  }

 public:
  static constexpr std::size_t max_identifiers = 48, max_steps = 32;

  Identifier identifiers[max_identifiers] = {};
  std::size_t count = 0;
  Step steps[max_steps] = {};
  std::size_t step_count = 0;
  Diagnosis diagnosis;

  constexpr explicit Plan(const Specification& spec) : spec_(spec) {
    for (std::size_t t = 0; t < spec.operand_count; ++t) collect(spec.operands[t], true);
    collect(spec.result, false);
    if (diagnosis.ok()) solve();
    for (std::size_t i = 0; i < count && diagnosis.ok(); ++i) settle(identifiers[i]);
  }

  [[nodiscard]] constexpr int find(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (identifiers[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  [[nodiscard]] constexpr const Identifier& operator[](std::string_view name) const {
    return identifiers[static_cast<std::size_t>(find(name))];
  }

 private:
  // --- names ---

  constexpr void collect(const Shape& shape, bool operand) {
    for (std::size_t k = 0; k < shape.count; ++k) {
      const Axis& axis = shape.axes[k];
      if (axis.form == Axis::Form::row) row(shape, k, operand);
      if (axis.form == Axis::Form::index) note(axis.name, axis, operand, operand);
      if (axis.form == Axis::Form::affine) {
        factor(axis.stride, axis);
        note(axis.name, axis, operand, false);
        factor(axis.dilation, axis);
        if (!axis.kernel.empty()) note(axis.kernel, axis, operand, false);
      }
      for (std::size_t p = 0; p < axis.piece_count; ++p) {
        if (axis.pieces[p].name.empty()) continue;
        if (Identifier* i = note(axis.pieces[p].name, axis, operand, false)) i->piece = true;
      }
    }
  }
  constexpr Identifier* make(std::string_view name, const Axis& axis, bool is_row, bool is_factor) {
    const int known = find(name);
    if (known < 0 && count == max_identifiers) return fail(axis.begin, "more than 48 names"), nullptr;
    Identifier& i = identifiers[known < 0 ? count++ : static_cast<std::size_t>(known)];
    if (known < 0) {
      i.name = name;
      i.begin = axis.begin;
      i.row = is_row;
      i.factor = is_factor;
    }
    if (i.row != is_row) return fail(axis.begin, name, " is the name of a row and of an index"), nullptr;
    if (i.factor != is_factor) return fail(axis.begin, name, " is the name of a factor and of an index"), nullptr;
    return &i;
  }
  constexpr Identifier* note(std::string_view name, const Axis& axis, bool operand, bool alone) {
    Identifier* i = make(name, axis, false, false);
    if (i == nullptr) return nullptr;
    i->read = i->read || operand;
    if (alone) i->extent = Identifier::Extent::stated;
    return i;
  }
  constexpr void factor(const Factor& f, const Axis& axis) {
    if (!f.name.empty()) (void)make(f.name, axis, false, true);
  }
  constexpr void row(const Shape& shape, std::size_t k, bool operand) {
    const Axis& axis = shape.axes[k];
    Identifier* i = make(axis.name, axis, true, false);
    if (i == nullptr) return;
    if (!operand && !i->read) return fail(axis.begin, "row ", axis.joins ? "..." : axis.name, " is in no operand");
    for (std::size_t j = 0; j < k; ++j) {
      if (shape.axes[j].name == axis.name) return fail(axis.begin, "row ", axis.name, " stands twice in one tensor");
    }
    i->joins = i->joins || axis.joins;
    i->read = i->read || operand;
    i->sharers += operand ? 1U : 0U;
  }

  // --- extents ---

  constexpr bool unknown(std::string_view name) const {
    return !name.empty() && (*this)[name].extent == Identifier::Extent::unknown;
  }
  constexpr void state(std::string_view name, Identifier::Extent extent) {
    identifiers[static_cast<std::size_t>(find(name))].extent = extent;
  }

  /// The names of a computed axis whose extents are not known; the first of them is the one to ask the call for.
  constexpr std::size_t unknowns(const Axis& axis, std::string_view& first, std::string_view& last) const {
    std::size_t n = 0;
    const auto look = [&](std::string_view name) {
      if (!unknown(name) || (n > 0 && name == last)) return;
      if (n++ == 0) first = name;
      last = name;
    };
    if (axis.form == Axis::Form::affine) {
      look(axis.kernel);
      look(axis.name);
    }
    for (std::size_t p = 0; p < axis.piece_count; ++p) look(axis.pieces[p].name);
    return n;
  }
  /// A padded axis has the extent of `over` times the stride, whatever the kernel; a piece that stands twice is not solved.
  static constexpr bool solvable(const Axis& axis, std::string_view name) {
    std::size_t times = 0;
    for (std::size_t p = 0; p < axis.piece_count; ++p) times += axis.pieces[p].name == name ? 1U : 0U;
    return times <= 1 && !(axis.padded && name == axis.kernel);
  }

  /// Takes axes with at most one unknown until none is left; where every axis has more, the call gives one.
  constexpr void solve() {
    bool done[Specification::max_operands][Shape::max_axes] = {};
    for (bool left = true; left && diagnosis.ok();) {
      bool progress = false;
      left = false;
      std::string_view ask;
      for (std::size_t t = 0; t < spec_.operand_count; ++t) {
        for (std::size_t k = 0; k < spec_.operands[t].count; ++k) {
          const Axis& axis = spec_.operands[t].axes[k];
          if (done[t][k] || (axis.form != Axis::Form::affine && axis.form != Axis::Form::concat)) continue;
          std::string_view first, last;
          const std::size_t n = unknowns(axis, first, last);
          if (n == 0 || (n == 1 && solvable(axis, first))) {
            step(t, k, n == 0 ? std::string_view() : first);
            done[t][k] = progress = true;
          } else {
            left = true;
            if (ask.empty()) ask = first;
          }
        }
      }
      if (left && !progress) state(ask, Identifier::Extent::attribute);
    }
  }
  constexpr void step(std::size_t t, std::size_t k, std::string_view solves) {
    const Axis& axis = spec_.operands[t].axes[k];
    if (step_count == max_steps) return fail(axis.begin, "more than 32 computed axes");
    steps[step_count++] = {t, k, solves.empty() ? -1 : find(solves)};
    if (!solves.empty()) state(solves, Identifier::Extent::solved);
  }
  static constexpr void settle(Identifier& i) {
    if (i.extent == Identifier::Extent::unknown && !i.row && !i.factor) i.extent = Identifier::Extent::attribute;
  }

  const Specification& spec_;
};

}  // namespace etalon::spec::einsum_notation
