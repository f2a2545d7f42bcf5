/// \file
/// Calls that make a tensor of one number, by the form of their definition. It knows no operation by name.
#pragma once

#include <optional>
#include <string>

#include "conformance/assignment.hpp"
#include "spec/notation/definition.hpp"
#include "spec/value_type.hpp"

namespace etalon::conformance {

/// The attributes of a definition that makes a tensor of one number.
struct ConstantTensor {
  std::string shape, number, dtype;

  /// The choices for a tensor of this type; what is no real is cut off.
  [[nodiscard]] Assignment of(const spec::ValueType& type, double value) const;
};

/// Nothing of a definition that is none: it reads nothing, and each element is an attribute.
[[nodiscard]] std::optional<ConstantTensor> constant_tensor(const spec::Definition& definition);

}  // namespace etalon::conformance
