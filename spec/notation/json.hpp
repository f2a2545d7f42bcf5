/// \file
/// Definitions as JSON: what `etalon spec --json` prints for readers in other languages. It knows no operation by name.
#pragma once

#include <span>
#include <string>

#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// One definition as a JSON object: name, doc, text, operands, attributes, results, clauses, each with its text.
[[nodiscard]] std::string to_json(const Definition& definition);

/// `{"notation": 1, "operations": […]}`.
[[nodiscard]] std::string to_json(std::span<const Definition* const> definitions);

}  // namespace etalon::spec
