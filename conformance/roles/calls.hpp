/// \file
/// Draws calls of definitions that fit values: which read a type, keep it, or do nearly the same as another. It adds them to no
/// program, and knows no operation by name.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/drawing.hpp"
#include "conformance/random_program.hpp"
#include "conformance/roles/catalogue.hpp"

namespace etalon::conformance {

/// A call whose choices are drawn, with what follows from them.
struct DrawnCall {
  const spec::Definition* definition = nullptr;
  Assignment assignment;
  CallTypes types;
  spec::Instance instance;
  [[nodiscard]] const spec::ValueType& result() const { return instance.results.front(); }  ///< the first
};

/// A call under another attribute that reads the same.
struct AnotherAttribute {
  DrawnCall call;
  bool alike = false;  ///< its results have the same types, so that keys which hold types do not tell them apart
  bool tells = false;  ///< a list holds other numbers, not the same in another order
};

/// So many elements of a result tell their places apart.
inline constexpr std::int64_t telling = 4;

/// How much a call tells, and how much is enough: calls are drawn again until one does. By default every call does.
struct Tells {
  std::int64_t (*of)(const DrawnCall& call) = nullptr;
  std::int64_t enough = 0;
};

/// A move tells by the elements that it moves, since many draws leave all where it is; any other call tells enough.
[[nodiscard]] Tells usual_tells(const spec::Definition& d);

class Calls {
 public:
  Calls(const ProgramWish& wish, Draw& draw, const Catalogue& catalogue) : wish_(wish), draw_(draw), catalogue_(catalogue) {}

  /// Nothing where there are no choices, or no call follows from them.
  [[nodiscard]] std::optional<DrawnCall> typed(const spec::Definition& d, std::optional<Assignment> choices) const;
  /// The first of a few that tells enough, or the one that tells most.
  /// \param change what the choices are to be besides
  [[nodiscard]] std::optional<DrawnCall> drawn(const spec::Definition& d, const SizeWish& wish, const std::function<void(Assignment&)>& change = {}) {
    return drawn(d, wish, change, usual_tells(d));
  }
  [[nodiscard]] std::optional<DrawnCall> drawn(const spec::Definition& d, const SizeWish& wish, const std::function<void(Assignment&)>& change, Tells tells);
  /// What most calls wish: no extents that are odd on purpose, attributes left out where the program allows it, and little work,
  /// since a call is evaluated each time it is tried.
  [[nodiscard]] SizeWish size_wish() const { return {.elements = wish_.elements, .edges = false, .far_beyond = 50, .defaults = wish_.defaults}; }

  /// A call whose first operand has this type. \param equal all rows have its extents
  [[nodiscard]] std::optional<DrawnCall> on(const spec::Definition& d, const spec::ValueType& type, bool equal = false);
  /// A call of the program's definition, about so large. \param square all extents that have names are equal
  [[nodiscard]] std::optional<DrawnCall> alone(std::int64_t elements, bool square);
  /// What the program's definition reads first: some read tensors of one rank only.
  [[nodiscard]] std::optional<Fit> what_is_read();
  /// An elementwise call that gives this type, reading at least so many operands of it.
  [[nodiscard]] std::optional<DrawnCall> elementwise_of(const spec::ValueType& type, std::size_t alike);
  /// A move whose result has the type of what it reads, and in which no axis of `apart` moves.
  [[nodiscard]] std::optional<DrawnCall> move_that_keeps(const spec::ValueType& type, const std::vector<std::size_t>& apart = {});
  /// One that is alike and tells where that is found, then one that is alike. Nothing where no attribute can be another.
  [[nodiscard]] std::optional<AnotherAttribute> with_another_attribute(const DrawnCall& first);

 private:
  const ProgramWish& wish_;
  Draw& draw_;
  const Catalogue& catalogue_;
};

/// Whether an operand may hold numbers of this element type, in a case of another.
[[nodiscard]] bool may_hold(spec::Range range, DType dtype, DType of_case);

/// Whether such operands have one element type together, which a call chooses.
[[nodiscard]] constexpr bool shares_type(spec::Range range) { return range == spec::Range::any || range == spec::Range::number; }

[[nodiscard]] std::vector<std::int64_t> extents_of(const spec::ValueType& type);

/// All rows of axes get these extents.
void make_equal(Assignment& choices, const std::vector<std::int64_t>& extents);

/// The first of two operands beside each other that have one type.
[[nodiscard]] std::optional<std::size_t> twins_of(const DrawnCall& call);

/// The axes that attributes name, of an operand of this rank.
[[nodiscard]] std::vector<std::size_t> axes_named(const DrawnCall& call, std::size_t rank);

}  // namespace etalon::conformance
