/// \file
/// What is wrong with an adapter's description of itself, field by field, judged by the decoder that the suite uses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/adapter/remark.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// Remarks about the line. \param into what the suite reads from it, where it can be read
[[nodiscard]] std::vector<Remark> remarks_on_description(const std::string& line, std::optional<spec::Description>& into);

}  // namespace etalon::conformance
