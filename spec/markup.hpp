/// \file
/// Text of others inside markup: whatever a backend is called or says, it stays text.
#pragma once

#include <string>
#include <string_view>

namespace etalon {

/// The text with replacement characters where it is not UTF-8.
[[nodiscard]] std::string well_formed(std::string_view text);

/// For element content and quoted attributes of HTML, SVG and XML 1.0; control characters become visible.
[[nodiscard]] std::string markup(std::string_view text);

/// A code span of Markdown, also inside a table: nothing in it is read as markup.
[[nodiscard]] std::string code_span(std::string_view text);

}  // namespace etalon
