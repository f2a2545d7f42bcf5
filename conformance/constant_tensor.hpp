/// \file
/// Calls that make a tensor of one number, by the form of their definition. It knows no operation by name.
#pragma once

#include <optional>
#include <string>

#include "conformance/assignment.hpp"
#include "spec/notation/definition.hpp"
#include "spec/value_type.hpp"

namespace etalon::conformance {

/// The attributes of a definition that makes a tensor of one number, which is an attribute or stands in its text.
struct ConstantTensor {
  std::string shape, number, dtype;
  std::optional<double> always{};  ///< the number, where there is no attribute for it

  /// Whether it can make this one, which a zero of the other sign is not.
  [[nodiscard]] bool makes(double value) const;

  /// The choices for a tensor of this type; what is no real is cut off.
  [[nodiscard]] Assignment of(const spec::ValueType& type, double value) const;
};

/// Nothing of a definition that is none: it reads nothing, and each element is an attribute or one literal.
[[nodiscard]] std::optional<ConstantTensor> constant_tensor(const spec::Definition& definition);

}  // namespace etalon::conformance
