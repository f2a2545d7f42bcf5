#include "spec/markup.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spec/protocol/json.hpp"

namespace etalon {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// U+2400 and its neighbours are pictures of the control characters.
std::string picture(unsigned char control) {
  const unsigned char last = control == 0x7F ? 0x21 : control;
  return std::string("\xE2\x90") + static_cast<char>(0x80 + last);
}

bool is_control(unsigned char c) { return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F; }

// U+FFFE and U+FFFF may not stand in XML.
std::string without_noncharacters(std::string text) {
  for (const char* end : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = text.find(end, at)) != std::string::npos;) text.replace(at, 3, "\xEF\xBF\xBD");
  }
  return text;
}

}  // namespace

std::string well_formed(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return spec::Json::parse(spec::to_line(std::string(text))).get<std::string>();
}

std::string markup(std::string_view text) {
  std::string out;
  for (const char c : without_noncharacters(well_formed(text))) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        if (is_control(static_cast<unsigned char>(c))) out += picture(static_cast<unsigned char>(c));
        else out += c;
    }
  }
  return out;
}

std::string code_span(std::string_view text) {
  std::string out;
  for (const char c : well_formed(text)) {
    if (c == '`') out += '\'';
    else if (c == '|') out += "\xE2\x94\x82";
    else if (c == '\n' || c == '\t') out += ' ';
    else if (is_control(static_cast<unsigned char>(c))) out += picture(static_cast<unsigned char>(c));
    else out += c;
  }
  // A span that begins or ends with a space, or is empty, would not be one.
  return out.find_first_not_of(' ') == std::string::npos ? "` `" : "`" + out + "`";
}

}  // namespace etalon
