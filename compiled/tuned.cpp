#include "compiled/tuned.hpp"

#include <system_error>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"

namespace etalon::compiled {

std::filesystem::path tuned_file(const std::filesystem::path& folder, const spec::Program& program, const Machine& m) {
  Sha256 hash;
  hash.add("program", to_text(program));
  hash.add("machine", fmt::format("{} {} {} {} {}", m.lanes_f32, m.vector_registers, m.near_bytes, m.middle_bytes, m.last_bytes));
  return folder / (hash.hexadecimal() + ".schedule");
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
