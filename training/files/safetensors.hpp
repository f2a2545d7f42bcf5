/// \file
/// Tensors in one file of the format safetensors: a length, a header in JSON, all elements. One set of tensors has one
/// file, so that the file's SHA-256 is the digest of what it holds. It knows no model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "training/model/parameters.hpp"

namespace etalon::training {

/// The bytes of the file: larger elements first, then by name; no metadata; the header ends on a multiple of 8 bytes.
/// \throws SpecViolation for the name `__metadata__`, which the format keeps for itself
[[nodiscard]] std::string safetensors_of(const Named& tensors);

/// The tensors of a file, whoever wrote it. Its metadata is read over.
/// \param where the file's name in messages
/// \throws IoError naming tensor, what was expected and found: a header of more than 100 MB or the file, which is no
/// JSON object of tensors or has a key twice, types or ranks that Etalon does not have, ranges that do not cover all
/// that follows without overlap, truth values that are neither 0 nor 1
[[nodiscard]] Named read_safetensors(std::span<const std::byte> file, std::string_view where);

}  // namespace etalon::training
