/// \file
/// What can be said of one kernel of a plan by itself, whatever ran before it.
#pragma once

#include <cstddef>
#include <string>

#include "compiled/ir/plan.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A rule that a plan has to keep. \throws InternalError naming the kernel by its number, where `holds` is false.
void require_of_plan(bool holds, std::size_t number, const std::string& what);

/// Its loops are those of its statements, and its tiles, strips, stretches and turns are of its kind.
/// \throws InternalError naming the kernel and the rule that it breaks.
void check_form(const spec::System& system, const Kernel& kernel, std::size_t number);

}  // namespace etalon::compiled
