/// \file
/// Calls of the same types with another value of one attribute. It knows no operation by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/case.hpp"

namespace etalon::adequacy {

struct OtherCall {
  std::string attribute;
  std::string text;
  spec::Instance instance;
};

/// Each attribute at its default, and at neighbouring values, where the types of operands and results stay what they
/// are; of these such as are wanted.
[[nodiscard]] std::vector<OtherCall> calls_with_other_attributes(
    const conformance::CallTypes& call, const spec::Instance& instance,
    const std::function<bool(const std::string& attribute, const std::string& text)>& wanted);

}  // namespace etalon::adequacy
