/// \file
/// One unit run on memory: its script, command by command, on the processor.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compiled/runtime/buffer.hpp"
#include "compiled/runtime/unit.hpp"

namespace etalon::compiled {

/// Where a unit's operands are is found once for the same memory. One run at a time; replays of one unit with arenas of their own run at
/// the same time, on different inputs where these are written.
class Replay {
 public:
  /// Both outlive it. \param arena memory for intermediates; it is made larger where the unit needs more
  Replay(const Unit& unit, Buffer& arena);

  /// \param inputs memory per input; that of updated inputs is written.
  /// \param outputs memory per output; not used for updates.
  void run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs);

  [[nodiscard]] const Unit& unit() const { return *unit_; }

 private:
  void place(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs);
  [[nodiscard]] std::byte* at(const Memory& memory) const;
  void does(const Launch& launch);
  void does(const Fill& fill);
  void does(const Move& move);

  const Unit* unit_;
  Buffer* arena_;
  std::vector<std::byte*> inputs_;   ///< where the operands below are from
  std::vector<std::byte*> outputs_;
  const std::byte* arena_at_ = nullptr;
  std::vector<std::vector<std::byte*>> operands_;  ///< of each kernel
};

}  // namespace etalon::compiled
