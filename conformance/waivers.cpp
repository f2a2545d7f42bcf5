#include "conformance/waivers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/conform.hpp"
#include "conformance/plan.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/protocol/fields.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;
namespace fields = spec::fields;

using Names = std::vector<std::string>;

template <std::size_t n>
std::string choice(const Json& json, std::string_view key, const std::string& where, const std::array<std::string_view, n>& names) {
  const Json* member = fields::optional_member(json, key, where);
  if (member == nullptr) return "";
  const std::string field = fields::key(where, key);
  const std::string& text = fields::string(*member, field);
  if (std::find(names.begin(), names.end(), text) == names.end())
    throw SpecViolation(fmt::format("{}: {}", field, unknown_name(key, text, Names(names.begin(), names.end()))));
  return text;
}

std::string text_of(const Json& json, std::string_view key, const std::string& where) {
  const std::string field = fields::key(where, key);
  const Json& member = fields::member(json, key, where);
  const std::string& text = fields::string(member, field);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) fields::mismatch(field, "words", member);
  return text;
}

bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  std::array<int, 3> parts{};
  constexpr std::array<std::size_t, 4> starts{0, 5, 8, 11};
  for (std::size_t i = 0; i < 3; ++i) {
    const char* begin = text.data() + starts[i];
    const char* end = text.data() + starts[i + 1] - 1;
    const auto [stop, error] = std::from_chars(begin, end, parts[i]);
    if (error != std::errc() || stop != end || *begin == '-') return false;
  }
  return std::chrono::year_month_day(std::chrono::year(parts[0]), std::chrono::month(static_cast<unsigned>(parts[1])),
                                     std::chrono::day(static_cast<unsigned>(parts[2])))
      .ok();
}

void refuse_other_keys(const Json& json, const std::string& where, const Names& known) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw SpecViolation(fmt::format("{}: {}", where, unknown_name("key", key, known)));
  }
}

/// One name, or a list of names.
Names operations_in(const Json& json, const std::string& where, const spec::Library& library) {
  const Json& field = fields::member(json, "operation", where);
  Names operations;
  if (field.is_array() && !field.empty()) {
    for (std::size_t i = 0; i < field.size(); ++i)
      operations.push_back(fields::string(field[i], fields::item(fields::key(where, "operation"), i)));
  } else {
    operations.push_back(text_of(json, "operation", where));
  }
  for (const std::string& operation : operations) {
    if (library.find(operation) != nullptr) continue;
    Names names;
    for (const spec::Definition* d : library.definitions()) names.emplace_back(d->name);
    throw SpecViolation(fmt::format("{}.operation: {}", where, unknown_name("operation", operation, names)));
  }
  return operations;
}

Waiver waiver_in(const Json& json, const std::string& where, const spec::Library& library) {
  fields::require_object(json, where);
  refuse_other_keys(json, where, {"operation", "mode", "check", "dtype", "tier", "reason", "expires"});
  Waiver w;
  w.operations = operations_in(json, where, library);
  w.mode = choice(json, "mode", where, spec::mode_names);
  w.check = choice(json, "check", where, check_names);
  w.dtype = choice(json, "dtype", where, real_dtype_names);
  w.tier = choice(json, "tier", where, tier_names);
  w.reason = text_of(json, "reason", where);
  w.expires = text_of(json, "expires", where);
  if (!is_date(w.expires)) fields::mismatch(where + ".expires", "a date like 2027-01-31", json.at("expires"));
  return w;
}

