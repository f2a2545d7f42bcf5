/// \file
/// The vector math library: which of its symbols computes a primitive in how many lanes. All variants chosen for one
/// machine give the same bits for the same element.
#pragma once

#include <span>
#include <string>

#include "compiled/machine/machine.hpp"
#include "spec/scalar.hpp"

namespace etalon::compiled {

struct SleefSymbol {
  const char* name;
  void (*address)();
};

/// Every symbol that code for this machine may call.
[[nodiscard]] std::span<const SleefSymbol> sleef_symbols();

/// Whether the primitive is computed by the library.
[[nodiscard]] bool is_sleef(spec::Primitive primitive);

/// The symbol for `lanes` elements; lanes is 1 or the native number of lanes of that type.
[[nodiscard]] std::string sleef_name(spec::Primitive primitive, bool f64, unsigned lanes, const Machine& machine);

}  // namespace etalon::compiled
