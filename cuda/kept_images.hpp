/// \file
/// Images on disk: what was compiled once for an architecture is read the next time. An entry that was damaged is as good as none. It compiles
/// nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace etalon::cuda {

/// Images in a folder, each under the digest of all it depends on. Several processes may use one folder.
class KeptImages {
 public:
  static constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;

  /// \param folder is made for its owner alone; nothing is kept where it is empty or cannot be written to
  /// \param compiler what images depend on besides text and architecture: its version and options
  KeptImages(std::filesystem::path folder, std::string compiler);

  /// The image that is kept, or what `make` returns, which is kept from now on. Images that were not used for a week go, and the oldest where
  /// all of them take more than `most_bytes`. \throws what `make` throws
  [[nodiscard]] std::string image_of(const std::string& text, const std::string& architecture, const std::function<std::string()>& make) const;

 private:
  [[nodiscard]] static std::optional<std::string> found(const std::filesystem::path& file);
  void keep(const std::filesystem::path& file, const std::string& image) const;
  void prune() const;

  std::filesystem::path folder_;
  std::string compiler_;
};

}  // namespace etalon::cuda
