/// \file
/// Parameters from a file that somebody else wrote: exactly those of a model, under names that may be mapped. It runs
/// nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "training/model/parameters.hpp"

namespace etalon::training {

/// The values in a safetensors or npz file, which its first bytes tell apart, by the parameters' names.
/// \param maps `NAME=NAME`: a tensor's name in the file, and the parameter that it is
/// \throws IoError, or SpecViolation naming the file: a tensor that is no parameter, with the nearest one, or has
/// another type; a parameter that has no value; a map that is none, or of a name that is not in the file
[[nodiscard]] Named read_starting_values(const std::filesystem::path& file, const std::vector<std::string>& maps,
                                         const Parameters& parameters);

}  // namespace etalon::training
