#include "tools/assurance/fault_line.hpp"

#include <fmt/format.h>

namespace etalon::assurance {

std::string fault_line(const spec::Program& program, const logging::Fault& fault) {
  std::string line = fmt::format("{}: {} is {}, admitted {}", logging::summary_of(program, fault.step), fault.element, fault.found,
                                 fault.admitted);
  if (!fault.operands.empty()) line += fmt::format(", from {} = {}", fault.element, fault.operands);
  return line;
}

}  // namespace etalon::assurance
