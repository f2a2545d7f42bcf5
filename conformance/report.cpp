#include "conformance/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "conformance/values.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

using Json = nlohmann::ordered_json;

Json ratio(double r) {
  if (std::isfinite(r)) return r;
  return "inf";
}

std::string number_text(double v) { return fmt::format("{:.9g}", v); }

std::string values_text(const HostTensor& t) {
  constexpr std::size_t shown = 16;
  std::string text = fmt::format("{}{}", name_of(t.dtype), to_string(t.dims)) + " {";
  const auto count = static_cast<std::size_t>(t.dims.count());
  for (std::size_t i = 0; i < std::min(count, shown); ++i) text += (i ? ", " : "") + number_text(element(t, i));
  if (count > shown) text += fmt::format(", … {} more", count - shown);
  return text + "}";
}

struct Cell {
  std::size_t comparisons = 0, cases = 0, unsupported = 0, undecided = 0, bad = 0;
  double worst = 0;
  void add(const Record& r) {
    comparisons += r.outcome.comparisons;
    undecided += r.outcome.undecided;
    ++cases;
    const Verdict v = r.outcome.verdict;
    if (v == Verdict::unsupported) ++unsupported;
    if (v == Verdict::fail || v == Verdict::crashed || v == Verdict::timeout) ++bad;
    if (v == Verdict::pass) worst = std::max(worst, r.outcome.worst_ratio);
  }
  [[nodiscard]] std::string text() const {
    if (cases == 0) return "-";
    if (bad > 0) return fmt::format("FAIL {}/{}", bad, cases);
    if (unsupported == cases) return "unsupported";
    return fmt::format("{} ({:.2f})", comparisons, worst);
  }
};

// The columns of the table: what is asked of values, of both derivatives, and the rest.
constexpr std::array columns{"forward", "jvp", "vjp", "step", "adjoint", "other"};

std::size_t column_of(const Record& r) {
  switch (r.key.check) {
    case Check::value:
      return 0;
    case Check::jvp:
      return 1;
    case Check::vjp:
      return 2;
    case Check::step:
      return 3;
    case Check::adjoint:
      return 4;
    default:
      return 5;
  }
}

void write_totals(std::ostream& out, const Totals& t, double seconds) {
  out << fmt::format(
      "{} pass, {} fail, {} unsupported, {} waived, {} undecided, {} crashed, {} timeout; {} comparisons, "
      "{:.3f} % of them undecided; {:.1f} s\n",
      t.of(Verdict::pass), t.of(Verdict::fail), t.of(Verdict::unsupported), t.of(Verdict::waived),
      t.of(Verdict::undecided), t.of(Verdict::crashed), t.of(Verdict::timeout), t.comparisons,
      t.comparisons == 0 ? 0.0 : 100.0 * static_cast<double>(t.undecided) / static_cast<double>(t.comparisons),
      seconds);
}

std::string first_difference(const Offender& o) {
  const std::string where = fmt::format("{}[{}]", o.tensor, o.element);
  const bool interval = !std::isnan(o.lower);
  std::string expected = interval ? fmt::format("in [{:.9g}, {:.9g}]", o.lower, o.upper) : std::string();
  if (!o.expected.empty()) expected += (interval ? " or " : "") + o.expected;
  return fmt::format("    {}: expected {}, got {:.9g}\n", where, expected, o.got);
}

}  // namespace

void Totals::add(const Record& record) {
  ++verdicts[static_cast<std::size_t>(record.outcome.verdict)];
  comparisons += record.outcome.comparisons;
  undecided += record.outcome.undecided;
}

std::vector<std::string> undecided_operations(const std::vector<Record>& records) {
  std::map<std::string, Cell> cells;
  for (const Record& r : records) cells[r.key.operation].add(r);
  std::vector<std::string> names;
  for (const auto& [name, cell] : cells) {
    if (cell.undecided * 100 > cell.comparisons) names.push_back(name);
  }
  return names;
}

namespace {

// Whether all numbers come from a density: those of lattices, ties or nearly equal numbers have no independent roundings.
bool is_drawn_from_densities(const Record& r) {
  constexpr std::array densities{Family::normal, Family::unit, Family::positive};
  for (int f = 0; f <= static_cast<int>(Family::special); ++f) {
    const auto family = static_cast<Family>(f);
    const bool met = std::find(r.classes.begin(), r.classes.end(), name_of(family)) != r.classes.end();
    if (met && std::find(densities.begin(), densities.end(), family) == densities.end()) return false;
  }
  return true;
}

}  // namespace

std::vector<Warning> statistical_warnings(const std::vector<Record>& records) {
  // Fewer elements may all be unlucky.
  constexpr std::size_t enough = 32;
  std::map<std::array<std::string, 3>, reference::Statistic> pooled;
  for (const Record& r : records) {
    if (r.outcome.verdict != Verdict::pass || !is_drawn_from_densities(r)) continue;
    pooled[{r.key.operation, std::string(name_of(r.mode)), std::string(name_of(r.key.dtype))}].add(r.outcome.statistic);
  }
  std::vector<Warning> warnings;
  for (const auto& [key, statistic] : pooled) {
    if (statistic.elements >= enough && statistic.rms() > 1) warnings.push_back({key[0], key[1], key[2], statistic});
  }
  return warnings;
}

