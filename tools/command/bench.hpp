/// \file
/// The subcommands of `etalon bench` that have sources of their own.
#pragma once

#include "tools/command/command.hpp"

namespace etalon::command {

/// `etalon bench bits`: the same bits with every number of threads.
void add_bench_bits(Command bench, Outcome& outcome);

}  // namespace etalon::command
