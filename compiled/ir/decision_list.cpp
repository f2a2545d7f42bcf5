#include "compiled/ir/decision_list.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::compiled {

namespace {

std::string place_of(const std::string& where) { return where.empty() ? "schedule" : where; }

const DecisionKind* kind_named(std::string_view name) {
  const auto& all = decision_kinds();
  const auto found = std::find_if(all.begin(), all.end(), [&](const DecisionKind& k) { return k.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const DecisionKind& known_kind(const DecisionLine& line) {
  if (const DecisionKind* kind = kind_named(line.kind)) return *kind;
  std::vector<std::string> known;
  for (const DecisionKind& k : decision_kinds()) known.emplace_back(k.name);
  throw SpecViolation(place_of(line.where) + ": " + unknown_name("decision", line.kind, known));
}

/// The words in the kind's order, each once.
void arrange(DecisionLine& line) {
  const DecisionKind& kind = known_kind(line);
  const bool is_switch = kind.parameters.empty();
  if (line.words.size() == 1 && line.words[0].second.empty()) {
    if ((is_switch && line.is("on")) || (kind.has_off && line.is("off"))) return;
  }
  std::string usual = is_switch ? "on or off" : "";
  for (const std::string_view p : kind.parameters) usual += fmt::format("{}{}=…", usual.empty() ? "" : " ", p);
  if (!is_switch && kind.has_off) usual += ", or off";
  const auto refuse = [&](const std::string& found) { line.refuse(fmt::format("expected {}, found {}", usual, found)); };
  std::vector<std::pair<std::string, std::string>> words;
  for (const std::string_view p : kind.parameters) {
    const auto at = std::find_if(line.words.begin(), line.words.end(), [&](const auto& w) { return w.first == p; });
    if (at == line.words.end()) continue;
    words.push_back(*at);
    line.words.erase(at);
  }
  if (!line.words.empty()) refuse(line.words.front().first);
  if (words.size() != kind.parameters.size() || is_switch) refuse(words.empty() ? "nothing" : fmt::format("only {} of {} parameters", words.size(), kind.parameters.size()));
  line.words = std::move(words);
}

DecisionLine line_in(const std::string& text, std::string where) {
  DecisionLine line;
  line.where = std::move(where);
  std::istringstream in(text);
  in >> line.kind >> line.value;
  (void)known_kind(line);
  if (line.value.empty()) throw SpecViolation(fmt::format("{}: {}: expected the name of a value, found nothing", line.where, line.kind));
  for (std::string word; in >> word;) {
    const std::size_t sign = word.find('=');
    line.words.emplace_back(word.substr(0, sign), sign == std::string::npos ? "" : word.substr(sign + 1));
  }
  arrange(line);
  return line;
}

}  // namespace

const std::vector<DecisionKind>& decision_kinds() {
  static const std::vector<DecisionKind> all{
      {.name = "keep", .what = "a parameter lies in panels between runs", .parameters = {"axis", "width"}, .orders_sums = true},
      {.name = "lift", .what = "a long sum is added up in parts", .orders_sums = true},
      {.name = "wide", .what = "a value larger than what it is made of is computed by strips of rows, not stored", .orders_sums = true},
      {.name = "strip", .what = "rows of a strip, and of the tiles in it", .parameters = {"rows", "tile_rows"}, .has_off = false},
      {.name = "tile", .what = "sums that are held in registers; off: plain loops, which add in another order", .parameters = {"rows", "columns"}},
      {.name = "pack", .what = "how the factors lie when tiles read them: in_place, panels, rows or margins", .parameters = {"left", "right"}, .has_off = false},
      {.name = "block", .what = "tiles that use a panel one after the other, and what is fetched ahead", .parameters = {"rows", "columns", "outside", "ahead"}, .has_off = false},
      {.name = "steps", .what = "of the depth in one turn, blocks of them side by side, and those that share loads", .parameters = {"unroll", "side_by_side", "shared"}, .has_off = false},
      {.name = "piece", .what = "a copy of a factor is made piece by piece in the turns that read it"},
      {.name = "pass", .what = "a sum over rows is added up while another kernel visits the rows", .orders_sums = true},
      {.name = "recompute", .what = "a cheap value is computed again by each reader", .orders_sums = true},
      {.name = "join", .what = "an equation shares outer loops of the kernel that computes a value; off: a kernel of its own", .parameters = {"with", "loops"}, .orders_sums = true},
      {.name = "lanes", .what = "a loop over elements of a result runs in lanes; it is counted from the outermost. Loops that add up have lanes by their form alone", .parameters = {"loop", "width"}},
      {.name = "stream", .what = "a result that nobody reads again is stored past the caches"},
      {.name = "copy", .what = "on a grid, pieces of a tile's factors in shared memory, of which the next ones are copied there while one is multiplied; off: one, through registers", .parameters = {"stages"}},
      {.name = "fetch", .what = "the next row of a tensor is asked for while the one at hand is worked on, wherever it comes in rows"},
  };
  return all;
}

std::string_view DecisionLine::word(std::string_view parameter) const {
  const auto at = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == parameter; });
  return at == words.end() ? std::string_view() : std::string_view(at->second);
}

std::int64_t DecisionLine::number(std::string_view parameter, std::int64_t least, std::int64_t most) const {
  const std::string_view text = word(parameter);
  std::int64_t found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error != std::errc() || end != text.data() + text.size() || found < least || found > most) {
    refuse(fmt::format("{} is from {} to {}, found '{}'", parameter, least, most, text));
  }
  return found;
}

