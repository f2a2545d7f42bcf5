// Calls of definitions written in a test.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "spec/notation/parse.hpp"
#include "spec/notation/typing.hpp"

namespace etalon::spec {

using Operands = std::vector<std::optional<ValueType>>;

inline ValueType f32(const Dims& d) { return {DType::f32, d}; }
inline ValueType f64(const Dims& d) { return {DType::f64, d}; }
inline ValueType i64(const Dims& d) { return {DType::i64, d}; }
inline ValueType flag(const Dims& d) { return {DType::boolean, d}; }

/// The message of parsing a text; empty when it is a definition.
inline std::string parse_error(std::string_view text) {
  const auto d = std::make_unique<Definition>(parse(text));
  return std::string(d->diagnosis.message());
}

/// The message of typing a call; empty when it is well typed.
inline std::string type_error(std::string_view text, const Operands& operands, std::string_view attributes = "",
                              const std::vector<std::size_t>& packs = {}) {
  const auto d = std::make_unique<Definition>(parse(text));
  return std::string(type_call(*d, operands, packs, bind_attributes(*d, attributes)).diagnosis.message());
}

/// The types of the results of a call.
inline std::vector<ValueType> type_of(std::string_view text, const Operands& operands,
                                      std::string_view attributes = "", const std::vector<std::size_t>& packs = {}) {
  const auto d = std::make_unique<Definition>(parse(text));
  const Typing t = type_call(*d, operands, packs, bind_attributes(*d, attributes));
  if (!t.ok()) return {};
  return {t.results, t.results + t.result_count};
}

/// The instance of a call.
inline Instance instance_of(std::string_view text, const Operands& operands, const Attributes& attributes = {},
                            const std::vector<std::size_t>& packs = {}) {
  const auto d = std::make_unique<Definition>(parse(text));
  return instantiate(*d, operands, packs, attributes);
}

/// The equations of a call as text, without the lines of inputs and outputs.
inline std::string equations_of(std::string_view text, const Operands& operands, const Attributes& attributes = {},
                                const std::vector<std::size_t>& packs = {}) {
  const std::string all = to_text(instance_of(text, operands, attributes, packs).system);
  std::string kept;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    if (line.rfind("input ", 0) != 0 && line.rfind("output ", 0) != 0) kept += line + "\n";
    at = end == std::string::npos ? all.size() : end + 1;
  }
  return kept;
}

}  // namespace etalon::spec
