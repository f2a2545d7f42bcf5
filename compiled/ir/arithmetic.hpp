/// \file
/// In which type an expression of the loops is computed: one rule for every kind of code. It emits nothing.
#pragma once

#include <functional>
#include <utility>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// The binary32 and the binary64 nearest to a constant.
[[nodiscard]] float nearest_f32(const spec::Number& n);
[[nodiscard]] double nearest_f64(const spec::Number& n);

/// The types of the expressions of one kernel.
class Arithmetic {
 public:
  /// \param narrow whether a variable is a register that holds single precision
  Arithmetic(const spec::System& system, std::function<bool(spec::VariableId)> narrow) : system_(system), narrow_(std::move(narrow)) {}

  /// In which type real arithmetic is done from now on; f32 or f64.
  void set_real(Type real) { real_ = real; }
  [[nodiscard]] Type real() const { return real_; }

  /// The type of the value of an expression.
  [[nodiscard]] Type type_of(const Expr& e) const;
  /// The type in which two values are compared: one that decides as the exact numbers would, so that no constant is rounded to
  /// the operand's type.
  [[nodiscard]] Type comparison_type(const Expr& a, const Expr& b) const;
  /// The type that a stored value is computed in before it becomes an element of type `dtype`: a constant or a double is rounded
  /// to the element type at once.
  [[nodiscard]] Type stored_type(const Expr& value, DType dtype) const;

  /// Whether an integer that is to be a real is made a double with an odd last bit where none holds it: rounding that to the
  /// equation's shorter type then gives what rounding the integer would give, and not one rounding more. Where all that the
  /// integer can be are doubles, and where results are doubles, it is not.
  [[nodiscard]] bool keeps_odd_bit(const Expr& integer, const Extents& extents) const;

 private:
  [[nodiscard]] bool is_narrow(const Expr& e) const;
  [[nodiscard]] bool may_leave_doubles(const Expr& integer, const Extents& extents) const;

  const spec::System& system_;
  std::function<bool(spec::VariableId)> narrow_;
  Type real_ = Type::f32;
};

/// Whether a read stays in its tensor for all values of variables in [0, extent).
[[nodiscard]] bool in_range(const spec::System& system, const Expr& read, const Extents& extents);

}  // namespace etalon::compiled::loops
