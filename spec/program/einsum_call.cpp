#include "spec/program/einsum_call.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "spec/einsum/einsum.hpp"
#include "spec/error.hpp"
#include "spec/notation/split.hpp"

namespace etalon::spec {

namespace {

/// Takes a text out of the attributes of a call.
[[nodiscard]] std::string taken(Attributes& attributes, const std::string& name, const std::string& otherwise) {
  const auto at = attributes.find(name);
  if (at == attributes.end()) return otherwise;
  const auto* text = std::get_if<std::string>(&at->second);
  if (text == nullptr) throw SpecViolation("einsum: attribute " + name + " is a text in quotes");
  std::string value = *text;
  attributes.erase(at);
  return value;
}

}  // namespace

void translate_einsum_call(Program& program, Call& call) {
  if (call.operation != "einsum" || !call.attributes.contains("spec")) return;
  const std::string specification = taken(call.attributes, "spec", "");
  const std::string semiring = taken(call.attributes, "semiring", "sum_product");
  const std::string captures = taken(call.attributes, "captures", "");
  const auto definition = split_definitions(einsum_definition(specification, {semiring, captures})).front();
  const std::string& text = definition->text;  // without blank ends, as it is read back
  call.operation = std::string(definition->definition.name);
  if (std::find(program.definitions.begin(), program.definitions.end(), text) == program.definitions.end())
    program.definitions.push_back(text);
}

}  // namespace etalon::spec
