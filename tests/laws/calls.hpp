/// \file
/// Calls of operations by name over a number type, for laws that tie operations together.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/evaluate.hpp"
#include "reference/number.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::test {

template <class T>
using Values = std::vector<reference::Array<T>>;

/// The call's equations; `attributes` as in `axis=1, reduction=sum`. Reals are f64, integers i64.
template <class T>
spec::System system_of(const std::string& operation, const std::string& attributes, const Values<T>& operands,
                       std::vector<std::size_t> packs = {}) {
  std::vector<std::optional<spec::ValueType>> types;
  for (const auto& a : operands) {
    const DType dtype = a.kind == Kind::real ? DType::f64 : a.kind == Kind::integer ? DType::i64 : DType::boolean;
    types.push_back(spec::ValueType{dtype, a.dims});
  }
  const spec::Definition& d = spec::definition_named(operation);
  return spec::instantiate(d, types, packs, spec::attributes_from_text(d, attributes)).system;
}

template <class T>
Values<T> results(const std::string& operation, const std::string& attributes, const Values<T>& operands,
                  std::vector<std::size_t> packs = {}) {
  return reference::evaluate<T>(system_of<T>(operation, attributes, operands, std::move(packs)), operands);
}

template <class T>
reference::Array<T> result(const std::string& operation, const std::string& attributes, const Values<T>& operands,
                           std::vector<std::size_t> packs = {}) {
  return results<T>(operation, attributes, operands, std::move(packs)).at(0);
}

/// The cotangent of one operand for a cotangent of the only result.
template <class T>
reference::Array<T> cotangent(const std::string& operation, const std::string& attributes, const Values<T>& operands,
                              std::size_t of, const reference::Array<T>& of_result) {
  const std::vector<std::size_t> wrt{of};
  Values<T> inputs = operands;
  inputs.push_back(of_result);
  return reference::evaluate<T>(spec::vjp(system_of<T>(operation, attributes, operands), wrt), inputs).back();
}

}  // namespace etalon::test
