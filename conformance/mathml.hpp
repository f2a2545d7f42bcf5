/// \file
/// Equations as MathML, for pages: subscripts for indices, sums, fractions, cases. It goes by the form of the expression
/// tree and knows no operation.
#pragma once

#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// One `<math>` element for each equation; its `alttext` is the equation in the notation's style.
/// Names in it are escaped: what is typeset is text of whoever wrote the definition.
/// Source of the elements: MathML Core, https://www.w3.org/TR/mathml-core/
[[nodiscard]] std::vector<std::string> mathml(const spec::System& system);

}  // namespace etalon::conformance
