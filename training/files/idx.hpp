/// \file
/// One array in the format idx, in which MNIST is handed out: a type, extents, elements, the highest byte first.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "spec/host_tensor.hpp"

namespace etalon::training {

/// Integers of up to 32 bits become i32; f32 and f64 stay what they are.
/// \param where the file's name in messages
/// \throws IoError: no idx array, a type or a rank that Etalon does not have, more or fewer elements than the extents say
[[nodiscard]] HostTensor read_idx(std::span<const std::byte> file, std::string_view where);

}  // namespace etalon::training
