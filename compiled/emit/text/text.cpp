#include "compiled/emit/text/text.hpp"

#include <cctype>

namespace etalon::compiled::source {

namespace {

constexpr std::size_t longest_line = 120;

std::string indentation(int depth) { return std::string(static_cast<std::size_t>(depth) * 2, ' '); }

/// Where a line that is too long may end: the last space before the limit, or the first after it.
std::size_t break_of(std::string_view text, std::size_t room) {
  const std::size_t before = text.rfind(' ', room);
  return before != std::string_view::npos && before > 0 ? before : text.find(' ', room);
}

}  // namespace

void Text::line(std::string_view statement) {
  std::string indent = indentation(depth_);
  while (indent.size() + statement.size() > longest_line) {
    const std::size_t at = break_of(statement, longest_line - indent.size());
    if (at == std::string_view::npos) break;
    all_ += indent + std::string(statement.substr(0, at)) + "\n";
    statement.remove_prefix(at + 1);
    indent = indentation(depth_ + 2);
  }
  all_ += indent + std::string(statement) + "\n";
}

void Text::comment(std::string_view what) {
  std::string plain;
  for (const char c : what) plain += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  // A backslash at the end would make the next line part of the comment, and so would its trigraph.
  while (!plain.empty() && (plain.back() == '\\' || plain.back() == '/' || plain.back() == ' ')) plain.pop_back();
  all_ += indentation(depth_) + (plain.empty() ? "//" : "// " + plain) + "\n";
}

void Text::raw(std::string_view what) { all_ += std::string(what) + "\n"; }

void Text::open(std::string_view head) {
  line(head.empty() ? "{" : std::string(head) + " {");
  ++depth_;
}

void Text::close(std::string_view after) {
  --depth_;
  line("}" + std::string(after));
}

void Text::otherwise() {
  --depth_;
  open("} else");
}

}  // namespace etalon::compiled::source
