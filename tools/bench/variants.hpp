/// \file
/// Etalon with one decision of its compiler left out, to measure what each of them buys.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiled/executable.hpp"

namespace etalon::bench {

struct Variant {
  std::string name;  ///< of the decision
  std::string what;  ///< one line
  std::function<void(compiled::CompileOptions&)> leave_out;
};

[[nodiscard]] const std::vector<Variant>& variants();

/// How the competitor is called that leaves a decision out.
[[nodiscard]] inline std::string name_without(const std::string& decision) { return "without-" + decision; }

/// \throws SpecViolation with the nearest name
[[nodiscard]] const Variant& variant_named(const std::string& name);

}  // namespace etalon::bench
