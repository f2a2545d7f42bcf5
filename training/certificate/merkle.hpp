/// \file
/// Merkle trees of RFC 9162, section 2.1: one digest that commits to a list of texts, and short proofs that a text is in
/// it. Trees split at the largest power of two below their size, as sums of leaves do. It knows no run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/sha256.hpp"

namespace etalon::training {

using Digest = Sha256::Digest;

/// Of a leaf with this text: a byte 0 goes before it, so that no leaf is an inner node.
[[nodiscard]] Digest leaf_digest(std::string_view text);

/// The tree's digest; of no leaves, that of the empty text.
[[nodiscard]] Digest merkle_root(std::span<const Digest> leaves);

/// The digests beside the path from a leaf to the root, the leaf's neighbour first.
/// \throws InternalError where there is no such leaf
[[nodiscard]] std::vector<Digest> inclusion_proof(std::span<const Digest> leaves, std::size_t leaf);

/// Whether the tree of `leaves` leaves with this root has this leaf there, by RFC 9162, section 2.1.3.2.
[[nodiscard]] bool proves_inclusion(const Digest& leaf, std::uint64_t at, std::uint64_t leaves, std::span<const Digest> proof,
                                    const Digest& root);

}  // namespace etalon::training
