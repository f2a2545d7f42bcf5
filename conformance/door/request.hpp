/// \file
/// What the door is asked, read from JSON. It computes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spec/dtype.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {

enum class DoorKind : std::uint8_t { check, derive, explain };

struct DoorRequest {
  DoorKind kind = DoorKind::check;
  std::string definitions, program;
  std::string operation;    ///< of `derive` and `explain`; empty: the last one that is defined
  DType dtype = DType::f32; ///< of the sample call, f32 or f64
  std::uint64_t sample = 0;
};

/// What messages call the two texts of a request.
inline constexpr const char* definitions_text = "definitions";
inline constexpr const char* program_text = "program";

/// \throws SpecViolation naming the field, what was expected and what was found
[[nodiscard]] DoorRequest door_request(std::string_view text);

/// The operation that is explained. \throws SpecViolation where the request names none and defines none
[[nodiscard]] std::string operation_of(const DoorRequest& request, const spec::Library& library);

}  // namespace etalon::conformance
