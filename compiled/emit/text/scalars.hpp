/// \file
/// Scalar expressions of the loops as C, which is also CUDA C++. A value that is used more than once gets a name; what a branch alone
/// may compute stays in the branch. It knows no loops.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiled/emit/text/names.hpp"
#include "compiled/emit/text/text.hpp"
#include "compiled/emit/text/words.hpp"
#include "compiled/ir/arithmetic.hpp"

namespace etalon::compiled::source {

/// Writes the expressions of one kernel.
class Scalars {
 public:
  /// \param tensors the identifier of each tensor's memory
  Scalars(const spec::System& system, const std::vector<std::string>& tensors, const Names& names, Functions& functions);

  /// In which type real arithmetic is done from now on.
  void set_real(loops::Type real) { arithmetic_.set_real(real); }
  [[nodiscard]] loops::Type type_of(const spec::Expr& e) const { return arithmetic_.type_of(e); }
  [[nodiscard]] loops::Type stored_type(const spec::Expr& e, DType dtype) const { return arithmetic_.stored_type(e, dtype); }

  /// A fresh identifier.
  std::string claim(std::string_view wanted) { return names_.claim(wanted); }
  /// A loop's variable. \returns its identifier.
  std::string bind(const spec::Binder& binder);
  /// A register of that type. \returns its identifier.
  std::string define(loops::Register r, loops::Type type);
  /// Memory that the kernel has of its own. \returns its identifier.
  std::string own(spec::TensorId id);

  /// An element of a tensor that lies elsewhere, too, is read there from now on.
  /// \param element as it is in the tensor's memory
  void hold(const spec::Expr& read, std::string element) { held_.emplace_back(read, std::move(element)); }

  /// The value of `e` as a C expression of type `type`; what it needs before goes to `before`.
  [[nodiscard]] std::string value(const spec::Expr& e, loops::Type type, Text& before);
  /// The same in the type that the expression has.
  [[nodiscard]] std::string value(const spec::Expr& e, Text& before) { return value(e, type_of(e), before); }
  /// The element `tensor[place…]`.
  [[nodiscard]] std::string element(spec::TensorId tensor, const std::vector<spec::Expr>& place, Text& before);
  /// A value of type `type` rounded to what an element of type `dtype` holds, as that element.
  [[nodiscard]] std::string narrowed(const std::string& value, loops::Type type, DType dtype);
  /// The number that an element stands for, in single precision if it has 16 bits.
  [[nodiscard]] std::string widened(const std::string& element, DType dtype);

  [[nodiscard]] Functions& functions() { return functions_; }

 private:
  struct Written {
    std::string text;
    int precedence = primary;
  };
  /// A place for statements, and the names of values that are known there.
  struct Scope {
    Text* text = nullptr;
    std::unordered_map<const spec::Node*, std::string> known;
  };

  void begin(std::span<const spec::Expr> all, Text& before);
  void count(const spec::Expr& e);
  [[nodiscard]] bool is_safe(const spec::Expr& e);
  [[nodiscard]] bool fits(const spec::Expr& e) const { return loops::range_of(e, extents_).has_value(); }
  Written write(const spec::Expr& e);
  Written write_as(const spec::Expr& e, loops::Type type);
  Written write_fresh(const spec::Expr& e);
  Written write_number(const spec::Expr& e, loops::Type type);
  Written write_variable(const spec::Expr& e);
  Written write_read(const spec::Expr& e);
  Written write_select(const spec::Expr& e);
  Written write_connective(const spec::Expr& e);
  Written write_apply(const spec::Expr& e);
  Written write_conversion(const spec::Expr& e);
  Written write_wrapping(const spec::Expr& e, const Spelling& s, loops::Type type);
  Written write_spelled(const std::vector<spec::Expr>& args, const Spelling& s, loops::Type type);
  Written infix(const std::vector<spec::Expr>& args, const Spelling& s, loops::Type type);
  Written call(const std::string& function, const std::vector<spec::Expr>& args, loops::Type type);
  [[nodiscard]] std::string element_number(const std::vector<spec::Expr>& place, const Dims& dims);
  [[nodiscard]] static std::string at_least(const Written& w, int precedence);
  [[nodiscard]] static Written cast(const Written& w, loops::Type to);

  const spec::System& system_;
  std::vector<std::string> tensors_;
  Names names_;
  Functions& functions_;
  loops::Arithmetic arithmetic_;
  loops::Extents extents_;
  std::unordered_map<spec::VariableId, std::string> variables_;
  std::unordered_map<loops::Register, loops::Type> registers_;
  std::vector<std::pair<spec::Expr, std::string>> held_;  ///< reads, and what stands for them
  std::unordered_map<const spec::Node*, int> uses_;
  std::unordered_map<const spec::Node*, bool> safe_;
  std::vector<Scope> scopes_;
};

}  // namespace etalon::compiled::source
