/// \file
/// Named arrays in numpy's format npz: a zip archive of npy files. The writer has one archive for one set of tensors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "training/model/parameters.hpp"

namespace etalon::training {

/// The bytes of the archive: by name, not compressed, dated 1980.
/// \throws Unsupported for a type that numpy does not have
[[nodiscard]] std::string npz_of(const Named& tensors);

/// \param where the file's name in messages
/// \throws IoError naming the member: as read_zip, a member that is no array; otherwise as read_npy
[[nodiscard]] Named read_npz(std::span<const std::byte> file, std::string_view where);

}  // namespace etalon::training
