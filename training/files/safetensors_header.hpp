/// \file
/// The header of a safetensors file, as its JSON says it. It sees no element.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/value_type.hpp"

namespace etalon::training {

/// The key of strings about the file, which no tensor has.
inline constexpr std::string_view safetensors_metadata = "__metadata__";

/// A tensor and the bytes behind the header that hold it. The range is as long as the type says.
struct SafetensorsEntry {
  std::string name;
  spec::ValueType type;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// `F32`, `BF16`, `BOOL`, …
[[nodiscard]] std::string_view safetensors_name_of(DType dtype);

/// The tensors in the order of the header.
/// \param where the file's name in messages
/// \throws IoError as read_safetensors, but for what only the elements show
[[nodiscard]] std::vector<SafetensorsEntry> safetensors_entries(std::string_view header, std::string_view where);

}  // namespace etalon::training
