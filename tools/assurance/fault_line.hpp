/// \file
/// An assignment outside its bounds as one line. It judges nothing.
#pragma once

#include <string>

#include "tools/log/diff.hpp"

namespace etalon::assurance {

/// `w = sub(w0, d): w[3, 2] is 0.5, admitted [0.25, 0.26], from w[3, 2] = (w0[3, 2] = 1.0) - (d[3, 2] = 0.75)`
[[nodiscard]] std::string fault_line(const spec::Program& program, const logging::Fault& fault);

}  // namespace etalon::assurance
