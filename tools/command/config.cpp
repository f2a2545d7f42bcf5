// `etalon config`: what is configured, and where it comes from.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "tools/command/command.hpp"
#include "tools/command/configuration.hpp"
#include "tools/command/manual.hpp"

namespace etalon::command {

namespace {

constexpr const char* config_examples = R"(
An option of a command is taken from the command line; else from the environment, as ETALON_COMMAND_OPTION; else from the file
etalon.conf in the working directory, or in the nearest folder above it that has one. Unknown keys are errors. The file:
  [conform]
  backend = cpu
  jobs = 2
  [bench]
  only = gemm,conv

Examples
  etalon config                            every key, its value, and where that comes from
  etalon config conform                    those of one command
  ETALON_CONFORM_JOBS=2 etalon config conform.jobs
  etalon config --given --json             what is set, as JSON
  etalon config --man share/man/man1       the manual: a page for each command)";

struct ConfigChoices {
  std::string of, manual;
  bool given = false;
  bool json = false;
};

struct Row {
  std::string key, value, origin, variable;
};

Row row_of(const Setting& setting, const Configuration& configuration) {
  if (const auto given = configuration.given(setting)) {
    return {setting.key, fmt::format("{}", fmt::join(given->values, ",")), given->origin, setting.variable};
  }
  return {setting.key, setting.default_value, "default", setting.variable};
}

std::vector<Row> rows_of(const Configuration& configuration, const ConfigChoices& choices) {
  std::vector<Row> rows;
  std::vector<std::string> names;
  bool known = choices.of.empty();
  for (const Setting& s : configuration.settings()) {
    names.push_back(s.key);
    if (const std::string command = s.key.substr(0, s.key.rfind('.')); std::find(names.begin(), names.end(), command) == names.end()) names.push_back(command);
    if (!choices.of.empty() && s.key != choices.of && !s.key.starts_with(choices.of + ".")) continue;
    known = true;
    Row row = row_of(s, configuration);
    if (!choices.given || row.origin != "default") rows.push_back(std::move(row));
  }
  if (!known) throw SpecViolation("config: " + unknown_name("key", choices.of, names));
  return rows;
}

void print(const std::vector<Row>& rows) {
  std::size_t key = 0;
  std::size_t value = 0;
  for (const Row& row : rows) {
    key = std::max(key, row.key.size());
    value = std::max(value, row.value.size());
  }
  for (const Row& row : rows) {
    std::cout << fmt::format("{:<{}}  {:<{}}  {}\n", row.key, key, row.value.empty() ? "-" : row.value, std::max<std::size_t>(value, 1), row.origin);
  }
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Row& row : rows) all.push_back({{"key", row.key}, {"value", row.value}, {"origin", row.origin}, {"variable", row.variable}});
  std::cout << all.dump(1) << '\n';
}

}  // namespace

void add_config(Command app, Outcome& outcome) {
  Command command = app.command("config", "What is configured, and where each value comes from");
  command.footer(config_examples);
  auto choices = std::make_shared<ConfigChoices>();
  command.option("key", choices->of, "A key such as conform.jobs, or a command");
  command.flag("--given", choices->given, "Only what the environment or the file says");
  command.flag("--json", choices->json, "As a JSON array");
  command.option("--man", choices->manual, "Write the manual's pages into this folder, and stop");
  command.callback([=, &outcome] {
    outcome.status = 0;
    if (!choices->manual.empty()) return write_manual(app.app(), choices->manual);
    const Configuration configuration(app.app(), std::filesystem::current_path());
    const std::vector<Row> rows = rows_of(configuration, *choices);
    choices->json ? print_json(rows) : print(rows);
  });
}

}  // namespace etalon::command
