/// \file
/// Lines of a source text with their indentation. It knows no language but that spaces may become line ends.
#pragma once

#include <string>
#include <string_view>

namespace etalon::compiled::source {

/// Text that grows by lines and nested blocks in braces.
class Text {
 public:
  explicit Text(int depth = 0) : depth_(depth) {}

  /// One statement; a long one continues on further lines, two levels deeper.
  void line(std::string_view statement);
  /// `// comment`, with nothing in it that could end a comment line early or go on on the next one.
  void comment(std::string_view what);
  /// As it is, without indentation: a line of the preprocessor, or nothing.
  void raw(std::string_view what);
  /// `head {`, or `{` without one, and everything until `close` one level deeper.
  void open(std::string_view head);
  /// Ends a block: `}` and what follows it.
  void close(std::string_view after = "");
  /// `} else {`.
  void otherwise();
  /// Lines that were written at their own depth.
  void append(const Text& inner) { all_ += inner.all_; }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] const std::string& str() const { return all_; }

 private:
  std::string all_;
  int depth_ = 0;
};

}  // namespace etalon::compiled::source