std::string today(const ConformOptions& options) {
  if (!options.today.empty()) return options.today;
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

bool says(const std::string& wish, std::string_view word) { return wish.empty() || wish == word; }

bool names(const Waiver& w, const std::string& operation) {
  return std::find(w.operations.begin(), w.operations.end(), operation) != w.operations.end();
}

// A program may have been drawn for one operation and fail at another that it calls.
bool names(const Waiver& w, const Record& r) {
  return names(w, r.operation) ||
         std::any_of(r.outcome.calls.begin(), r.outcome.calls.end(), [&](const std::string& call) { return names(w, call); });
}

bool matches(const Waiver& w, const Record& r) {
  return names(w, r) && says(w.mode, r.mode) && says(w.check, r.check) && says(w.dtype, r.dtype);
}

// Whether the unit may hold cases of that mode; of checks that ask in several modes every mode.
bool may_ask(Check check, const std::string& mode) {
  switch (check) {
    case Check::value:
    case Check::step:
    case Check::rejection: return says(mode, name_of(spec::Mode::forward));
    case Check::jvp: return says(mode, name_of(spec::Mode::jvp));
    case Check::vjp: return says(mode, name_of(spec::Mode::vjp));
    default: return true;
  }
}

bool is_about(const Waiver& w, const Unit& unit) {
  return names(w, unit.operation) && says(w.dtype, name_of(unit.dtype)) && says(w.check, name_of(unit.check)) &&
         may_ask(unit.check, w.mode);
}

// What the run asks, beside what a run without a selection asks, and beside what any run asks.
struct Plans {
  explicit Plans(const ConformOptions& options) {
    for (const Unit& unit : plan(options)) asked.insert(key(unit));
    ConformOptions all = options;
    all.operations.clear();
    all.modes.clear();
    all.dtypes.clear();
    all.shard = {};
    everything = plan(all);
    // Types may be asked that are not among those of the tier.
    std::set<std::string> known;
    for (const Unit& unit : everything) known.insert(key(unit));
    for (const Unit& unit : plan(options)) {
      if (!known.contains(key(unit))) everything.push_back(unit);
    }
    all.dtypes.assign(real_dtypes.begin(), real_dtypes.end());
    ever = plan(all);
  }

  static std::string key(const Unit& u) {
    return fmt::format("{}.{}.{}", u.operation, name_of(u.check), name_of(u.dtype));
  }
  [[nodiscard]] bool is_asked(const Unit& unit) const { return asked.contains(key(unit)); }

  std::set<std::string> asked;
  std::vector<Unit> everything, ever;
};

bool is_of_this_tier(const Waiver& w, Tier tier) {
  const auto least = std::find(tier_names.begin(), tier_names.end(), w.tier);
  return least == tier_names.end() || least - tier_names.begin() <= static_cast<int>(tier);
}

// What is wrong with a waiver that matched so many failures; nothing where this run cannot know.
std::string complaint(const Waiver& w, std::size_t matched, const Plans& plans, const ConformOptions& options) {
  std::size_t about = 0, asked = 0;
  bool ever = false;
  for (const Unit& unit : plans.everything) {
    if (!is_about(w, unit)) continue;
    ++about;
    asked += plans.is_asked(unit) ? 1 : 0;
  }
  for (const Unit& unit : plans.ever) ever = ever || is_about(w, unit);
  const bool chosen = std::any_of(plans.everything.begin(), plans.everything.end(), [&](const Unit& unit) {
    return names(w, unit.operation) && plans.is_asked(unit);
  });
  if (chosen && !ever) return "is about cases that there are not";
  if (asked > 0 && w.expires < today(options)) return fmt::format("expired on {}", w.expires);
  if (asked > 0 && asked == about && matched == 0 && is_of_this_tier(w, options.tier)) return "matches no failure; remove it";
  return "";
}

}  // namespace

std::vector<Waiver> parse_waivers(std::string_view text, const std::string& name, const spec::Library& library) {
  try {
    const Json json = spec::parse_json(text, "waivers");
    fields::require_object(json, "waivers");
    refuse_other_keys(json, "waivers", {"schema", "about", "waivers"});
    if (const Json& schema = fields::member(json, "schema", ""); schema != 1) fields::mismatch("schema", "1", schema);
    const Json& list = fields::array(fields::member(json, "waivers", ""), "waivers");
    std::vector<Waiver> waivers;
    for (std::size_t i = 0; i < list.size(); ++i) waivers.push_back(waiver_in(list[i], fields::item("waivers", i), library));
    return waivers;
  } catch (const SpecViolation& error) {
    throw SpecViolation(fmt::format("{}: {}", name, error.what()));
  }
}

void apply_waivers(Report& report, const std::vector<Waiver>& waivers, const ConformOptions& options) {
  if (waivers.empty()) return;
  const Plans plans(options);
  const std::string now = today(options);
  std::vector<std::size_t> matched(waivers.size(), 0);
  for (Record& r : report.records) {
    if (!is_bad(r.outcome.verdict)) continue;
    for (std::size_t i = 0; i < waivers.size(); ++i) {
      const Waiver& w = waivers[i];
      if (!matches(w, r) || w.expires < now) continue;
      ++matched[i];
      if (r.waived) continue;
      r.waived = Waived{w.reason, w.expires, r.outcome.verdict};
      r.outcome.verdict = Verdict::waived;
    }
  }
  for (std::size_t i = 0; i < waivers.size(); ++i) {
    const Waiver& w = waivers[i];
    report.waivers.push_back({fmt::format("{}", fmt::join(w.operations, ", ")), w.mode, w.check, w.dtype, w.reason, w.expires, matched[i]});
    const std::string wrong = complaint(w, matched[i], plans, options);
    if (!wrong.empty()) report.waiver_errors.push_back(fmt::format("waiver {} ({}): {}", i + 1, words_of(report.waivers.back()), wrong));
  }
}

}  // namespace etalon::conformance
