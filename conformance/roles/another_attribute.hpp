/// \file
/// A call under another attribute that reads the same: what caches confuse that are keyed by too little. It knows no operation.
#pragma once

#include <optional>

#include "conformance/roles/drawn_call.hpp"

namespace etalon::conformance {

struct AnotherAttribute {
  DrawnCall call;
  bool alike = false;  ///< its results have the same types, so that keys which hold types do not tell them apart
  bool tells = false;  ///< a list holds other numbers, not the same in another order
};

/// One that is alike and tells where one is found, then one that is alike. Nothing where no attribute can be another.
[[nodiscard]] std::optional<AnotherAttribute> with_another_attribute(const ProgramWish& wish, Draw& draw, const DrawnCall& first);

}  // namespace etalon::conformance
