#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "conformance/case.hpp"
#include "spec/library/library.hpp"
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

[[nodiscard]] std::string_view name_of(spec::Range range) {
  switch (range) {
    case spec::Range::real: return "real";
    case spec::Range::integer: return "int";
    case spec::Range::boolean: return "bool";
    case spec::Range::number: return "number";
    case spec::Range::any: return "any";
    case spec::Range::attribute: return "attribute";
  }
  return "?";
}

[[nodiscard]] std::string_view name_of(spec::AttributeKind kind) {
  switch (kind) {
    case spec::AttributeKind::integer: return "int";
    case spec::AttributeKind::real: return "real";
    case spec::AttributeKind::boolean: return "bool";
    case spec::AttributeKind::symbol: return "symbol";
    case spec::AttributeKind::dtype: return "dtype";
    case spec::AttributeKind::integers: return "integers";
    case spec::AttributeKind::axes: return "axes";
  }
  return "?";
}

[[nodiscard]] std::string_view name_of(spec::ClauseText::Form form) {
  switch (form) {
    case spec::ClauseText::Form::equation: return "equation";
    case spec::ClauseText::Form::let: return "let";
    case spec::ClauseText::Form::require: return "requires";
  }
  return "?";
}

[[nodiscard]] Json operands_to_json(const Definition& d, const spec::OperandText* operands, std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const spec::OperandText& o = operands[i];
    Json json = {{"name", d.at(o.name)}, {"kind", name_of(o.range)}, {"pack", o.pack}, {"optional", o.optional}};
    if (o.dtype.length > 0) json["dtype"] = d.at(o.dtype);
    list.push_back(std::move(json));
  }
  return list;
}

[[nodiscard]] Json definition_to_json(const Definition& d) {
  Json json = {{"name", d.name}, {"doc", d.doc}, {"text", d.text}};
  if (d.family_rank >= 0) json["family_rank"] = static_cast<int>(d.family_rank);
  json["operands"] = operands_to_json(d, d.operands, d.operand_count);
  json["attributes"] = Json::array();
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    const spec::AttributeText& a = d.attributes[i];
    Json attribute = {{"name", d.at(a.name)}, {"kind", name_of(a.kind)}};
    if (a.has_default) attribute["default"] = d.at(a.value);
    if (a.choices.length > 0) attribute["choices"] = d.at(a.choices);
    json["attributes"].push_back(std::move(attribute));
  }
  json["results"] = operands_to_json(d, d.results, d.result_count);
  json["clauses"] = Json::array();
  for (std::size_t i = 0; i < d.clause_count; ++i) {
    const std::string id = std::string(d.name) + "/C" + std::to_string(i + 1);
    json["clauses"].push_back({{"id", id}, {"form", name_of(d.clauses[i].form)}, {"text", d.at(d.clauses[i].text)}});
  }
  return json;
}

void print_json() {
  Json json = {{"etalon", ETALON_VERSION}, {"hash", "sha256:" + conformance::specification_hash()}};
  json["definitions"] = Json::array();
  for (const Definition* d : spec::library()) json["definitions"].push_back(definition_to_json(*d));
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
