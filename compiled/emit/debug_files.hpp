/// \file
/// A folder for what debuggers and profilers show beside machine code: text that somebody wrote as the source of it. It
/// knows nothing of what the text says.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace etalon::compiled {

/// Off unless a folder is given. Programs that share a folder never overwrite each other's files, also from several
/// processes.
class DebugFiles {
 public:
  DebugFiles() = default;
  /// \param folder is made when the first file is written; empty writes nothing.
  explicit DebugFiles(const std::filesystem::path& folder);
  /// The folder that the environment's ETALON_DEBUG_DIR names; off where it names none.
  [[nodiscard]] static DebugFiles from_environment();

  [[nodiscard]] bool is_on() const { return !folder_.empty(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Writes the text as `NAME.txt`, or as `NAME-2.txt`, … where files of that name hold other text. \returns its absolute path.
  /// \throws IoError when it cannot be written.
  [[nodiscard]] std::filesystem::path write(std::string_view name, const std::string& text) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace etalon::compiled
