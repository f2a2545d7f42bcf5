#include "conformance/random_program.hpp"

#include "conformance/composer.hpp"

namespace etalon::conformance {

std::optional<RandomProgram> random_program(std::span<const spec::Definition* const> definitions,
                                            const ProgramWish& wish, Draw& draw, const Admission& admits) {
  return Composer(definitions, wish, draw, admits).run();
}

}  // namespace etalon::conformance
