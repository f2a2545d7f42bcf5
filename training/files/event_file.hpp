/// \file
/// Scalars over steps in the files that TensorBoard reads: protocol buffers in records of TFRecord. It knows no run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace etalon::training {

/// CRC-32C (Castagnoli, RFC 3720), rotated and moved as records have it.
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view bytes);

/// A record: length, its checksum, the bytes, their checksum, the lowest byte first.
[[nodiscard]] std::string record_of(std::string_view bytes);

/// The event with these scalars. \param time in seconds since 1970
[[nodiscard]] std::string event_of(double time, std::int64_t step, const std::map<std::string, double>& scalars);

/// One file in a folder, whole after each event.
class EventFile {
 public:
  /// Makes the folder and a file in it, named after now and this process; in all files before it what is at or behind the
  /// step counts no longer, as TensorBoard has it for a run that is gone on with.
  /// \param folder empty: nothing is written. \throws IoError
  EventFile(const std::filesystem::path& folder, std::int64_t step);
  /// \throws IoError
  void add(std::int64_t step, const std::map<std::string, double>& scalars);

 private:
  void append(std::string_view event);

  std::filesystem::path path_;
};

}  // namespace etalon::training
