#include "tests/pjrt_plugin/meaning.hpp"

#include <stdexcept>
#include <utility>

#include "conformance/interchange/stablehlo/import.hpp"

namespace etalon::test {

spec::Program meaning_of(const std::string& text) {
  namespace stablehlo = conformance::stablehlo;
  stablehlo::Imported imported = stablehlo::import_module(stablehlo::read_module(text, "asked"), {});
  if (!imported.refused.empty()) throw std::runtime_error(imported.refused.front());
  return std::move(imported.program);
}

}  // namespace etalon::test
