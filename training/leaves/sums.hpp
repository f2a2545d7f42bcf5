/// \file
/// Between the leaves of a step and its update: what has to be added, and the equation that says so, by which sums of any order
/// are judged. It adds nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"
#include "training/leaves/tree_sum.hpp"

namespace etalon::training {

/// The inputs of an update that are sums, in the order of a leaf's outputs.
[[nodiscard]] std::vector<std::string> sums_of(const spec::Program& update);

/// For each sum an input with the terms of all leaves, and an update of a parameter of the sum's name. \param update as
/// update_program \param leaves of a step
[[nodiscard]] spec::Program sums_program(const spec::Program& update, std::int64_t leaves);
/// The program's inputs. \param terms what each leaf gave, in the order of its outputs \param sums as the terms
[[nodiscard]] std::vector<HostTensor> sums_inputs(const std::vector<Summands>& terms, const Summands& sums);

}  // namespace etalon::training
