/// \file
/// What is said to the process that runs a kernel: a request as a line of words, and its answer back. It starts nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/isolation/plugin_request.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// The first question to a process: whether it has the kernel. The answer is `ready`, or `broken` and why not.
inline constexpr std::string_view hello = "hello", ready = "ready";

/// One call that a kernel is asked to answer.
class KernelCall {
 public:
  /// \throws Unsupported for a request that is not the values of one call, SpecViolation for an ill-typed one
  explicit KernelCall(const spec::Request& request);

  /// The words `call POISON`, then four lists, each a count and its members: operands `-1`, or element type, rank,
  /// extents, strides, offset and size of the buffer in bytes, and the buffer; results, element type, rank, extents and
  /// bytes; attributes, name, kind (spec/backend.h) and value; declared operands, the members of a pack or -1. Bytes are
  /// hexadecimal, `-` for none.
  /// \param poison the byte that room for results is filled with
  [[nodiscard]] std::string line(unsigned poison) const;

 private:
  std::string before_;  ///< what is said before the poison …
  std::string after_;   ///< … and after it
};

/// The answer in a line: `done` and the results (element type, rank, extents, bytes), `declined` and why, `broken` and
/// what was wrong. Whatever else it is is a refusal of kind error.
[[nodiscard]] spec::Answer kernel_answer(std::string_view line);

/// The elements whose every byte is `poison`: result and place.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> poisoned(const spec::Numbers& numbers, unsigned poison);

}  // namespace etalon::conformance
