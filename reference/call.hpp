/// \file
/// One call of an operation on untyped values: elaborate, then evaluate. The core behind the typed edge.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/array.hpp"
#include "spec/attribute.hpp"
#include "spec/notation/definition.hpp"
#include "spec/value_type.hpp"

namespace etalon::reference {

/// The results of `definition(operands) {attributes}` for the present operands' values, in order. The attributes are
/// those of the text (`axis=0, keepdims=true`) and of `set`, which wins. Offered for every number type of evaluate.
/// \throws SpecViolation with the diagnosis of an ill-typed call.
template <class T>
[[nodiscard]] std::vector<Array<T>> call_operation(const spec::Definition& definition,
                                                   std::span<const std::optional<spec::ValueType>> operands,
                                                   std::span<const std::size_t> packs, std::string_view attributes,
                                                   const spec::Attributes& set, std::span<const Array<T>> values);

}  // namespace etalon::reference
