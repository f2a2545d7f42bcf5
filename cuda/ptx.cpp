#include "cuda/ptx.hpp"

#include <algorithm>
#include <array>

namespace etalon::cuda {

namespace {

constexpr std::string_view spaces = " \t\r\v\f";

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(spaces);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

/// Takes what stands before the first of the marks, and the mark.
std::string_view taken(std::string_view& rest, std::string_view marks) {
  const std::size_t end = std::min(rest.find_first_of(marks), rest.size());
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return head;
}

bool is_real(std::string_view suffix) {
  constexpr std::array<std::string_view, 7> reals{"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"};
  return std::ranges::find(reals, suffix) != reals.end();
}

class Reading {
 public:
  std::vector<PtxFinding> all(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      read_line(taken(text, "\n"));
    }
    return std::move(found_);
  }

 private:
  void read_line(std::string_view line) {
    line = line.substr(0, line.find("//"));
    read_name(line);
    while (!line.empty()) read(without_spaces(taken(line, ";{}")));
  }

  /// `.visible .entry NAME(` and `.func (.param .b32 r) NAME(`.
  void read_name(std::string_view line) {
    const std::size_t entry = line.find(".entry "), function = line.find(".func ");
    if (entry == std::string_view::npos && function == std::string_view::npos) return;
    line.remove_prefix(entry != std::string_view::npos ? entry + 7 : function + 6);
    line = without_spaces(line);
    if (line.starts_with('(')) {
      (void)taken(line, ")");
      line = without_spaces(line);
    }
    function_ = std::string(without_spaces(taken(line, "(")));
  }

  void read(std::string_view statement) {
    if (statement.starts_with('@')) {
      (void)taken(statement, spaces);
      statement = without_spaces(statement);
    }
    const std::string_view name = taken(statement, spaces);
    std::string_view rest = name;
    const std::string_view opcode = taken(rest, ".");
    if (opcode.empty()) return;
    bool on_reals = false;
    while (!rest.empty()) {
      const std::string_view suffix = taken(rest, ".");
      if (suffix == "approx" || (opcode == "div" && suffix == "full")) note(PtxFinding::Kind::approximate, name);
      if (suffix == "ftz") note(PtxFinding::Kind::flushing, name);
      on_reals = on_reals || is_real(suffix);
    }
    if (on_reals && (opcode == "atom" || opcode == "red")) note(PtxFinding::Kind::unordered, name);
  }

  void note(PtxFinding::Kind kind, std::string_view name) { found_.push_back({kind, function_, std::string(name), line_}); }

  std::size_t line_ = 0;
  std::string function_;
  std::vector<PtxFinding> found_;
};

}  // namespace

std::vector<PtxFinding> findings_in_ptx(std::string_view ptx) { return Reading().all(ptx); }

}  // namespace etalon::cuda
