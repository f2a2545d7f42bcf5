/// \file
/// What rank 0, which keeps the run, has the other ranks do. It moves no numbers of a model.
#pragma once

#include <cstdint>

#include "training/ranks/ranks.hpp"

namespace etalon::training {

struct RankOrder {
  enum class Kind : std::int64_t {
    step,     ///< compute the step of that number
    whole,    ///< give the others what owners keep to themselves
    compare,  ///< tell the digest of the state
    state,    ///< take the state that comes
    end       ///< there is no more to do
  };
  Kind kind = Kind::end;
  std::int64_t step = 0;
};

/// Of rank 0. \throws DeviceError
void give(Ranks& ranks, const RankOrder& order);
/// Of the others: waits for the next one. \throws DeviceError
[[nodiscard]] RankOrder next_order(Ranks& ranks);

}  // namespace etalon::training
