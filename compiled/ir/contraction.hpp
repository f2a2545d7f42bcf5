/// \file
/// Sums of products by their form: y[row, column, outer…] = sum[depth… where guard] left·right, where `left` does not
/// know the column, and `right` and the guard not the row. It knows no operation by name and takes no decision about loops.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "compiled/ir/term_adder.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// An equation seen as a contraction. Rows and columns are positions among its binders.
struct Contraction {
  DType type = DType::f32;  ///< of its arithmetic, f32 or f64
  std::size_t row = 0;
  std::size_t column = 0;
  std::vector<spec::Binder> depth;  ///< the loops of the sum, outermost first
  spec::Expr left;                  ///< over the depth, the row and outer binders
  spec::Expr right;                 ///< over the depth, the column and outer binders
  spec::Expr guard;                 ///< over the same; empty where every term counts
  const TermAdder* adder = nullptr; ///< what adds the terms of the last loop at once; null: products are added one by one
  /// In which type tiles read the factors.
  [[nodiscard]] DType held() const { return adder != nullptr ? adder->held : type; }
};

/// The contraction that this equation is, or why it is none. The column is, where there is a choice, a binder whose
/// elements lie side by side in the target, unless it is too short for vectors; else, and for the row, it is the longest.
[[nodiscard]] std::variant<Contraction, std::string> recognise_contraction(const spec::System& system,
                                                                           const spec::Equation& equation);

}  // namespace etalon::compiled
