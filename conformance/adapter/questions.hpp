/// \file
/// Small well-typed requests to try an adapter with, drawn from the definitions as the suite's cases are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// At most `most` of what the adapter offers and the library has, spread evenly.
[[nodiscard]] std::vector<std::string> operations_of(const spec::Description& description, std::size_t most);

/// The type that questions are asked in: f32 where it is offered. Nothing when no real type is.
[[nodiscard]] std::optional<DType> asked_dtype(const spec::Description& description);

/// A request with few elements, or nothing when the operation has none in this check.
[[nodiscard]] std::optional<spec::Request> small_request(const std::string& operation, Check check, DType dtype);

/// One with an operand of several axes, whose elements are not in the order of columns as well.
[[nodiscard]] std::optional<spec::Request> matrix_request(const std::string& operation, DType dtype);

/// One with an operand that holds no element.
[[nodiscard]] std::optional<spec::Request> empty_request(const std::string& operation, DType dtype);

/// The same question forward over reverse: to a vjp, tangents of the same numbers as the inputs.
[[nodiscard]] spec::Request second_of(spec::Request vjp);

/// The line with one operand laid out column by column behind one foreign element, and the line in which that buffer's
/// first elements are given as if they were dense: who answers both alike has ignored the strides.
struct Strided {
  std::string line;
  std::string misread;
};
/// Nothing when no operand has two extents above 1.
[[nodiscard]] std::optional<Strided> strided(const spec::Request& request, const std::string& id, const std::string& misread_id);

/// The line with fields that nobody knows, in the request, its program, calls and tensors.
[[nodiscard]] std::string with_unknown_fields(const spec::Request& request);

}  // namespace etalon::conformance
