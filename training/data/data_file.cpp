#include "training/data/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "training/certificate/merkle.hpp"

namespace etalon::training {

namespace {

constexpr std::size_t chunk = std::size_t{1} << 20U;

}  // namespace

DataFile data_file_of(std::string name, std::span<const std::byte> bytes) {
  std::vector<Digest> leaves;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    const auto part = bytes.subspan(at, std::min(chunk, bytes.size() - at));
    leaves.push_back(leaf_digest({reinterpret_cast<const char*>(part.data()), part.size()}));
  }
  return {std::move(name), bytes.size(), Sha256().add(bytes).hexadecimal(), hexadecimal(merkle_root(leaves))};
}

void require_same(const DataFile& before, const DataFile& now, std::string_view where) {
  if (before.sha256 == now.sha256 && before.root == now.root && before.bytes == now.bytes) return;
  throw SpecViolation(fmt::format("{}: the data has the SHA-256 {} and {} bytes, {} has now {} and {}; --data names the run's own file",
                                  where, before.sha256, before.bytes, on_one_line(now.name), now.sha256, now.bytes));
}

}  // namespace etalon::training
