/// \file
/// What a backend says that it offers, as the limit of what it is asked. It knows no operation by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/case.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

[[nodiscard]] bool offers(const spec::Description& description, std::string_view operation);
[[nodiscard]] bool offers(const spec::Description& description, spec::Mode mode);
[[nodiscard]] bool offers(const spec::Description& description, DType dtype);
/// Whether what the calls of a program take for attributes is offered: numbers are, scalars of the program may not be.
[[nodiscard]] bool offers_attributes(const spec::Description& description, const spec::Program& program);

/// The element type that a case of one call needs, as an operand or a result, and that is not offered; nothing where
/// all are. Of an ill-typed call the operands alone count.
[[nodiscard]] std::optional<DType> missing_type(const spec::Description& description, const Case& c);

}  // namespace etalon::conformance
