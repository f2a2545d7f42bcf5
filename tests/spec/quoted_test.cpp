// Words from outside in messages: nothing in them moves the cursor, colours or ends the line.
#include "spec/quoted.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace etalon {

TEST_CASE("control characters of ASCII and of Unicode become spaces", "[quoted]") {
  CHECK(on_one_line("a\nb\x1b[2J\r\x7f") == "a b [2J  ");
  CHECK(on_one_line("a\xC2\x9B" "2Jb\xC2\x80\xC2\x9F") == "a  2Jb    ");  // U+009B begins a command as ESC [ does
}

TEST_CASE("other characters stay, whatever bytes they share with control characters", "[quoted]") {
  for (const std::string text : {"\xC2\xA0", "\xC3\x80", "\xC3\x9F", "\xE2\x80\x9B", "\xF0\x9F\x92\x9B"}) CHECK(on_one_line(text) == text);
}

TEST_CASE("a long word is cut between characters", "[quoted]") {
  const std::string word = std::string(longest_quoted - 1, 'x') + "\xC3\x9F" + "y";
  CHECK(as_quoted(word) == std::string(longest_quoted - 1, 'x') + "…");
  CHECK(as_quoted(word.substr(0, longest_quoted - 1)) == word.substr(0, longest_quoted - 1));
}

}  // namespace etalon
