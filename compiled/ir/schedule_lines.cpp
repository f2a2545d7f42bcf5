#include "compiled/ir/schedule_lines.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "compiled/ir/lanes.hpp"

namespace etalon::compiled::loops {

namespace {

/// Calls `visit(line, word, member)` for each member but reasons, line by line.
template <class AnySchedule, class Visit>
void for_each_word(AnySchedule& s, const Visit& visit) {
  visit("tile", "rows", s.tile_rows);
  visit("tile", "columns", s.tile_columns);
  visit("tile", "lanes", s.lanes);
  visit("tile", "across", s.across);
  visit("pack", "left", s.left.layout);
  visit("pack", "right", s.right.layout);
  visit("block", "rows", s.block_rows);
  visit("block", "columns", s.block_columns);
  visit("block", "columns_outside", s.columns_outside);
  visit("block", "ahead", s.fetch_ahead);
  visit("steps", "unroll", s.unroll);
  visit("steps", "side_by_side", s.side_by_side);
  visit("steps", "shared", s.shared_taps);
  visit("steps", "guards", s.guards_taps);
  visit("depth", "level", s.depth.level);
  visit("depth", "turns", s.depth.turns);
  visit("depth", "inside", s.depth.inside);
  visit("depth", "blocks", s.depth.blocks);
  visit("depth", "taps", s.depth.taps);
  visit("binders", "row", s.row);
  visit("binders", "column", s.column);
}

/// Calls `visit(side, reason)` for each reason; its own has no side.
template <class AnySchedule, class Visit>
void for_each_reason(AnySchedule& s, const Visit& visit) {
  visit("left", s.left.reason);
  visit("right", s.right.reason);
  visit("", s.reason);
}

template <class Number>
std::string word(Number value) {
  return std::to_string(value);
}
std::string word(bool value) { return value ? "on" : "off"; }
std::string word(Layout value) { return std::string(layout_names[static_cast<std::size_t>(value)]); }

template <class Number>
void read(LineReader& line, Number& value) {
  value = static_cast<Number>(line.integer(0, largest_extent));
}
void read(LineReader& line, unsigned& value) { value = static_cast<unsigned>(line.integer(1, most_lanes)); }
void read(LineReader& line, bool& value) {
  value = line.accept("on");
  if (!value && !line.accept("off")) line.fail("on or off");
}
void read(LineReader& line, Layout& value) {
  const auto found = std::find_if(layout_names.begin(), layout_names.end(), [&](std::string_view name) { return line.accept(name); });
  if (found == layout_names.end()) line.fail("in_place, panels, rows or margins");
  value = static_cast<Layout>(found - layout_names.begin());
}

/// The row whose instruction the line names.
template <class Row>
const Row& read_row(const TextLine& text, const KnownNames& known, std::string_view word, std::span<const Row> rows, const char* expected) {
  LineReader line(text, known);
  line.expect(word);
  for (const Row& row : rows) {
    if (!line.accept(name_of(*row.instruction))) continue;
    line.end();
    return row;
  }
  line.fail(expected);
}

}  // namespace

std::vector<std::string> schedule_lines(const Schedule& schedule) {
  std::vector<std::string> lines;
  std::string_view at_hand;
  for_each_word(schedule, [&](std::string_view of, std::string_view name, const auto& value) {
    if (of != at_hand) lines.emplace_back(of);
    at_hand = of;
    lines.back() += fmt::format(" {}={}", name, word(value));
  });
  if (schedule.fragments != nullptr) lines.push_back(fmt::format("fragments {}", name_of(*schedule.fragments->instruction)));
  if (schedule.adder != nullptr) lines.push_back(fmt::format("adder {}", name_of(*schedule.adder->instruction)));
  for_each_reason(schedule, [&](const std::string& side, const std::string& why) {
    if (!why.empty()) lines.push_back(fmt::format("{}{}because {}", side, side.empty() ? "" : " ", why));
  });
  return lines;
}

void read_schedule(Schedule& schedule, const KnownNames& known, const NextLine& next) {
  std::string_view at_hand;
  std::optional<LineReader> line;
  for_each_word(schedule, [&](std::string_view of, std::string_view name, auto& value) {
    if (of != at_hand) {
      if (line) line->end();
      line.emplace(*next(of, true), known);
      line->expect(of);
      at_hand = of;
    }
    line->expect(name);
    line->expect("=");
    read(*line, value);
  });
  line->end();
  if (const TextLine* found = next("fragments", false)) {
    schedule.fragments = &read_row(*found, known, "fragments", fragment_adders(), "an instruction that multiplies fragments");
  }
  if (const TextLine* found = next("adder", false)) schedule.adder = &read_row(*found, known, "adder", term_adders(), "an instruction that adds several terms at once");
  for_each_reason(schedule, [&](std::string_view side, std::string& why) {
    const TextLine* found = next(side.empty() ? "because" : side, false);
    if (found == nullptr) return;
    LineReader reader(*found, known);
    reader.expect(side);
    if (!reader.is("because")) reader.fail("'because'");
    why = reader.rest();
  });
}

}  // namespace etalon::compiled::loops
