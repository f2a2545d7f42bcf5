/// \file
/// How C and CUDA C++ spell what scalar expressions are made of: one row per primitive, one function per row that has no spelling
/// of its own in the languages. It is the one table for both, beside that of instructions, and knows no expression.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "compiled/ir/nest.hpp"
#include "compiled/machine/instruction.hpp"
#include "spec/scalar.hpp"

namespace etalon::compiled::source {

/// The languages.
enum class Dialect : std::uint8_t { c, cuda };

/// How a primitive is spelled on reals or on integers.
enum class Shape : std::uint8_t {
  none,     ///< not defined on such operands, or an instruction's
  infix,    ///< a operator b
  prefix,   ///< operator a
  wrapping, ///< on integers: an operator where the range is known to fit, else the function of that name
  library,  ///< a function of <math.h>, with the suffix f for binary32
  own,      ///< a function that comes with the text, with the type as suffix
  macro,    ///< a macro of <math.h>, whatever the type
  call,     ///< what an instruction's C calls
  form      ///< written by the expression's form
};

/// Binding strengths of operators, as C has them.
enum Precedence : int { conditional = 20, disjunction = 35, conjunction = 40, equality = 55, relation = 60, sum = 70, product = 80, unary = 90, primary = 100 };

struct Spelling {
  Shape shape = Shape::none;
  std::string_view word;           ///< the operator or function
  int precedence = primary;        ///< of an operator
  std::string_view wrapped = {};   ///< of a wrapping operator: the function
};

/// The row of a primitive.
struct Words {
  spec::Primitive primitive;
  Spelling real;
  Spelling integer;
};
[[nodiscard]] const Words& words_of(spec::Primitive p);
/// How the instruction's C is written: an operator, or the call of a function whose arguments are its operands in order.
[[nodiscard]] Spelling spelling_of(const Instruction& i);

/// `float`, `double`, `int64_t`, `bool`; the suffix of own functions; the type of a tensor's elements in memory.
[[nodiscard]] std::string_view type_name(loops::Type type);
[[nodiscard]] std::string_view type_suffix(loops::Type type);
[[nodiscard]] std::string_view element_type(DType dtype);

/// Constants, exact: `0.5f`, `1e-05`, `-INFINITY`, `INT64_C(5)` where an int does not hold it.
[[nodiscard]] std::string literal(float value);
[[nodiscard]] std::string literal(double value);
[[nodiscard]] std::string literal(std::int64_t value);

/// The functions that come with a text, those alone that it uses.
class Functions {
 public:
  explicit Functions(Dialect dialect) : dialect_(dialect) {}

  /// Marks a function of that name (`maximum`) and type suffix (`f32`, or nothing) as used. \returns what it is called by.
  /// \throws InternalError for an unknown one.
  std::string use(std::string_view name, std::string_view suffix = {});
  /// The instruction's C for that T, or the beginning of it, with the names of functions, which are marked as used.
  std::string text_of(std::string_view c, DType type);
  /// What a primitive that C has a function of <math.h> for is called by. In CUDA C++ it is the compiler's own where there is one, which has
  /// the processor's bits. C calls the library's: without FMA in its target each step of another one would be a call.
  std::string library(spec::Primitive p, loops::Type type);
  /// The definitions of all that are used, and of what these use, in order.
  [[nodiscard]] std::string definitions() const;

 private:
  Dialect dialect_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace etalon::compiled::source
