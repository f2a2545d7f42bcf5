/// \file
/// Talks with an adapter and says what it gets wrong of Protocol 1, message by message. Whether its numbers are right
/// is the suite's question; this one is only whether they can be asked for.
#pragma once

#include <string>
#include <vector>

#include "conformance/adapter/remark.hpp"
#include "conformance/isolation/child_process.hpp"

namespace etalon::conformance {

/// Remarks in the order of the conversation: start, description, questions of values and derivatives, special
/// requests, end of input. The same fault is told once, with its number.
[[nodiscard]] std::vector<Remark> check_adapter(const std::string& command, const Limits& limits);

}  // namespace etalon::conformance
