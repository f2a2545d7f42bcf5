/// \file
/// Whole files, read or put in place of the old ones; a failure names the file and the system's reason. It knows no format.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "spec/error.hpp"

namespace etalon {

/// `FILE: WHAT: REASON`, as in `run.json: the file cannot be written: No space left on device`.
/// \param error what `errno` was
[[nodiscard]] IoError file_error(const std::filesystem::path& path, std::string_view what, int error);

/// The file's text. \throws IoError; where the file is missing it names one of nearly that name in the same folder.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Puts the text in place of the file; the old one stays whole until the new one is. A pipe or a device is written where
/// it is. \throws IoError
void write_file(const std::filesystem::path& path, std::string_view text);
/// The same with what `content` prints.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& content);

/// Refuses now what `write_file` would refuse after the work is done, and leaves nothing behind. \throws IoError
void check_writable(const std::filesystem::path& path);

/// Makes the folder, and those that it lies in. \throws IoError
void make_folder(const std::filesystem::path& path);

}  // namespace etalon
