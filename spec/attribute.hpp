/// \file
/// Attribute values of a call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace etalon::spec {

/// A scalar value of the program used where an attribute stands, so that it is known only at run time. Only real
/// attributes that no shape depends on may be given so.
struct ValueName {
  std::string name;
  [[nodiscard]] friend bool operator==(const ValueName&, const ValueName&) = default;
};

/// An integer, a real (the nearest binary64 of its text), a truth value, a symbol such as `mean`, a list, or the name
/// of a scalar value.
using AttributeValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                                    std::vector<double>, ValueName>;
using Attributes = std::map<std::string, AttributeValue>;

}  // namespace etalon::spec
