#include "training/files/event_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <boost/crc.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "spec/file.hpp"
#include "spec/wire_message.hpp"

namespace etalon::training {

namespace {

using spec::little_endian;
using spec::WireMessage;

/// Fields of the messages Event, SessionLog, Summary and Summary.Value of TensorFlow.
enum EventField : std::uint32_t { wall_time = 1, event_step = 2, file_version = 3, summary = 5, session_log = 7 };
enum SessionField : std::uint32_t { status = 1 };
enum SummaryField : std::uint32_t { summary_value = 1 };
enum ValueField : std::uint32_t { tag = 1, simple_value = 2 };
constexpr std::int64_t session_starts = 1;

[[nodiscard]] WireMessage event_at(double time, std::int64_t step) { return WireMessage().real(wall_time, time).number(event_step, step); }

[[nodiscard]] double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t moved_by = 0xA282EAD8U;  // kMaskDelta of TensorFlow
  boost::crc_optimal<32, 0x1EDC6F41, ~0U, ~0U, true, true> castagnoli;
  castagnoli.process_bytes(bytes.data(), bytes.size());
  return std::rotr(castagnoli.checksum(), 15) + moved_by;
}

std::string record_of(std::string_view bytes) {
  const std::string length = little_endian(std::uint64_t{bytes.size()});
  return length + little_endian(masked_crc32c(length)) + std::string(bytes) + little_endian(masked_crc32c(bytes));
}

std::string event_of(double time, std::int64_t step, const std::map<std::string, double>& scalars) {
  WireMessage all;
  for (const auto& [name, number] : scalars) {
    all.message(summary_value, WireMessage().bytes(tag, name).real(simple_value, static_cast<float>(number)));
  }
  return event_at(time, step).message(summary, all).text();
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t step) {
  if (folder.empty()) return;
  make_folder(folder);
  const double time = now();
  path_ = folder / fmt::format("events.out.tfevents.{:.6f}.{}", time, getpid());
  append(event_at(time, 0).bytes(file_version, "brain.Event:2").text());
  append(event_at(time, step).message(session_log, WireMessage().number(status, session_starts)).text());
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
