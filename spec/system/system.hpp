/// \file
/// A system of equations over tensors with numeric extents: what an operation becomes once shapes and attributes
/// are known, what a whole program becomes when its calls are joined, and what every later pass works on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/dims.hpp"
#include "spec/dtype.hpp"
#include "spec/system/expr.hpp"

namespace etalon::spec {

/// Where an equation comes from, for messages and dumps: the call's source line and the definition's clause.
struct Origin {
  std::string operation;  ///< name of the definition
  std::string clause;     ///< text of its equation
  std::string file;       ///< of the user's call; empty when there is none
  std::uint32_t line = 0;
  std::string section;    ///< the user's label, e.g. `w3 sgd step`
};

/// A named tensor of a system. An integer scalar may carry the range its value is promised to lie in.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Dims dims;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
};

/// target[place…] = value for all values of the binders. Each element of a target that is not an input is written
/// by exactly one equation for exactly one value of its binders.
struct Equation {
  TensorId target = -1;
  std::vector<Binder> binders;
  std::vector<Expr> place;  ///< one integer expression per axis of the target, over the binders
  Expr value;
  std::int32_t origin = -1;  ///< index into System::origins, or -1
};

/// What may be asked of a value besides its numbers: that it can be read after a run, that it has memory, that it has none.
enum class Asked : std::uint8_t { capture, stored, inlined };

/// What was asked of a tensor. No number depends on it, beyond what an arithmetic's contract leaves open.
struct TensorWish {
  TensorId tensor = -1;
  Asked asked = Asked::stored;
  std::string by;  ///< the wish as messages and dumps show it: `stored h at net.cpp:3`
  [[nodiscard]] friend bool operator==(const TensorWish&, const TensorWish&) = default;
};

/// Equations in an order in which each reads only inputs, tensors whose equations stand before it, and tensors of
/// its own recurrence (recurrence.hpp), whose equations stand together.
struct System {
  std::vector<TensorInfo> tensors;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<Equation> equations;
  std::vector<Origin> origins;
  VariableId next_variable = 0;
  std::vector<TensorWish> wishes{};  ///< of whoever has the system compiled

  [[nodiscard]] TensorId add_tensor(std::string name, DType dtype, const Dims& dims);
  /// A fresh index variable.
  [[nodiscard]] Binder bind(std::string name, std::int64_t extent);
  /// Fresh binders for every axis of a tensor.
  [[nodiscard]] std::vector<Binder> bind_all(TensorId tensor);
  [[nodiscard]] const TensorInfo& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  /// The tensor of that name, or -1.
  [[nodiscard]] TensorId find(std::string_view name) const;
  /// A read of `tensor` at these indices, with the tensor's kind.
  [[nodiscard]] Expr at(TensorId tensor, std::vector<Expr> indices) const;
  /// Appends `target[i…] = value(i…)` with one binder per axis.
  void define(TensorId target, std::vector<Binder> binders, Expr value, std::int32_t origin = -1);
};

/// The variables of the binders as expressions.
[[nodiscard]] std::vector<Expr> variables(const std::vector<Binder>& binders);

/// `e` with every variable that it binds itself replaced by a fresh one: for using an expression a second time.
[[nodiscard]] Expr refresh(System& system, const Expr& e);

/// Readable text: one line per equation, in the notation's own style with numeric ranges.
[[nodiscard]] std::string to_text(const System& system);
[[nodiscard]] std::string to_text(const System& system, const Expr& e);

/// Checks the whole system: kinds, ranks, order, that every read is in range wherever it is reached, that every
/// element is written exactly once, that reductions without `otherwise` over max and argmax are never empty, that
/// recurrences have an order.
/// \throws SpecViolation (IllFormed of verify.hpp) naming the tensor, the equation and the failed rule.
void verify(const System& system);

}  // namespace etalon::spec
