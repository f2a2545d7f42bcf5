/// \file
/// Expressions as text from which they can be read back. It gives nothing a name and knows no reader.
#pragma once

#include <functional>
#include <string>

#include "spec/system/expr.hpp"

namespace etalon::spec {

/// What is called how.
struct Spelling {
  std::function<std::string(const Node& variable)> variable;
  std::function<std::string(TensorId)> tensor;
};

/// In the notation's style, and so that constants of other kinds look otherwise: 2 is an integer, `2.0` a decimal, `~0.1` the
/// binary64 nearest to 0.1, `~nan'7ff8000000000001` a NaN of these bits. A scalar is read as `x[]`; `-(1)` is the negative of
/// a constant, where -1 is a constant. Only the least integer is written as what it is the value of.
[[nodiscard]] std::string exact_text(const Expr& e, const Spelling& spelling);

}  // namespace etalon::spec
