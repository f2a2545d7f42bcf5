/// \file
/// A box of admitted values as comparisons that any format has: between two ends, equal, NaN, or nothing at all. It
/// knows no format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/ways.hpp"

namespace etalon::conformance::interchange {

/// One of what an element may be; it is admitted where one holds.
struct Alternative {
  enum class Kind : std::uint8_t {
    equal,    ///< to `lower`: truth values
    box,      ///< between `lower` and `upper`, both included; an empty one, from inf to -inf, where it is none of the
              ///< element's
    nan,      ///< NaN where the mask `lower` is true
    anything  ///< whatever it is, where the mask `lower` is true
  };
  Kind kind = Kind::box;
  std::string suffix;  ///< tells several boxes apart: empty, `_inf`, `_minus_inf`
  HostTensor lower, upper;
};

/// All of them; at least one. Infinities are boxes of their own.
/// \param dtype of what is compared
[[nodiscard]] std::vector<Alternative> alternatives_of(const Way& way, DType dtype);

}  // namespace etalon::conformance::interchange
