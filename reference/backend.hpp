/// \file
/// The reference behind the interface that every backend has.
#pragma once

#include <memory>

#include "spec/backend.hpp"

namespace etalon::reference {

/// Evaluates the equations of the whole program over enclosures of real numbers, with more and more bits, until every
/// decision on the way is certain and every answer rounds one way: answers are correctly rounded. What 8191 bits leave
/// open is refused as unsupported, with the element in question.
/// JVPs are dual numbers; VJPs are the transpose of the JVP while that takes few enough evaluations, and the symbolic
/// derivative beyond; JVPs of VJPs are dual numbers through the symbolic VJP.
[[nodiscard]] std::unique_ptr<spec::Backend> make_reference_backend();

}  // namespace etalon::reference
