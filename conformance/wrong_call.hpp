/// \file
/// Which call of a program is wrong on its own: each is asked alone, on what the backend itself answered for the others.
/// It says nothing of what goes wrong between calls.
#pragma once

#include <cstddef>
#include <optional>

#include "conformance/check.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

struct WrongCall {
  std::size_t index = 0;  ///< among the program's calls
  spec::Request request;  ///< the call alone, in the mode in which it fails
};

/// The first call that fails alone: values, and tangents along with them, in order; then cotangents from the last call on.
/// Nothing where each call passes, or one is refused.
/// \param request a program of calls, in any mode but the second derivative's
[[nodiscard]] std::optional<WrongCall> wrong_call(const spec::Request& request, Asked& backend, const spec::Contract& contract);

}  // namespace etalon::conformance
