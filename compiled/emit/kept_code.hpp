/// \file
/// Machine code on disk: what was compiled once is read the next time. An entry that was damaged is as good as none. It knows no program and
/// no machine, only bytes and what they depend on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace etalon::compiled {

/// Code in a folder, each under the digest of all it depends on. Several processes may use one folder.
class KeptCode {
 public:
  static constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;

  /// \param folder is made for its owner alone; nothing is kept where it is empty or cannot be written to
  explicit KeptCode(std::filesystem::path folder);

  [[nodiscard]] bool is_on() const { return !folder_.empty(); }
  /// SHA-256 of a text that code is made of and of what the code depends on besides, in hexadecimal digits.
  /// \param maker machine, versions, settings
  [[nodiscard]] static std::string key_of(std::string_view maker, std::string_view text);
  /// The code that was kept under the key; nothing where there is none or where its checksum is wrong.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// Keeps code: under its name only when all of it is on disk. What cannot be written is not kept. Code that was not used for a week goes,
  /// and the oldest where all of it takes more than `most_bytes`.
  void keep(const std::string& key, std::string_view code) const;
  /// The code that is kept, or what `make` returns, which is kept from now on. \throws what `make` throws
  [[nodiscard]] std::string of(const std::string& key, const std::function<std::string()>& make) const;

 private:
  void prune() const;

  std::filesystem::path folder_;
};

}  // namespace etalon::compiled
