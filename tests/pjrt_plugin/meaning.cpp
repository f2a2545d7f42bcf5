#include "tests/pjrt_plugin/meaning.hpp"

#include <stdexcept>

#include "conformance/interchange/stablehlo/text.hpp"
#include "tests/pjrt/programs.hpp"

namespace etalon::test {

spec::Program meaning_of(const std::string& text) {
  for (const char* known : known_programs) {
    spec::Program program = spec::parse_program(known);
    if (conformance::stablehlo::module_text(program) == text) return program;
  }
  throw std::runtime_error("not known");
}

}  // namespace etalon::test
