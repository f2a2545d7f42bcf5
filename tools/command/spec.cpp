#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "conformance/case.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/json.hpp"
#include "spec/protocol/json.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

using spec::Definition;
using spec::Json;

constexpr const char* examples = R"(
Examples
  etalon spec                  every definition, as it stands in the library
  etalon spec --json           the same for programs: texts, signatures, and a hash of all of them)";

void print_json() {
  Json json = {{"etalon", ETALON_VERSION}, {"hash", "sha256:" + conformance::specification_hash()}};
  json["definitions"] = Json::array();
  for (const Definition* d : spec::library()) json["definitions"].push_back(spec::Json::parse(spec::to_json(*d)));
  std::cout << json.dump(1) << '\n';
}

void print_text() {
  std::string_view previous;
  for (const Definition* d : spec::library()) {
    if (d->text == previous) continue;  // members of a family share their text
    previous = d->text;
    std::cout << d->text << (d->text.ends_with('\n') ? "\n" : "\n\n");
  }
}

}  // namespace

void add_spec(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("spec", "Print every definition of the library");
  command->footer(examples);
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON document instead of text");
  command->callback([json, &outcome] {
    *json ? print_json() : print_text();
    outcome.status = 0;
  });
}

}  // namespace etalon::command
