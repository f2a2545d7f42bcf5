/// \file
/// Protocol 1 as a backend on a pair of streams, so that any script can ask Etalon for values, derivatives and, from
/// the reference, the values that a contract admits. It knows no backend by name.
#pragma once

#include <iosfwd>

#include "spec/backend.hpp"

namespace etalon::conformance {

struct ServeOptions {
  /// Requests may carry `"bounds": contract`; the answers then state what that contract admits.
  bool offers_bounds = false;
};

/// Answers one line per request line, in order, until the input ends. A malformed line gets an error reply, and the
/// next one is served.
void serve(std::istream& requests, std::ostream& answers, spec::Backend& backend, const ServeOptions& options = {});

}  // namespace etalon::conformance
