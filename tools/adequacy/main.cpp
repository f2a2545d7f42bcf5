// etalon-adequacy: which mutants of the definitions the suite's own cases kill.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "spec/file.hpp"
#include "spec/library/library.hpp"
#include "tests/adequacy/floors.hpp"
#include "tools/adequacy/dealing.hpp"
#include "tools/adequacy/report.hpp"
#ifdef ETALON_COMPILED
#include "compiled/runtime/backend.hpp"
#else
#include "reference/backend.hpp"
#endif

namespace {

using namespace etalon;

struct Wanted {
  std::vector<std::string> operations, kinds;
  std::string tier = "quick", sample = "1/1", json, contract = "cpu", alive, floors, record;
  std::uint64_t seed = 1;
  double floor = 0;
  std::size_t cases = 0;
  unsigned jobs = 2;
  bool every_kind = false, equivalent = false, implementations = false;
};

std::unique_ptr<spec::Backend> make_honest() {
#ifdef ETALON_COMPILED
  return compiled::make_cpu_backend();
#else
  return reference::make_reference_backend();
#endif
}

std::pair<std::size_t, std::size_t> share_of(const std::string& text) {
  std::istringstream in(text);
  std::size_t part = 0, of = 0;
  char slash = 0, more = 0;
  const bool read = static_cast<bool>(in >> part >> slash >> of) && slash == '/' && !(in >> more);
  if (!read || part < 1 || part > of) throw CLI::ValidationError("--sample", "is a share such as 3/40, not " + text);
  return {part, of};
}

adequacy::Options options_of(const Wanted& wanted) {
  adequacy::Options o;
  o.conform.tier = wanted.tier == "full" ? conformance::Tier::full : conformance::Tier::quick;
  o.conform.seed = wanted.seed;
  o.contract = spec::contract_named(wanted.contract);
  o.most_cases = wanted.cases;
  std::tie(o.part, o.of) = share_of(wanted.sample);
  for (const std::string& kind : wanted.kinds) {
    const auto found = std::find(adequacy::sort_names.begin(), adequacy::sort_names.end(), kind);
    o.sorts.push_back(static_cast<adequacy::Sort>(found - adequacy::sort_names.begin()));
  }
  return o;
}

std::vector<std::string> operations_of(const Wanted& wanted) {
  if (!wanted.operations.empty()) {
    for (const std::string& name : wanted.operations) (void)spec::definition_named(name);
    return wanted.operations;
  }
  std::vector<std::string> all;
  for (const spec::Definition* d : spec::library()) all.emplace_back(d->name);
  return all;
}

std::vector<std::string> share_of(const std::vector<std::string>& operations, const adequacy::Options& options) {
  std::vector<std::string> some;
  for (std::size_t i = options.part - 1; i < operations.size(); i += options.of) some.push_back(operations[i]);
  return some;
}

// The file of those alive grows while the run goes on.
template <class Found>
void write_alive(const Wanted& wanted, std::size_t done, const std::vector<Found>& all) {
  if (wanted.alive.empty()) return;
  write_file(wanted.alive, [&](std::ostream& to) {
    to << done << " operations\n";
    print_table(all, to);
    print_alive(all, to);
  });
}

// By name, in hundred.
std::map<std::string, double> floors_of(const std::string& path) {
  std::map<std::string, double> floors;
  std::istringstream in(read_file(path));
  for (std::string line; std::getline(in, line);) {
    const std::size_t end = line.rfind(' ');
    if (line.empty() || line.front() == '#' || end == std::string::npos) continue;
    floors[line.substr(0, end)] = std::stod(line.substr(end));
  }
  return floors;
}

// 1 where fewer are killed than is recorded and chance allows, of all or of one kind that the floors name.
int conclusion(const Wanted& wanted, const std::map<std::string, adequacy::Counts>& kinds) {
  int status = 0;
  if (!wanted.record.empty()) {
    write_file(wanted.record, [&](std::ostream& to) {
      to << "# What etalon-adequacy --record found, in hundred, rounded down.\n";
      for (const auto& [name, counts] : kinds) {
        if (counts.killed + counts.alive > 0) to << name << ' ' << std::floor(counts.percent() * 10) / 10 << '\n';
      }
    });
  }
  const auto all = kinds.find("all");
  if (wanted.floor > 0 && !(all != kinds.end() && all->second.percent() >= wanted.floor)) {
    std::cout << "fewer than " << wanted.floor << " % are killed\n";
    status = 1;
  }
  if (wanted.floors.empty()) return status;
  for (const auto& [name, floor] : floors_of(wanted.floors)) {
    const auto found = kinds.find(name);
    const adequacy::Counts counts = found == kinds.end() ? adequacy::Counts{} : found->second;
    if (counts.killed + counts.alive > 0 && counts.percent() >= floor) continue;
    const bool lost = adequacy::falls_below(counts.killed, counts.killed + counts.alive, floor / 100);
    std::cout << name << ": killed " << counts.killed << " of " << counts.killed + counts.alive << ", recorded " << floor << " %"
              << (lost ? "\n" : ": chance may leave as few\n");
    if (lost) status = 1;
  }
  return status;
}

int run_implementations(const Wanted& wanted) {
  const adequacy::Options options = options_of(wanted);
  using Found = adequacy::Implementation;
  const auto all = adequacy::deal_out<Found>(
      share_of(operations_of(wanted), options), wanted.jobs,
      [&](const std::string& operation) {
        const auto honest = make_honest();
        return adequacy::score_implementations(operation, *honest, options.conform);
      },
      [&](std::size_t done, const std::vector<Found>& some) { write_alive(wanted, done, some); });
  if (wanted.alive.empty()) print_alive(all, std::cout);
  print_table(all, std::cout);
  if (!wanted.json.empty()) write_file(wanted.json, [&](std::ostream& to) { to << adequacy::to_json(all) << '\n'; });
  return conclusion(wanted, adequacy::by_kind(all));
}

int run(const Wanted& wanted) {
  const adequacy::Options options = options_of(wanted);
  using Found = adequacy::Mutant;
  const auto all = adequacy::deal_out<Found>(
      operations_of(wanted), wanted.jobs,
      [&](const std::string& operation) { return adequacy::score(operation, options); },
      [&](std::size_t done, const std::vector<Found>& some) { write_alive(wanted, done, some); });
  if (wanted.alive.empty()) print_alive(all, std::cout);
  if (wanted.equivalent) print_equivalent(all, std::cout);
  std::cout << '\n';
  print_table(all, std::cout);
  if (!wanted.json.empty()) write_file(wanted.json, [&](std::ostream& to) { to << to_json(all) << '\n'; });
  const auto sorts = adequacy::by_sort(all);
  for (std::size_t k = 0; k < sorts.size() && wanted.every_kind; ++k) {
    if (sorts[k].made > 0) continue;
    std::cout << "no mutant was made of kind " << adequacy::sort_names[k] << '\n';
    return 1;
  }
  return conclusion(wanted, adequacy::by_kind(all));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Which mutants of the definitions the suite's own cases kill; 0 where the floor is kept, 1 where it is not"};
  Wanted wanted;
  app.add_option("--ops", wanted.operations, "Only these operations")->delimiter(',');
  app.add_option("--tier", wanted.tier, "quick or full")->check(CLI::IsMember({"quick", "full"}));
  app.add_option("--kinds", wanted.kinds, "Only mutants of these kinds")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(adequacy::sort_names.begin(), adequacy::sort_names.end())));
  app.add_option(
      "--sample", wanted.sample,
      "N/M: the N-th of M shares of the mutants, of implementations of the operations; the same in every run");
  app.add_option("--cases", wanted.cases,
                 "At most so many cases of each operation, check and element type; all by default");
  app.add_option("--jobs", wanted.jobs, "Threads");
  app.add_option("--seed", wanted.seed, "Of the cases");
  app.add_option("--contract", wanted.contract, "The profile or file that answers are judged by");
  app.add_option("--json", wanted.json, "A file for every mutant and its fate");
  app.add_option("--alive", wanted.alive,
                 "A file for those alive, which grows with every operation; the console by default");
  app.add_flag("--equivalent", wanted.equivalent, "List those that are proved equivalent, too");
  app.add_option("--floor", wanted.floor, "The least share killed, in hundred");
  app.add_option("--floors", wanted.floors, "A file of shares by kind, as --record writes it: no fewer may be killed than chance leaves of them");
  app.add_option("--record", wanted.record, "Write the shares of this run as floors");
  app.add_flag("--implementations", wanted.implementations,
               "Defects of implementations, between the suite and an honest backend, in place of mutants of equations");
  app.add_flag("--every-kind", wanted.every_kind, "Fail where no mutant was made of some kind");
  CLI11_PARSE(app, argc, argv);
  try {
    return wanted.implementations ? run_implementations(wanted) : run(wanted);
  } catch (const CLI::Error& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "etalon-adequacy: " << e.what() << '\n';
    return 2;
  }
}
