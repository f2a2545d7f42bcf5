/// \file
/// A request as a program in C++ that needs oneDNN alone. It knows no operation.
#pragma once

#include <string>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {

/// \param shown the element that it prints; without it all that is answered
/// \throws what answering throws
[[nodiscard]] std::string script(const Operations& operations, const etalon_request& request, const etalon_element* shown);

}  // namespace etalon::onednn
