/// \file
/// The files of a pack as JSON. Reading is total: whatever is wrong is a SpecViolation that names the field, and a known
/// field with an unknown value is Unsupported.
#pragma once

#include <string>
#include <string_view>

#include "conformance/pack/pack.hpp"

namespace etalon::conformance {

/// pack.json, ended by a line's end.
[[nodiscard]] std::string to_json(const PackIndex& index);
/// \throws SpecViolation, Unsupported for another version
[[nodiscard]] PackIndex pack_index_from_json(std::string_view text);

/// One operation's file, a test per line.
[[nodiscard]] std::string to_json(const PackedOperation& operation);
/// \throws SpecViolation naming the test and the field
[[nodiscard]] PackedOperation packed_operation_from_json(std::string_view text);

}  // namespace etalon::conformance
