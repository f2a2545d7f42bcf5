/// \file
/// Definitions as JSON: what `etalon spec --json` lists for readers in other languages. It knows no operation by name.
#pragma once

#include <string>

#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// One definition as a JSON object: name, doc, text, operands, attributes, results, clauses, each with its text;
/// a clause has an id such as `softmax/C2`.
[[nodiscard]] std::string to_json(const Definition& definition);

}  // namespace etalon::spec
