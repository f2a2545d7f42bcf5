/// \file
/// Etalon with one decision of its compiler left out, to measure what each of them buys.
#pragma once

#include <string>
#include <vector>

#include "compiled/runtime/executable.hpp"

namespace etalon::bench {

struct Variant {
  std::string name;  ///< of the decision
  std::string what;  ///< one line
  std::string off;   ///< what `etalon compile --off` calls it
  void leave_out(compiled::CompileOptions& options) const { options.off.insert(off); }
};

[[nodiscard]] const std::vector<Variant>& variants();

/// How the competitor is called that leaves a decision out.
[[nodiscard]] inline std::string name_without(const std::string& decision) { return "without-" + decision; }

/// \throws SpecViolation with the nearest name
[[nodiscard]] const Variant& variant_named(const std::string& name);

}  // namespace etalon::bench
