#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/adequacy/report.hpp"

namespace etalon::adequacy {
namespace {

struct Row {
  std::size_t touched = 0, killed = 0, untouched = 0;
  std::vector<std::string> alive;
};

// By family and defect, families in the order of the list.
using Rows = std::vector<std::pair<std::string, Row>>;

Rows rows_of(const std::vector<Implementation>& defects, bool by_family) {
  Rows rows;
  std::map<std::string, std::size_t> places;
  for (const Implementation& d : defects) {
    const std::string name = by_family ? d.family : d.family + ": " + d.what;
    const auto [place, added] = places.try_emplace(name, rows.size());
    if (added) rows.emplace_back(name, Row{});
    Row& row = rows[place->second].second;
    ++(d.touched > 0 ? row.touched : row.untouched);
    if (!d.by.empty()) ++row.killed;
    if (d.touched > 0 && d.by.empty()) row.alive.push_back(fmt::format("{} ({})", d.operation, d.touched));
  }
  return rows;
}

void row(std::string_view name, const Row& r, std::ostream& to) {
  const double share = r.touched == 0 ? 0 : 100 * static_cast<double>(r.killed) / static_cast<double>(r.touched);
  to << fmt::format("| {:12} | {:6} | {:6} | {:6} | {:>6} | {:9} |\n", name, r.touched, r.killed, r.touched - r.killed,
                    r.touched == 0 ? "-" : fmt::format("{:.2f}", share), r.untouched);
}

}  // namespace

std::map<std::string, Counts> by_kind(const std::vector<Implementation>& defects) {
  std::map<std::string, Counts> kinds;
  for (const Implementation& d : defects) {
    if (d.touched == 0) continue;
    for (const std::string& kind : {d.family, std::string("all")}) {
      ++kinds[kind].made;
      ++(d.by.empty() ? kinds[kind].alive : kinds[kind].killed);
    }
  }
  return kinds;
}

void print_table(const std::vector<Implementation>& defects, std::ostream& to) {
  to << "| defects      | asked  | killed |  alive |      % | untouched |\n"
        "|--------------|-------:|-------:|-------:|-------:|----------:|\n";
  Row all;
  for (const auto& [name, r] : rows_of(defects, true)) {
    row(name, r, to);
    all.touched += r.touched;
    all.killed += r.killed;
    all.untouched += r.untouched;
  }
  row("all", all, to);
}

void print_alive(const std::vector<Implementation>& defects, std::ostream& to) {
  for (const auto& [name, r] : rows_of(defects, false)) {
    to << fmt::format("\n{}: {} asked, {} killed, {} alive, {} untouched\n", name, r.touched, r.killed, r.alive.size(),
                      r.untouched);
    if (!r.alive.empty()) to << fmt::format("  {}\n", fmt::join(r.alive, ", "));
  }
}

std::string to_json(const std::vector<Implementation>& defects) {
  nlohmann::json all = nlohmann::json::array();
  for (const Implementation& d : defects)
    all.push_back(
        {{"operation", d.operation}, {"family", d.family}, {"defect", d.what}, {"touched", d.touched}, {"by", d.by}});
  return all.dump(1);
}

}  // namespace etalon::adequacy
