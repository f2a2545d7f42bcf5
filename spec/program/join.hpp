/// \file
/// Joins the system of one call to the system of a program. It knows nothing of programs, types or the library.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/program/program.hpp"
#include "spec/system/fresh_names.hpp"
#include "spec/system/system.hpp"

namespace etalon::spec {

/// Appends the equations of `part` to `whole`: inputs of `part` become the tensors `inputs` (an integer tensor given
/// for a real input is read as a real), outputs get the names `results`, other tensors `results[0].local` or, where that is
/// in use, `results[0].local.2` and so on, and every equation the source line of the call.
/// \returns the tensors of the results; each is a tensor of its own, also where an output of `part` is an input.
[[nodiscard]] std::vector<TensorId> join(System& whole, const System& part, std::span<const TensorId> inputs,
                                         std::span<const std::string> results, const Source& source, FreshNames& taken);

/// Appends a tensor that equals `original` element by element.
[[nodiscard]] TensorId append_copy(System& system, TensorId original, std::string name, std::int32_t origin = -1);

}  // namespace etalon::spec
