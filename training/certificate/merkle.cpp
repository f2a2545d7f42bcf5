#include "training/certificate/merkle.hpp"

#include <algorithm>
#include <bit>

#include "spec/error.hpp"

namespace etalon::training {
namespace {

Digest joined(const Digest& left, const Digest& right) {
  return Sha256().add(std::string_view("\x01", 1)).add(std::span(left)).add(std::span(right)).digest();
}

/// The largest power of two below n, for n of at least 2.
std::size_t split_of(std::size_t n) { return std::bit_floor(n - 1); }

}  // namespace

Digest leaf_digest(std::string_view text) { return Sha256().add(std::string_view("\0", 1)).add(text).digest(); }

Digest merkle_root(std::span<const Digest> leaves) {
  if (leaves.empty()) return Sha256().digest();
  if (leaves.size() == 1) return leaves.front();
  const std::size_t k = split_of(leaves.size());
  return joined(merkle_root(leaves.first(k)), merkle_root(leaves.subspan(k)));
}

std::vector<Digest> inclusion_proof(std::span<const Digest> leaves, std::size_t leaf) {
  if (leaf >= leaves.size()) throw InternalError("a proof for a leaf that the tree does not have");
  if (leaves.size() == 1) return {};
  const std::size_t k = split_of(leaves.size());
  const bool is_left = leaf < k;
  std::vector<Digest> proof = is_left ? inclusion_proof(leaves.first(k), leaf) : inclusion_proof(leaves.subspan(k), leaf - k);
  proof.push_back(merkle_root(is_left ? leaves.subspan(k) : leaves.first(k)));
  return proof;
}

bool proves_inclusion(const Digest& leaf, std::uint64_t at, std::uint64_t leaves, std::span<const Digest> proof, const Digest& root) {
  if (at >= leaves) return false;
  Digest node = leaf;
  std::uint64_t last = leaves - 1;
  for (const Digest& beside : proof) {
    if (last == 0) return false;
    if (at % 2 == 1 || at == last) {
      node = joined(beside, node);
      // The last node of a level without a neighbour rises until it has one.
      for (; at % 2 == 0 && at != 0; at /= 2) last /= 2;
    } else {
      node = joined(node, beside);
    }
    at /= 2;
    last /= 2;
  }
  return last == 0 && node == root;
}

}  // namespace etalon::training
