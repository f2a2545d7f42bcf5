#include "spec/program/wishes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "spec/error.hpp"
#include "spec/program/fault.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

constexpr std::array<std::pair<Asked, std::string_view>, 3> words{
    {{Asked::capture, "capture"}, {Asked::stored, "stored"}, {Asked::inlined, "inlined"}}};

/// Who else needs the value in memory, or nothing.
[[nodiscard]] std::string who_needs(const Program& program, const std::string& value) {
  for (const Input& input : program.inputs) {
    if (input.name != value) continue;
    const std::string where = position(input.source);
    return fmt::format("input {}{}, which is in memory before a run", value, where.empty() ? "" : " at " + where);
  }
  if (std::find(program.outputs.begin(), program.outputs.end(), value) != program.outputs.end())
    return fmt::format("output {}, which is in memory after a run", value);
  const auto update =
      std::find_if(program.updates.begin(), program.updates.end(), [&](const Update& u) { return u.value == value; });
  if (update != program.updates.end())
    return fmt::format("update {} := {}, which is in memory after a run", update->parameter, value);
  return {};
}

void check_pair(const Wish& first, const Wish& second) {
  if (first.asked == second.asked)
    throw SpecViolation(fmt::format("{}: asked before by {}", summary(second), summary(first)));
  if (first.asked != Asked::inlined && second.asked != Asked::inlined) return;
  throw SpecViolation(
      fmt::format("{} excludes {}: a value that is inlined has no memory", summary(second), summary(first)));
}

}  // namespace

std::string_view word_of(Asked asked) { return words[static_cast<std::size_t>(asked)].second; }

std::optional<Asked> asked_by(std::string_view word) {
  for (const auto& [asked, known] : words) {
    if (known == word) return asked;
  }
  return std::nullopt;
}

std::string summary(const Wish& wish) {
  const std::string where = position(wish.source);
  return fmt::format("{} {}{}", word_of(wish.asked), as_quoted(wish.value), where.empty() ? "" : " at " + where);
}

void check_wishes(const Program& program,
                  const std::function<void(const std::string&, const std::string&)>& require_known) {
  std::map<std::string, std::vector<const Wish*>> seen;
  for (std::size_t i = 0; i < program.wishes.size(); ++i) {
    const Wish& wish = program.wishes[i];
    in_part(Part::wish, i, {wish.value}, [&] {
      require_known(wish.value, summary(wish));
      std::vector<const Wish*>& earlier = seen[wish.value];
      for (const Wish* other : earlier) check_pair(*other, wish);
      earlier.push_back(&wish);
      const std::string who = wish.asked == Asked::inlined ? who_needs(program, wish.value) : "";
      if (!who.empty()) throw SpecViolation(fmt::format("{} excludes {}", summary(wish), who));
    });
  }
}

std::vector<std::string> captures(const Program& program) {
  std::vector<std::string> names;
  for (const Wish& wish : program.wishes) {
    if (wish.asked == Asked::capture) names.push_back(wish.value);
  }
  return names;
}

Program with_captures(Program program) {
  for (std::string& name : captures(program)) {
    if (std::find(program.outputs.begin(), program.outputs.end(), name) == program.outputs.end())
      program.outputs.push_back(std::move(name));
  }
  return program;
}

}  // namespace etalon::spec
