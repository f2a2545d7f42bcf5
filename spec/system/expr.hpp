/// \file
/// Scalar expressions of an elaborated equation: index variables, reads, primitives, reductions. All extents
/// are numbers here; rows, packs and attributes are gone. It knows no tensor's values and no operation's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "spec/dtype.hpp"
#include "spec/scalar.hpp"
#include "spec/system/number.hpp"

namespace etalon::spec {

using VariableId = std::int32_t;
using TensorId = std::int32_t;

/// The eight forms an expression can have.
enum class Form : std::uint8_t {
  number,    ///< a constant, see Number
  variable,  ///< an index variable (kind integer)
  read,      ///< tensor[index, …]; every index is an integer expression, in range wherever the read is reached
  apply,     ///< a primitive applied to its arguments
  select,    ///< if c then a else b; only the chosen branch is evaluated, in values and in derivatives
  reduce,    ///< reduction[binders where guard] body
  detach     ///< the value of its child, with derivative zero
};

class Expr;

/// An index variable with its range 0 ≤ variable < extent.
struct Binder {
  VariableId variable = -1;
  std::int64_t extent = 0;
  std::string name;  ///< for printing only; uniqueness is by id
  [[nodiscard]] friend bool operator==(const Binder& a, const Binder& b) {
    return a.variable == b.variable && a.extent == b.extent;
  }
};

struct Node;

/// An immutable expression; copying shares. Equality is structural (names of variables do not count).
class Expr {
 public:
  Expr() = default;  ///< empty; only assignment and `valid` are allowed on it
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  [[nodiscard]] bool valid() const { return node_ != nullptr; }
  [[nodiscard]] const Node& operator*() const { return *node_; }
  [[nodiscard]] const Node* operator->() const { return node_.get(); }
  [[nodiscard]] Form form() const;
  [[nodiscard]] Kind kind() const;
  [[nodiscard]] std::size_t hash() const;
  [[nodiscard]] bool is(Primitive p) const;
  /// The integer this constant is, if it is an integer constant.
  [[nodiscard]] bool is_integer(std::int64_t value) const;
  friend bool operator==(const Expr& a, const Expr& b);

 private:
  std::shared_ptr<const Node> node_;
};

/// What an expression is made of. Which fields count depends on `form`:
/// read: tensor, args = indices; apply: primitive, args; select: args = {condition, then, else};
/// reduce: reduction, binders, args = {guard, body} or {guard, body, otherwise}; `otherwise` is the value over an
/// empty set and only max, min, argmax and argmin may carry it; detach: args = {child}.
/// argmax and argmin give the row-major position of the first extremum among their binders' ranges.
struct Node {
  Form form = Form::number;
  Kind kind = Kind::real;
  Number number;
  VariableId variable = -1;
  std::string name;  ///< of the variable, for printing
  TensorId tensor = -1;
  Primitive primitive = Primitive::add;
  Reduction reduction = Reduction::sum;
  std::vector<Binder> binders;
  std::vector<Expr> args;
  std::size_t hash = 0;
};

inline Form Expr::form() const { return node_->form; }
inline Kind Expr::kind() const { return node_->kind; }
inline std::size_t Expr::hash() const { return node_->hash; }
inline bool Expr::is(Primitive p) const { return node_->form == Form::apply && node_->primitive == p; }

// --- construction; each checks kinds and throws InternalError when they do not fit ---

[[nodiscard]] Expr integer(std::int64_t value);
[[nodiscard]] Expr boolean(bool value);                                        ///< as 0 = 0 or 0 = 1 would be: a constant truth
[[nodiscard]] Expr decimal(std::int64_t mantissa, std::int32_t exponent = 0);  ///< exact real constant
[[nodiscard]] Expr decimal(Number number);                                     ///< a real constant
[[nodiscard]] Expr binary64(double value);                                     ///< real constant given as a binary64
[[nodiscard]] Expr variable(const Binder& binder);
[[nodiscard]] Expr read(TensorId tensor, Kind kind, std::vector<Expr> indices);
[[nodiscard]] Expr apply(Primitive primitive, std::vector<Expr> args);
[[nodiscard]] Expr select(Expr condition, Expr then, Expr otherwise);
[[nodiscard]] Expr reduce(Reduction reduction, std::vector<Binder> binders, Expr guard, Expr body, Expr otherwise = {});
[[nodiscard]] Expr detach(Expr child);

/// An integer or boolean as a real (unchanged when it is real already).
[[nodiscard]] Expr as_real(Expr e);

[[nodiscard]] Expr operator+(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator-(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator*(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator/(const Expr& a, const Expr& b);
[[nodiscard]] Expr operator-(const Expr& a);
[[nodiscard]] Expr operator&&(const Expr& a, const Expr& b);

// --- traversal ---

/// The same node with other children.
[[nodiscard]] Expr with_args(const Expr& e, std::vector<Expr> args);

using Substitution = std::unordered_map<VariableId, Expr>;
/// Replaces free variables. Bound variables are unique by id within a system, so nothing can be captured as long
/// as the inserted expressions do not mention variables bound inside `e`.
[[nodiscard]] Expr substitute(const Expr& e, const Substitution& by);

/// Calls `visit` on `e` and everything below it, parents first.
void for_each(const Expr& e, const std::function<void(const Expr&)>& visit);

/// Ids of the free variables, ascending.
[[nodiscard]] std::vector<VariableId> free_variables(const Expr& e);

}  // namespace etalon::spec
