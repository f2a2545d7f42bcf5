#include "training/files/event_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "spec/file.hpp"

namespace etalon::training {

namespace {

/// Fields of the messages Event, Summary and Summary.Value.
enum class Field : std::uint8_t {
  wall_time = 1,
  step = 2,
  file_version = 3,
  summary = 5,
  session_log = 7,
  value = 1,
  tag = 1,
  simple_value = 2,
  status = 1
};
enum class Wire : std::uint8_t { varint = 0, eight_bytes = 1, length = 2, four_bytes = 5 };
constexpr std::uint64_t session_starts = 1;

[[nodiscard]] std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255U);
  return text;
}

[[nodiscard]] std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7U) text += static_cast<char>((value & 127U) | 128U);
  return text + static_cast<char>(value);
}

[[nodiscard]] std::string key(Field field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(wire));
}
[[nodiscard]] std::string bytes_field(Field field, std::string_view bytes) {
  return key(field, Wire::length) + varint(bytes.size()) + std::string(bytes);
}

[[nodiscard]] std::string beginning(double time, std::int64_t step) {
  return key(Field::wall_time, Wire::eight_bytes) + little_endian(std::bit_cast<std::uint64_t>(time), 8) + key(Field::step, Wire::varint) +
         varint(static_cast<std::uint64_t>(step));
}

[[nodiscard]] double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t polynomial = 0x82F63B78U, moved_by = 0xA282EAD8U;  // reflected; kMaskDelta of TensorFlow
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? polynomial : 0U);
  }
  return std::rotr(~crc, 15) + moved_by;
}

std::string record_of(std::string_view bytes) {
  const std::string length = little_endian(bytes.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string(bytes) + little_endian(masked_crc32c(bytes), 4);
}

std::string event_of(double time, std::int64_t step, const std::map<std::string, double>& scalars) {
  std::string summary;
  for (const auto& [tag, number] : scalars) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    summary +=
        bytes_field(Field::value, bytes_field(Field::tag, tag) + key(Field::simple_value, Wire::four_bytes) + little_endian(bits, 4));
  }
  return beginning(time, step) + bytes_field(Field::summary, summary);
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t step) {
  if (folder.empty()) return;
  make_folder(folder);
  const double time = now();
  path_ = folder / fmt::format("events.out.tfevents.{:.6f}.{}", time, getpid());
  append(beginning(time, 0) + bytes_field(Field::file_version, "brain.Event:2"));
  append(beginning(time, step) + bytes_field(Field::session_log, key(Field::status, Wire::varint) + varint(session_starts)));
}

void EventFile::add(std::int64_t step, const std::map<std::string, double>& scalars) {
  if (!path_.empty()) append(event_of(now(), step, scalars));
}

void EventFile::append(std::string_view event) {
  errno = 0;
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << record_of(event) << std::flush;
  if (!file) throw file_error(path_, "the file cannot be written", errno);
}

}  // namespace etalon::training
