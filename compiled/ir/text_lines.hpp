/// \file
/// A text whose indentations say what belongs to what, line by line. It knows no line's meaning.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::compiled::loops {

/// A line, and where it stands.
struct TextLine {
  std::string_view text;
  std::string_view file;  ///< for messages
  std::size_t number = 0;
  std::size_t depth = 0;  ///< indentations before it

  /// \param column from 1 \throws SpecViolation `FILE:LINE:COLUMN: WHY`, always
  [[noreturn]] void refuse(const std::string& why, std::size_t column) const;
};

/// The lines that say something, one after the other: neither empty nor comments.
class TextLines {
 public:
  /// \param text, file outlive it \throws SpecViolation for blanks before a line that are no indentation
  TextLines(std::string_view text, std::string_view file);

  [[nodiscard]] bool at_end() const { return next_ == lines_.size(); }
  [[nodiscard]] bool at(std::size_t depth) const { return !at_end() && next().depth == depth; }
  [[nodiscard]] const TextLine& next() const { return lines_[next_]; }
  /// The line that was taken last.
  [[nodiscard]] const TextLine& last() const { return lines_[next_ - 1]; }
  const TextLine& take() { return lines_[next_++]; }
  /// The next line, which belongs to the one before it.
  /// \param expected what it is, for messages \throws SpecViolation where it stands elsewhere, or there is none
  const TextLine& take(std::size_t depth, std::string_view expected);
  /// The line that was taken last is the next one again.
  void put_back() { --next_; }
  /// \throws SpecViolation always: the next line belongs to none
  [[noreturn]] void refuse_deeper() const;

 private:
  std::vector<TextLine> lines_;
  std::size_t next_ = 0;
};

}  // namespace etalon::compiled::loops
