/// \file
/// The stages that rewrite equations whatever the machine, on a system of a test.
#pragma once

#include <utility>

#include "compiled/compile.hpp"

namespace etalon::test {

/// The system after the stages of equations but those for tiles.
inline void optimise(spec::System& system, compiled::CompileOptions options = {}) {
  options.off.insert("contractions");
  compiled::Compilation c = compiled::begin(std::move(system), options, compiled::Machine{});
  compiled::run(c, compiled::Level::equations);
  system = std::move(c.system);
}

/// Whether that runs it when nothing is left out.
inline bool is_optimising(const compiled::Stage& stage) {
  return stage.leaves == compiled::Level::equations && stage.serves.empty() && stage.name != "contractions";
}

}  // namespace etalon::test
