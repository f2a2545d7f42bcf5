/// \file
/// The case of a result line as lines that people read: its operands, attributes and derivative requests.
#pragma once

#include <string>
#include <vector>

namespace etalon::conformance {

/// `x = f32[2] {1, 2}` and so on, one per line; of long tensors the first sixteen elements. What is no case in a known
/// form is shown as it is.
/// \param operands the names of the operands, where they are known
[[nodiscard]] std::string inputs_text(const std::string& case_json, const std::vector<std::string>& operands);

}  // namespace etalon::conformance
