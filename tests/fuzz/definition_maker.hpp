/// \file
/// Definitions made of bytes, each with a call: near what is right, with indices that are shifted, scaled or from data,
/// elements that are given twice or left out, extents and attributes that are huge, empty or negative.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"

namespace etalon::fuzz {

/// A program of one call of one definition of its own. The same bytes make the same program.
[[nodiscard]] spec::Program made_program(std::string_view bytes);

/// Programs that call the definitions of a text, with small operands; none where it cannot be read.
[[nodiscard]] std::vector<spec::Program> programs_with(const std::string& text);

/// Whether its values, and what is made of them, are few enough to be computed.
[[nodiscard]] bool is_small(const spec::Program& program);

/// A value for each input: small numbers, and integers at the ends of their type.
[[nodiscard]] std::vector<HostTensor> values_for(const spec::Program& program);

}  // namespace etalon::fuzz
