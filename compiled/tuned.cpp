#include "compiled/tuned.hpp"

#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/file.hpp"

namespace etalon::compiled {

namespace {

/// FNV-1a. Of two programs with one number, one finds the other's decisions, and is told so: they name its values.
std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0xcbf29ce484222325U;
  for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return number;
}

}  // namespace

std::filesystem::path tuned_file(const std::filesystem::path& folder, const spec::Program& program, const Machine& m) {
  const std::string text = to_text(program) + fmt::format("{} {} {} {} {}", m.lanes_f32, m.vector_registers, m.near_bytes, m.middle_bytes, m.last_bytes);
  return folder / fmt::format("{:016x}.schedule", number_of(text));
}

std::vector<DecisionLine> tuned_decisions(const std::filesystem::path& folder, const spec::Program& program, const Machine& machine) {
  const std::filesystem::path file = tuned_file(folder, program, machine);
  std::error_code none;
  if (folder.empty() || !std::filesystem::exists(file, none)) {
    throw SpecViolation("schedule: nothing was tuned for this program on this machine; etalon tune FILE --seconds 30 does it");
  }
  return decisions_in(read_file(file), file.string());
}

}  // namespace etalon::compiled
