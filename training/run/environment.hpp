/// \file
/// On what a run was begun or gone on with: lines in a file beside the journal, whose own lines say nothing of machines. No bit
/// follows from it, and nobody can check it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "training/run/storage.hpp"

namespace etalon::training {

class StrictJson;

/// The file's name in the folder of a run.
inline constexpr std::string_view environments_file = "environments.jsonl";

/// What computed a run from a step on, as it says itself. Texts that nobody gave are empty, numbers 0.
struct Environment {
  std::int64_t from = 0;    ///< how many steps were done before
  std::string device;       ///< as `etalon devices` names it
  std::string build;        ///< of what computed
  std::string vectors{};    ///< `avx512`; of a device its own name for what it is
  std::string processor{};  ///< as the system calls it
  std::string host{};       ///< the machine's name
  std::int64_t threads = 0;  ///< of the compiled step
  std::int64_t devices = 0;  ///< that compute leaves at the same time
  std::string executable{};  ///< SHA-256 of the program's file: two builds of one commit are the same bytes
  friend bool operator==(const Environment&, const Environment&) = default;
};

/// The machine and the build that this process is, with the rest as given.
[[nodiscard]] Environment this_environment(std::int64_t from, std::string_view device, std::string_view vectors, unsigned threads,
                                           unsigned devices);

/// One line of JSON, without its end.
[[nodiscard]] std::string to_text(const Environment& environment);
/// \throws IoError naming the place
[[nodiscard]] Environment environment_of(const StrictJson& json);

/// In the order in which they computed; none where there is no file. \throws IoError for a line that is none
[[nodiscard]] std::vector<Environment> environments_in(Storage& storage, const std::filesystem::path& folder);
/// Adds one, unless it is the last one's and no step was done since. \throws IoError
void add_environment(Storage& storage, const std::filesystem::path& folder, const Environment& environment);

}  // namespace etalon::training
