/// \file
/// Makes a pack: draws, bounds and writes. The same arguments give the same bytes, whatever the number of threads.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/conform.hpp"
#include "conformance/pack/pack.hpp"

namespace etalon::conformance {

/// A pack's files in memory.
struct WrittenPack {
  std::string folder;  ///< `etalon-pack-1-ieee-68c84942`
  PackIndex index;
  std::vector<std::pair<std::string, std::string>> files;  ///< name and text; pack.json comes last
};

/// Of the options: operations, dtypes, tier, seed, library, jobs.
/// \param contract that bounds the answers \param name of the contract, a part of the folder's name
/// \param progress is told how many of how many operations are done
[[nodiscard]] WrittenPack make_pack(const ConformOptions& options, const spec::Contract& contract, const std::string& name,
                                    const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// Writes the pack's folder into this one. A pack that is there is not changed.
/// \returns its path. \throws IoError, SpecViolation where there is a pack of that name
std::filesystem::path write_pack(const WrittenPack& pack, const std::filesystem::path& into);

}  // namespace etalon::conformance
