#include "tests/pjrt_plugin/meaning.hpp"

#include <utility>

#include "conformance/interchange/stablehlo/import.hpp"

namespace etalon::test {

Meaning meaning_of(const std::string& text) {
  namespace stablehlo = conformance::stablehlo;
  const stablehlo::Module module = stablehlo::read_module(text, "asked");
  stablehlo::Imported imported = stablehlo::import_module(module, {});
  if (!imported.refused.empty()) throw NotOffered(imported.refused.front());
  Meaning meaning;
  std::map<std::string, std::size_t> places;
  for (const auto& [name, type] : module.functions.front().body.arguments) places.emplace(name.substr(1), meaning.arguments++);  // without %
  for (const auto& [input, argument] : imported.inputs) meaning.argument_of.emplace(input, places.at(argument));
  meaning.program = std::move(imported.program);
  return meaning;
}

}  // namespace etalon::test
