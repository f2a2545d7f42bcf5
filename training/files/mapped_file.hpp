/// \file
/// A file's bytes as they lie on the disk, without a copy. It knows no format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace etalon::training {

/// What is no regular file, such as a pipe, is read instead. A file that another process cuts short while it is mapped
/// ends this one, as the system has it.
class MappedFile {
 public:
  /// \throws IoError, as read_file
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::string read_;
  void* mapped_ = nullptr;
  std::span<const std::byte> bytes_;
};

}  // namespace etalon::training
