// etalon-adequacy: which mutants of the definitions the suite's own cases kill.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "spec/library/library.hpp"
#include "tools/adequacy/report.hpp"

namespace {

using namespace etalon;

struct Wanted {
  std::vector<std::string> operations, kinds;
  std::string tier = "quick", sample = "1/1", json, contract = "cpu", alive;
  std::uint64_t seed = 1;
  double floor = 0;
  std::size_t cases = 0;
  unsigned jobs = 2;
  bool every_kind = false, equivalent = false;
};

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

void write(const std::string& path, const auto& print) {
  std::ofstream file(path);
  print(file);
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

// Operations dealt out to threads one after the other; the mutants stand in the order of the operations.
class Run {
 public:
  Run(const Wanted& wanted, const adequacy::Options& options)
      : wanted_(wanted), options_(options), operations_(operations_of(wanted)), found_(operations_.size()) {}

  std::vector<adequacy::Mutant> all() {
    {
      std::vector<std::jthread> others;
      for (unsigned k = 1; k < wanted_.jobs; ++k) others.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\033[K";
    return joined();
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < operations_.size(); i = next_++) {
      try {
        auto mutants = adequacy::score(operations_[i], options_);
        const std::lock_guard lock(mutex_);
        found_[i] = std::move(mutants);
        ++done_;
        show(operations_[i]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        next_ = operations_.size();
      }
    }
  }

  void show(const std::string& last) {
    if (isatty(STDERR_FILENO) != 0)
      std::cerr << "\r\033[K" << done_ << " of " << operations_.size() << ": " << last << std::flush;
    if (wanted_.alive.empty()) return;
    const auto all = joined();
    write(wanted_.alive, [&](std::ostream& to) {
      to << done_ << " of " << operations_.size() << " operations\n";
      print_table(all, to);
      print_alive(all, to);
    });
  }

  [[nodiscard]] std::vector<adequacy::Mutant> joined() const {
    std::vector<adequacy::Mutant> all;
    for (const auto& mutants : found_) all.insert(all.end(), mutants.begin(), mutants.end());
    return all;
  }

  const Wanted& wanted_;
  const adequacy::Options& options_;
  const std::vector<std::string> operations_;
  std::vector<std::vector<adequacy::Mutant>> found_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

int run(const Wanted& wanted) {
  const adequacy::Options options = options_of(wanted);
  const std::vector<adequacy::Mutant> all = Run(wanted, options).all();
  if (wanted.alive.empty()) print_alive(all, std::cout);
  if (wanted.equivalent) print_equivalent(all, std::cout);
  std::cout << '\n';
  print_table(all, std::cout);
  if (!wanted.json.empty()) write(wanted.json, [&](std::ostream& to) { to << to_json(all) << '\n'; });
  const auto sorts = adequacy::by_sort(all);
  for (std::size_t k = 0; k < sorts.size() && wanted.every_kind; ++k) {
    if (sorts[k].made > 0) continue;
    std::cout << "no mutant was made of kind " << adequacy::sort_names[k] << '\n';
    return 1;
  }
  const double killed = adequacy::total(all).percent();
  if (killed >= wanted.floor) return 0;
  std::cout << "killed: " << killed << " %, recorded floor: " << wanted.floor << " %\n";
  return 1;
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
  app.add_option("--sample", wanted.sample, "N/M: the N-th of M shares of the mutants, the same in every run");
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
  app.add_flag("--every-kind", wanted.every_kind, "Fail where no mutant was made of some kind");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(wanted);
  } catch (const CLI::Error& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "etalon-adequacy: " << e.what() << '\n';
    return 2;
  }
}
