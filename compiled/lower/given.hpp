/// \file
/// Kernels that are given as text in place of those that were lowered: loops tuned by hand. It changes nothing else of a program.
#pragma once

#include <string>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Text as `to_text` of kernels prints it: of all of a program's, or of some.
struct GivenLoops {
  std::string text;
  std::string file;  ///< for messages
};

/// Each kernel that is given takes the place of that of its name.
/// \throws SpecViolation `FILE:LINE…: …`, one line, for a text that cannot be read, a kernel that is not there or is given twice, one
/// that touches other memory than the one that was lowered or in another way, and one that breaks a rule of the verifier. Then all
/// kernels are as they were.
void take_given(const spec::System& system, const GivenLoops& given, std::vector<Nest>& nests);

}  // namespace etalon::compiled::loops
