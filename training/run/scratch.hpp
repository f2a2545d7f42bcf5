/// \file
/// A folder for what is computed beside a run. It knows no run.
#pragma once

#include <filesystem>

namespace etalon::training {

/// A new folder of the system's temporary ones, which goes in the end.
class Scratch {
 public:
  /// \throws IoError
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace etalon::training
