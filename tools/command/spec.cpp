#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "spec/library/library.hpp"
#include "spec/notation/json.hpp"
#include "spec/protocol/json.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

using spec::Definition;
using spec::Json;

constexpr const char* spec_examples = R"(
Examples
  etalon spec                  every definition, as it stands in the library
  etalon spec --json           the same for programs: texts, signatures, and a hash of all of them
  etalon spec --definitions my.txt    the same with definitions of your own, in the same notation)";

void print_json(const spec::Library& library) {
  Json json = {{"etalon", ETALON_VERSION}, {"hash", "sha256:" + library.hash()}};
  json["definitions"] = Json::array();
  for (const Definition* d : library.definitions()) json["definitions"].push_back(spec::Json::parse(spec::to_json(*d)));
  std::cout << json.dump(1) << '\n';
}

void print_text(const spec::Library& library) {
  std::string_view previous;
  for (const Definition* d : library.definitions()) {
    if (d->text == previous) continue;  // members of a family share their text
    previous = d->text;
    std::cout << d->text << (d->text.ends_with('\n') ? "\n" : "\n\n");
  }
}

}  // namespace

void add_spec(Command app, Outcome& outcome) {
  Command command = app.command("spec", "Print every definition of the library");
  command.footer(spec_examples);
  auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "One JSON document instead of text");
  auto definitions = std::make_shared<std::string>();
  command.option("--definitions", *definitions, "A file with definitions of your own, listed too");
  command.callback([=, &outcome] {
    const spec::Library library = library_with(*definitions);
    *json ? print_json(library) : print_text(library);
    outcome.status = 0;
  });
}

}  // namespace etalon::command
