/// \file
/// One call of a program as a request of its own. It asks nobody.
#pragma once

#include <map>
#include <string>

#include "spec/backend.hpp"

namespace etalon::conformance {

/// The call on these values, forward: its inputs are what it reads, operands first, each once per place where it is read.
/// \param values at least what the call reads, by name
[[nodiscard]] spec::Request single_call(const spec::Request& whole, const spec::Call& call,
                                        const std::map<std::string, HostTensor>& values);

}  // namespace etalon::conformance