void DecisionLine::refuse(const std::string& why) const { throw SpecViolation(fmt::format("{}: {} {}: {}", place_of(where), kind, value, why)); }

DecisionLine switched(std::string kind, std::string value, bool on) {
  return {std::move(kind), std::move(value), {{on ? "on" : "off", ""}}, {}};
}

std::string to_text(const DecisionLine& line) {
  std::string text = line.kind + " " + line.value;
  for (const auto& [name, value] : line.words) text += value.empty() ? " " + name : fmt::format(" {}={}", name, value);
  return text;
}

std::string to_text(std::span<const DecisionLine> lines) {
  std::string text;
  for (const DecisionLine& line : lines) text += to_text(line) + "\n";
  return text;
}

std::vector<DecisionLine> decisions_in(const std::string& text, const std::string& file) {
  std::vector<DecisionLine> lines;
  std::istringstream in(text);
  std::size_t number = 0;
  for (std::string row; std::getline(in, row);) {
    ++number;
    row = row.substr(0, row.find(" #"));
    if (row.starts_with('#') || row.find_first_not_of(" \t\r") == std::string::npos) continue;
    DecisionLine line = line_in(row, fmt::format("{}:{}", file, number));
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const DecisionLine& l) { return l.kind == line.kind && l.value == line.value; });
    if (same != lines.end()) line.refuse("it was decided before, at " + same->where);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> addresses(const spec::System& system) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::string> all;
  for (const spec::Equation& e : system.equations) {
    const std::string& name = system[e.target].name;
    const std::size_t number = ++seen[name];
    all.push_back(number == 1 ? name : fmt::format("{}#{}", name, number));
  }
  return all;
}

const DecisionLine* Deciding::given(std::string_view kind, std::string_view value) const {
  const auto found = std::find_if(given_.begin(), given_.end(), [&](const DecisionLine& l) { return l.kind == kind && l.value == value; });
  return found == given_.end() ? nullptr : &*found;
}

bool Deciding::gives(std::string_view kind) const {
  return std::any_of(given_.begin(), given_.end(), [&](const DecisionLine& l) { return l.kind == kind; });
}

bool Deciding::on(std::string_view kind, std::string_view value, bool by_cost) const {
  const DecisionLine* line = given(kind, value);
  return line == nullptr ? by_cost : line->is("on");
}

void Deciding::take(DecisionLine line) {
  const DecisionLine* wish = given(line.kind, line.value);
  if (wish != nullptr && wish->words != line.words) wish->refuse(fmt::format("'{}' cannot be here; '{}' is what can", to_text(*wish), to_text(line)));
  taken_.push_back(std::move(line));
}

void Deciding::check_all_taken() const {
  if (given_.empty()) return;
  std::map<std::string, std::set<std::string>> values;
  for (const DecisionLine& line : taken_) values[line.kind].insert(line.value);
  for (const DecisionLine& wish : given_) {
    const std::set<std::string>& of_kind = values[wish.kind];
    if (of_kind.contains(wish.value)) continue;
    const std::vector<std::string> known(of_kind.begin(), of_kind.end());
    wish.refuse("there is nothing of this kind to decide here" + (known.empty() ? "" : "; did you mean '" + nearest_name(wish.value, known) + "'?"));
  }
}

}  // namespace etalon::compiled
