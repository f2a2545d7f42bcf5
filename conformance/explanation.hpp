/// \file
/// What an operation means, for readers, read off the equations of a sample call. It knows no operation by name.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "spec/dtype.hpp"
#include "spec/library/library.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// The definition, the types of a sample call, its equations, domain and kinks, the reverse derivative, and an example in numbers
/// with the interval that careful IEEE arithmetic admits for each.
/// \param number another sample for each
/// \throws SpecViolation naming the nearest operation where there is none of this name
void explain(std::ostream& out, const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number);

/// The equations of the tangents of the results, given those of the real inputs; empty where there is no derivative.
[[nodiscard]] std::string jvp_text(const spec::System& system);
/// The equations of the cotangents of the real inputs, given those of the results; empty where there is no derivative.
[[nodiscard]] std::string vjp_text(const spec::System& system);

}  // namespace etalon::conformance
