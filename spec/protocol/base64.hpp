/// \file
/// Base64 as in RFC 4648 §4: padded, no line breaks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spec/bytes.hpp"

namespace etalon::spec {

[[nodiscard]] std::string to_base64(std::span<const std::byte> bytes);

/// The bytes, or nothing when the text is no canonical base64.
[[nodiscard]] std::optional<Bytes> from_base64(std::string_view text);

}  // namespace etalon::spec
