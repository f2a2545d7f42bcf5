/// \file
/// Numbers that a model keeps in other files of its folder. It reads no file outside of that folder, and knows no tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::conformance::onnx {

/// Where the numbers of a tensor lie (TensorProto's `external_data`).
struct Elsewhere {
  std::string location;  ///< a path from the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  ///< nothing: to the end of the file
};

/// From the entries of a tensor's message, each a key and a value; a checksum is not verified.
/// \throws IoError `where: …` for numbers that are none, and where no location stands
[[nodiscard]] Elsewhere elsewhere_of(const std::vector<std::span<const std::byte>>& entries, std::string_view where);

/// The bytes of a file of the folder or of one below it.
/// \throws IoError `where: …` for a path that is absolute, has a `..`, leads out of the folder by a link or is no file, and for bytes
/// that it has not
[[nodiscard]] std::string bytes_elsewhere(const std::filesystem::path& folder, const Elsewhere& place, std::string_view where);

}  // namespace etalon::conformance::onnx
