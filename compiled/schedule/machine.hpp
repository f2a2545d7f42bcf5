/// \file
/// What decisions about loops need to know of a machine. It knows no instruction.
#pragma once

#include <cstdint>

namespace etalon::compiled {

struct Machine {
  unsigned lanes_f32 = 1;          ///< single-precision numbers in one vector; 1 when there are no vectors
  unsigned vector_registers = 16;
  std::int64_t near_bytes = std::int64_t{32} << 10;   ///< of the first-level cache
  std::int64_t middle_bytes = std::int64_t{1} << 20;  ///< of the second-level cache
  std::int64_t last_bytes = std::int64_t{32} << 20;   ///< of the last cache before memory, which cores share
};

}  // namespace etalon::compiled
