/// \file
/// What is wrong with a text that is no JSON, in one line. It knows no document.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etalon {

/// `malformed JSON at line 2, column 11: unexpected '}'; expected string literal`.
/// \param what the parser's own message \param byte where it stopped, from 1
[[nodiscard]] std::string malformed_json(std::string_view text, std::size_t byte, std::string_view what);

}  // namespace etalon
