/// \file
/// Whether a call that reads another one gives back something simpler among ordinary numbers: what that had read, or one number
/// throughout. Compilers rewrite such pairs, and among other numbers most of them must not. It knows no operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "spec/value_type.hpp"

namespace etalon::conformance {

/// What an operand of the second call reads.
struct Link {
  enum class To : std::uint8_t { itself, result, operand } to = To::itself;  ///< a value of its own, the first result of the first call, or an operand of that
  std::size_t place = 0;  ///< of that operand
  [[nodiscard]] friend bool operator==(const Link&, const Link&) = default;
};

/// All choices of links for operands of these types that read the result at least once. Absent operands read nothing.
[[nodiscard]] std::vector<std::vector<Link>> ways_to_read(const std::vector<std::optional<spec::ValueType>>& operands,
                                                          const std::vector<std::optional<spec::ValueType>>& first_operands, const spec::ValueType& result);

/// One link per operand of `second`, to values of its type.
[[nodiscard]] bool collapses(const spec::Instance& first, const spec::Instance& second, const std::vector<Link>& links);

}  // namespace etalon::conformance
