/// \file
/// Tasks whose rows are sequences of symbols (training/data/sequences.hpp).
#pragma once

#include <cstdint>

#include "training/task.hpp"

namespace etalon::training {

inline constexpr std::int64_t window_length = 32;   ///< characters of a row of text
inline constexpr std::int64_t names_context = 3;    ///< letters before the one that is answered
inline constexpr std::int64_t register_length = 24; ///< symbols of a row
inline constexpr std::int64_t register_values = 4;  ///< that the register may hold

/// A table of pairs of characters.
[[nodiscard]] Task text_bigram();
/// Two blocks of causal attention, 32 wide, whose answers are read by the embedding that reads characters in.
[[nodiscard]] Task text_gpt();
/// Three letters → embeddings of 10 → 64 → the next letter.
[[nodiscard]] Task names_mlp();
/// One block of causal attention, 16 wide.
[[nodiscard]] Task register_transformer();
/// A gated recurrent unit, 16 wide.
[[nodiscard]] Task register_gru();
/// A long short-term memory, 16 wide.
[[nodiscard]] Task register_lstm();

}  // namespace etalon::training
