/// \file
/// What a text of StableHLO means, to the fake plug-in.
#pragma once

#include <string>

#include "spec/program/program.hpp"

namespace etalon::test {

/// \throws std::exception for a text that is not read
[[nodiscard]] spec::Program meaning_of(const std::string& text);

}  // namespace etalon::test
