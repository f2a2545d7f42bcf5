/// \file
/// What a contract admits of each tensor of an answer as a list of boxes, whose ends are numbers of the tensor's own type: a
/// reader needs no arithmetic but comparison. It knows no operation and no backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/bounds/envelope.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::conformance {

/// A box for a tensor as a whole: per element the outermost numbers of its type and what it may be besides.
struct Way {
  HostTensor lower, upper;           ///< the same of integers and truth values: the one value
  std::vector<std::uint8_t> admits;  ///< bits of `reference::Admissible`, `given_up` aside
};

/// A tensor is admitted where it lies in one of its boxes. Where boxes are joint, all tensors have as many, and the answer is
/// admitted where all of them lie in boxes of one position.
struct Ways {
  std::vector<std::vector<Way>> of_tensor;
  bool joint = false;
  bool open = false;               ///< a decision on computed numbers may go either way
  std::vector<HostTensor> meant{};  ///< per tensor the numbers nearest to what the equations mean
};

/// The most boxes of one tensor.
inline constexpr std::size_t most_ways = 8;

/// Whether everything that the inner box admits is in the outer one.
[[nodiscard]] bool contains(const Way& outer, const Way& inner);

/// The boxes of everything that is admitted; nothing where they are more than `most_ways`.
/// \param admitted what the meaning admits, then each other schema, as `for_each_admitted` visits them
[[nodiscard]] std::optional<Ways> ways_of(const std::vector<reference::Envelopes>& admitted);

}  // namespace etalon::conformance
