#include "tools/log/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "spec/program/number_text.hpp"
#include "spec/quoted.hpp"
#include "tools/log/outline.hpp"

namespace etalon::logging {

namespace {

constexpr std::string_view last_line = "end";

void write(const std::vector<Entry>& entries, std::size_t depth, std::string& text) {
  for (const Entry& e : entries) {
    text.append(2 * depth, ' ').append(e.line) += '\n';
    write(e.inside, depth + 1, text);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The extents' product, or nothing where it is more than `most`.
std::optional<std::size_t> count_up_to(const Dims& dims, std::size_t most) {
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : dims) empty = empty || extent == 0;
  if (empty) return 0;
  for (const std::int64_t extent : dims) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) || count > most) return std::nullopt;
  }
  return count;
}

/// Reads a log from its first line to its last.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : lines_(lines_of(text)), name_(name) {}

  Log run() {
    expect("etalon log 1", "a log of Etalon, whose first line is 'etalon log 1'");
    if (lines_.back() != last_line) throw SpecViolation(name_ + ": the log is cut: its last line is not 'end'");
    (void)quoted_after("program ", log_.file);
    (void)after("specification ");
    (void)quoted_after("backend ", log_.backend);
    contract(after("contract "));
    elements(after("elements "));
    program();
    numbers();
    return std::move(log_);
  }

  /// Every line must be the one that is written for what was read.
  void compare(const Log& log) const {
    const std::string text = to_text(log);
    const std::vector<std::string_view> expected = lines_of(text);
    for (std::size_t i = 0; i < std::max(lines_.size(), expected.size()); ++i) {
      if (i < lines_.size() && i < expected.size() && lines_[i] == expected[i]) continue;
      const std::string_view wanted = i < expected.size() ? expected[i] : "nothing more";
      const std::string_view found = i < lines_.size() ? lines_[i] : "nothing more";
      const auto first = static_cast<std::size_t>(std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end()).first - wanted.begin());
      const std::size_t from = first > 20 ? first - 20 : 0;
      throw SpecViolation(fmt::format("{}: line {}: expected '{}', which follows from the program and the numbers that were held, found '{}'", name_, i + 1,
                                      as_quoted(part(wanted, from)), as_quoted(part(found, from))));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw SpecViolation(fmt::format("{}: line {}: {}", name_, std::min(at_ + 1, lines_.size()), what)); }

  /// From about there on, between characters of UTF-8.
  static std::string_view part(std::string_view line, std::size_t from) {
    from = std::min(from, line.size());
    while (from > 0 && from < line.size() && (static_cast<unsigned char>(line[from]) & 0xC0U) == 0x80U) --from;
    return line.substr(from);
  }

  void expect(std::string_view line, std::string_view what) {
    if (at_ >= lines_.size() || lines_[at_] != line) {
      fail(fmt::format("expected {}, found '{}'", what, at_ < lines_.size() ? as_quoted(lines_[at_]) : std::string("nothing")));
    }
    ++at_;
  }

  /// What follows the word on this line.
  std::string_view after(std::string_view word) {
    if (at_ >= lines_.size() || !lines_[at_].starts_with(word)) {
      fail(fmt::format("expected '{}…', found '{}'", word, at_ < lines_.size() ? as_quoted(lines_[at_]) : std::string("nothing")));
    }
    return lines_[at_++].substr(word.size());
  }

  std::string_view quoted_after(std::string_view word, std::string& to) {
    const std::string_view rest = after(word);
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2U : 1U;
    const nlohmann::json value = nlohmann::json::parse(rest.substr(0, std::min(end + 1, rest.size())), nullptr, false);
    if (!value.is_string()) {
      --at_;
      fail(fmt::format("expected a text in quotes after '{}'", word));
    }
    to = value.get<std::string>();
    return rest.substr(std::min(end + 1, rest.size()));
  }

  void contract(std::string_view json) {
    try {
      log_.contract = spec::parse_contract(json);
    } catch (const std::exception& error) {
      --at_;
      fail(error.what());
    }
  }

  void elements(std::string_view text) {
    std::size_t number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong == std::errc() && end == text.data() + text.size()) {
      log_.elements = number;
      return;
    }
    --at_;
    fail("expected a number of elements");
  }

  void program() {
    std::string text;
    while (at_ < lines_.size() && lines_[at_].starts_with("|")) {
      text.append(lines_[at_].substr(std::min<std::size_t>(2, lines_[at_].size()))) += '\n';
      ++at_;
    }
    try {
      log_.meaning = meaning_of(spec::parse_program(text));
    } catch (const std::exception& error) {
      throw SpecViolation(name_ + ": " + error.what());
    }
    const spec::System& system = log_.meaning.system;
    for (std::size_t t = 0; t < system.tensors.size(); ++t) ids_.emplace(system.tensors[t].name, t);
    log_.values.resize(system.tensors.size());
  }

  /// Lines `NAME : TYPE = NUMBERS`, wherever they stand; other lines are looked at by `compare`.
  void numbers() {
    for (; at_ < lines_.size(); ++at_) {
      std::string_view line = lines_[at_];
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos || line.substr(space, 3) != " : ") continue;
      const auto found = ids_.find(std::string(line.substr(0, space)));
      if (found == ids_.end()) fail(fmt::format("the program has no value {}", as_quoted(line.substr(0, space))));
      if (log_.values[found->second]) fail(fmt::format("{} stands here a second time", found->first));
      const std::size_t sign = line.find(" = ");
      if (sign == std::string_view::npos) fail("expected ' = ' and numbers");
      log_.values[found->second] = tensor(log_.meaning.system.tensors[found->second], line.substr(sign + 3));
    }
    for (const spec::TensorId t : log_.meaning.system.inputs) {
      auto& value = log_.values[static_cast<std::size_t>(t)];
      if (!value) throw SpecViolation(fmt::format("{}: the numbers of input {} are missing", name_, log_.meaning.system[t].name));
      const auto& stated = log_.meaning.program.inputs[log_.inputs.size()].value;
      if (stated && !(*stated == *value)) throw SpecViolation(fmt::format("{}: constant {} has other numbers than in the program", name_, log_.meaning.system[t].name));
      log_.inputs.push_back(std::move(*value));
      value.reset();
    }
    try {
      verify_inputs(log_.meaning.program, log_.inputs);
    } catch (const SpecViolation& error) {
      throw SpecViolation(name_ + ": " + error.what());
    }
  }

  /// Memory is taken for as many numbers as there are.
  [[nodiscard]] HostTensor tensor(const spec::TensorInfo& info, std::string_view text) const {
    const std::size_t commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
    if (info.dims.rank > 0) {
      if (text.size() < 2 || text.front() != '[' || text.back() != ']') fail(fmt::format("expected the numbers of {} in brackets", info.name));
      text = text.substr(1, text.size() - 2);
    }
    const std::size_t found = text.empty() ? 0 : commas + 1;
    const auto wanted = count_up_to(info.dims, found);
    if (!wanted || *wanted != found) fail(fmt::format("{}{} has other than {} numbers", info.name, to_string(info.dims), found));
    HostTensor result(info.dtype, info.dims);
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t end = std::min(text.find(','), text.size());
      const std::string_view token = text.substr(0, end);
      if (!spec::read_element(token, result, i)) fail(fmt::format("expected an element of type {}, found '{}'", name_of(info.dtype), as_quoted(token)));
      text.remove_prefix(std::min(end + 2, text.size()));
    }
    return result;
  }

  std::vector<std::string_view> lines_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::unordered_map<std::string, std::size_t> ids_;
  Log log_;
};

}  // namespace

std::string to_text(const Log& log) {
  std::string text;
  for (const std::string& line : heading(log)) text += line + "\n";
  for (const std::string& line : program_lines(log)) text += "| " + line + "\n";
  text += "given\n";
  write(given(log), 1, text);
  write(outline(log), 0, text);
  return text + std::string(last_line) + "\n";
}

Log parse_log(std::string_view text, const std::string& name) {
  Reader reader(text, name);
  Log log = reader.run();
  reader.compare(log);
  return log;
}

}  // namespace etalon::logging
