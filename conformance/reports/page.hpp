/// \file
/// The style and the script of the HTML report, from page.css and page.js.
#pragma once

#include <string_view>

namespace etalon::conformance {

[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();

}  // namespace etalon::conformance
