/// \file
/// Text of others as content of an element of HTML or SVG. It knows no attribute.
#pragma once

#include <string>
#include <string_view>

namespace etalon::training {

[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace etalon::training
