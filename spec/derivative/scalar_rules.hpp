/// \file
/// The derivative of each scalar primitive in each real argument, as a table. It knows nothing of tensors.
#pragma once

#include <array>
#include <vector>

#include "spec/scalar.hpp"
#include "spec/system/expr.hpp"

namespace etalon::spec {

using Arguments = std::vector<Expr>;

/// How one argument enters a derivative. `push(args, t)` is the tangent of the primitive when the tangent of this
/// argument is `t` and those of the others are zero; being linear in `t` it is its own transpose. Where `matters`
/// is given and false the contribution is zero and `push` is not evaluated. No `push` means zero.
struct ArgumentRule {
  Expr (*push)(const Arguments& args, const Expr& t) = nullptr;
  Expr (*matters)(const Arguments& args) = nullptr;  ///< may return an empty Expr for "always"
};

/// The row of a primitive.
struct ScalarRule {
  Primitive primitive = Primitive::count_;
  std::array<ArgumentRule, 2> arguments{};
};

/// The rule of an argument; an argument without derivative has a rule without `push`.
[[nodiscard]] const ArgumentRule& derivative_rule(Primitive primitive, std::size_t argument);

}  // namespace etalon::spec
