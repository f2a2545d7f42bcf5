/// \file
/// One array in numpy's format npy. It knows no archive.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "spec/host_tensor.hpp"

namespace etalon::training {

/// The bytes of the file, version 1.0: C order, little-endian.
/// \param name in messages
/// \throws Unsupported for bf16, which numpy does not have
[[nodiscard]] std::string npy_of(const HostTensor& tensor, std::string_view name);

/// \param where file and array in messages
/// \throws IoError for anything but a little-endian array in C order of a type that Etalon has, and nothing behind it:
/// objects, which could run code, among it
[[nodiscard]] HostTensor read_npy(std::span<const std::byte> file, std::string_view where);

}  // namespace etalon::training
