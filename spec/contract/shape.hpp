/// \file
/// What a JSON value may be, as data: the validator and the published schema are two readings of it. It knows no contract.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace etalon::spec {

/// A kind of JSON value, with a sentence for people.
struct Shape {
  enum class Kind : std::uint8_t { boolean, integer, number, text, choice, object, anything };

  Kind kind = Kind::anything;
  std::string meaning{};
  double least = 0;                    ///< of integers and numbers
  double most = 0;                     ///< of integers
  bool or_null = false;
  std::vector<std::string> choices{};  ///< of choices
  std::string key{};                   ///< of a field of an object
  std::vector<Shape> fields{};         ///< of objects; every one may be missing

  /// `a number >= 0`, as messages say it.
  [[nodiscard]] std::string wanted() const;
};

/// One line for each place where the value is not of the shape: `where.key: expected …, found …`.
void find_errors(const Shape& shape, const nlohmann::json& value, const std::string& where, std::vector<std::string>& errors);

/// The shape in JSON Schema.
[[nodiscard]] nlohmann::ordered_json schema_of(const Shape& shape);

}  // namespace etalon::spec