void write_json(std::ostream& out, const Header& header, const std::vector<Record>& records, double seconds) {
  Totals totals;
  out << Json{{"kind", "header"},
              {"schema", 1},
              {"spec", "sha256:" + header.specification},
              {"backend", header.backend},
              {"contract", Json::parse(header.contract_json)},
              {"tier", header.tier},
              {"seed", header.seed}}
             .dump()
      << '\n';
  for (const Record& r : records) {
    totals.add(r);
    Json line{{"kind", "result"},
              {"id", r.id},
              {"operation", r.key.operation},
              {"mode", name_of(r.mode)},
              {"dtype", name_of(r.key.dtype)},
              {"check", name_of(r.key.check)},
              {"verdict", name_of(r.outcome.verdict)},
              {"comparisons", r.outcome.comparisons},
              {"worst_ratio", ratio(r.outcome.worst_ratio)}};
    if (r.outcome.undecided > 0) line["undecided"] = r.outcome.undecided;
    if (const auto& s = r.outcome.statistic; s.elements > 0) line["statistical"] = {{"elements", s.elements}, {"rms", ratio(s.rms())}};
    if (!r.outcome.why.empty()) line["why"] = r.outcome.why;
    line["case"] = r.case_json.empty() ? Json(nullptr) : Json::parse(r.case_json);
    out << line.dump() << '\n';
  }
  Json summary{{"kind", "summary"}, {"backend", header.backend}, {"contract", Json::parse(header.contract_json)}};
  for (std::size_t v = 0; v < verdict_count; ++v)
    summary[std::string(name_of(static_cast<Verdict>(v)))] = totals.verdicts[v];
  summary["comparisons"] = totals.comparisons;
  summary["undecided_elements"] = totals.undecided;
  summary["undecided_operations"] = undecided_operations(records);
  summary["statistical_warnings"] = Json::array();
  for (const Warning& w : statistical_warnings(records)) {
    summary["statistical_warnings"].push_back({{"operation", w.operation},
                                               {"mode", w.mode},
                                               {"dtype", w.dtype},
                                               {"elements", w.statistic.elements},
                                               {"rms", ratio(w.statistic.rms())}});
  }
  summary["seed"] = header.seed;
  summary["seconds"] = seconds;
  out << summary.dump() << '\n';
}

void write_table(std::ostream& out, const Header& header, const std::vector<Record>& records, double seconds) {
  std::map<std::string, std::array<Cell, columns.size()>> rows;
  Totals totals;
  for (const Record& r : records) {
    rows[r.key.operation][column_of(r)].add(r);
    totals.add(r);
  }
  out << fmt::format("{:<20}", "operation");
  for (const char* c : columns) out << fmt::format(" {:>16}", c);
  out << "\n";
  for (const auto& [name, cells] : rows) {
    out << fmt::format("{:<20}", name);
    for (const Cell& cell : cells) out << fmt::format(" {:>16}", cell.text());
    out << "\n";
  }
  out << "comparisons (worst error over bound)\n";
  const auto unclear = undecided_operations(records);
  if (!unclear.empty()) out << fmt::format("undecided (more than 1 % of the elements): {}\n", fmt::join(unclear, ", "));
  for (const Warning& w : statistical_warnings(records)) {
    out << fmt::format("warning (statistical, fails nobody): {} {} {}: errors of {} elements are {:.2f} times what "
                       "independent roundings make them\n",
                       w.operation, w.mode, w.dtype, w.statistic.elements, w.statistic.rms());
  }
  std::size_t seen = rows.size();
  out << fmt::format("coverage: {} of {} operations\n", seen, header.operations_known);
  write_totals(out, totals, seconds);
}

void write_counterexample(std::ostream& out, const std::string& backend, const std::string& id, const Case& c,
                          const Outcome& outcome) {
  const spec::Definition* definition = c.key.library.find(c.call.operation);
  out << fmt::format("{}: {}\n", id, outcome.why.empty() ? std::string(name_of(outcome.verdict)) : outcome.why);
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const bool plain = definition != nullptr && c.operands.size() == definition->operand_count;
    const std::string name =
        plain ? std::string(definition->at(definition->operands[i].name)) : fmt::format("operand {}", i);
    if (c.operands[i]) out << fmt::format("    {} = {}\n", name, values_text(*c.operands[i]));
  }
  for (const auto& [name, value] : c.call.attributes) {
    const auto text = std::visit(
        [](const auto& v) -> std::string {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, spec::ValueName>) {
            return v.name;
          } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_arithmetic_v<T>) {
            return fmt::format("{}", v);
          } else {
            return fmt::format("[{}]", fmt::join(v, ", "));
          }
        },
        value);
    out << fmt::format("    {} = {}\n", name, text);
  }
  for (std::size_t i = 0; i < c.tangents.size(); ++i) {
    if (c.tangents[i] && c.mode != spec::Mode::vjp)
      out << fmt::format("    tangent {} = {}\n", i, values_text(*c.tangents[i]));
  }
  for (std::size_t i = 0; i < c.cotangents.size(); ++i) {
    if (c.cotangents[i] && c.mode == spec::Mode::vjp)
      out << fmt::format("    cotangent {} = {}\n", i, values_text(*c.cotangents[i]));
  }
  if (outcome.offender) out << first_difference(*outcome.offender);
  if (definition != nullptr) {
    out << "  of\n";
    std::string line;
    for (const char ch : std::string(definition->text) + "\n") {
      if (ch != '\n') {
        line += ch;
      } else if (!line.empty()) {
        out << "    " << std::exchange(line, {}) << "\n";
      }
    }
  }
  out << fmt::format("  replay: etalon conform --backend {} --replay {}\n", backend, id);
}

}  // namespace etalon::conformance
