/// \file
/// The independent parts of a program: calls that share no value, directly or through others. Each is a program of its own.
/// It knows no bounds.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/backend.hpp"

namespace etalon::conformance {

/// One part, and the places of its inputs and outputs among those of the whole.
struct Component {
  spec::Request request;
  std::vector<std::size_t> inputs, outputs;

  /// What an answer to the whole holds of it. The answer's lists are as long as the request asks.
  [[nodiscard]] spec::Numbers part_of(const spec::Numbers& whole) const;
  /// The place of one of its judged tensors (outputs, then derivatives that are there) among those of the whole.
  [[nodiscard]] std::size_t place_in(const spec::Request& whole, std::size_t judged) const;
};

/// The parts of a program of calls alone, in order of their first inputs: an input that nothing reads is one. The inputs of
/// a part that is one call stand in the order in which that reads them, where it reads each once. None where the program is
/// one part as it stands, or where something else than calls joins values.
[[nodiscard]] std::vector<Component> components_of(const spec::Request& request);

}  // namespace etalon::conformance
