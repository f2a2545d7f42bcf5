/// \file
/// Reading fields of JSON objects with errors that say where, what was expected and what was found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/protocol/json.hpp"

namespace etalon::spec::fields {

/// \throws SpecViolation `field: expected <expected>, found <json>`
[[noreturn]] void mismatch(const std::string& field, std::string_view expected, const Json& found);

/// The member, which must be there.
[[nodiscard]] const Json& member(const Json& object, std::string_view key, const std::string& field);
/// The member, or nullptr when it is absent or null.
[[nodiscard]] const Json* optional_member(const Json& object, std::string_view key, const std::string& field);

[[nodiscard]] const std::string& string(const Json& json, const std::string& field);
[[nodiscard]] std::int64_t integer(const Json& json, const std::string& field);
[[nodiscard]] bool boolean(const Json& json, const std::string& field);
[[nodiscard]] const Json& array(const Json& json, const std::string& field);
void require_object(const Json& json, const std::string& field);

[[nodiscard]] std::vector<std::string> strings(const Json& json, const std::string& field);
[[nodiscard]] std::vector<std::int64_t> integers(const Json& json, const std::string& field);

/// `field[i]` and `field.key`.
[[nodiscard]] std::string item(const std::string& field, std::size_t i);
[[nodiscard]] std::string key(const std::string& field, std::string_view name);

/// \throws Unsupported for a name that is no element type.
[[nodiscard]] DType dtype(const Json& json, const std::string& field);
/// Extents, at most eight, none negative.
[[nodiscard]] Dims dims(const Json& json, const std::string& field);

}  // namespace etalon::spec::fields
