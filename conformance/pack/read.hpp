/// \file
/// The files of a pack's folder, each held to what pack.json says of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/pack/pack.hpp"

namespace etalon::conformance {

/// \throws IoError, SpecViolation, Unsupported, naming the file
[[nodiscard]] PackIndex read_pack(const std::filesystem::path& folder);

/// The tests in one of its files. \throws IoError, SpecViolation, Unsupported, naming the file: for other bytes than were written, too
[[nodiscard]] PackedOperation read_operation(const std::filesystem::path& folder, const PackedFile& file);

/// The files of these operations, or of all where none is named. \throws SpecViolation for an operation that the pack lacks
[[nodiscard]] std::vector<PackedFile> files_of(const PackIndex& index, const std::vector<std::string>& operations);

/// What is wrong with the pack, a line each: with its files, and files that it does not name.
[[nodiscard]] std::vector<std::string> faults_of(const std::filesystem::path& folder, const PackIndex& index);

}  // namespace etalon::conformance
