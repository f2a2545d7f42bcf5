#include "tests/mutants/mutants.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compiled/backend.hpp"
#include "conformance/conform.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using conformance::ConformOptions;
using nlohmann::json;

namespace {

std::vector<std::string> known_operations(std::string_view list) {
  std::vector<std::string> names;
  std::stringstream text{std::string(list)};
  for (std::string name; std::getline(text, name, ',');) {
    if (spec::find_definition(name) != nullptr) names.push_back(name);
  }
  return names;
}

// Only the rewrite differs from the backend that everybody uses.
std::unique_ptr<spec::Backend> backend_with(void (*apply)(spec::System&)) {
  compiled::CompileOptions options;
  if (apply != nullptr) options.after_passes = apply;
  return compiled::make_cpu_backend(options);
}

struct Report {
  int code = -1;
  std::string console;
  std::vector<json> failing;
};

Report asked(spec::Backend& backend, std::string_view operations) {
  ConformOptions options;
  options.backend_name = "cpu";
  options.operations = known_operations(operations);
  const auto path =
      std::filesystem::temp_directory_path() / ("etalon_mutants_" + std::to_string(::getpid()) + ".jsonl");
  options.json_path = path.string();
  options.shrink_attempts = 150;
  options.most_explained = 2;
  std::ostringstream console;
  Report report;
  report.code = run_conform(options, backend, console);
  report.console = console.str();
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    json record = json::parse(line);
    if (record["kind"] == "result" && record["verdict"] == "fail") report.failing.push_back(std::move(record));
  }
  std::filesystem::remove(path);
  return report;
}

std::size_t elements(const json& counterexample) {
  std::size_t count = 0;
  for (const char* group : {"operands", "tangents", "cotangents"}) {
    if (!counterexample.contains(group)) continue;
    for (const json& t : counterexample[group]) count += t.is_null() ? 0 : t["values"].size();
  }
  return count;
}

int replayed(spec::Backend& backend, const std::string& id) {
  ConformOptions options;
  options.backend_name = "cpu";
  options.replay = id;
  options.shrink_attempts = 0;
  std::ostringstream console;
  return run_conform(options, backend, console);
}

}  // namespace

TEST_CASE("the compiled backend without a mutation passes every case that convicts a mutant", "[mutants]") {
  std::set<std::string> names;
  for (const auto& m : mutants::mutants()) {
    for (const std::string& name : known_operations(m.operations)) names.insert(name);
  }
  std::string all;
  for (const std::string& name : names) all += name + ",";
  const auto backend = backend_with(nullptr);
  const Report report = asked(*backend, all);
  INFO(report.console);
  REQUIRE(names.size() >= 20);
  CHECK(report.code == 0);
}

TEST_CASE("every mutant is convicted by a small counterexample that can be replayed", "[mutants]") {
  CHECK(mutants::mutants().size() >= 12);
  const auto sound = backend_with(nullptr);
  for (const auto& m : mutants::mutants()) {
    DYNAMIC_SECTION(std::string(m.name)) {
      const auto backend = backend_with(m.apply);
      const Report report = asked(*backend, m.operations);
      INFO(m.defect);
      INFO(report.console);
      REQUIRE(report.code == 1);
      REQUIRE(!report.failing.empty());
      std::size_t smallest = elements(report.failing.front()["case"]);
      for (const json& record : report.failing) smallest = std::min(smallest, elements(record["case"]));
      CHECK(smallest <= 24);
      const std::string id = report.failing.front()["id"];
      CHECK(replayed(*backend, id) == 1);
      CHECK(replayed(*sound, id) == 0);
    }
  }
}
