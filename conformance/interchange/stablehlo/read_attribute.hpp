/// \file
/// Types and attributes in the text of a module. It knows no instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/interchange/stablehlo/scanner.hpp"

namespace etalon::conformance::stablehlo {

/// What may stand in each other stands at most so deep.
inline constexpr std::size_t deepest = 64;

/// The elements of `dense<…>` before its type is known.
struct Literal {
  Position at;
  std::string bits;                   ///< of all elements, hexadecimal digits as they stand in memory
  std::vector<std::string> elements;  ///< otherwise, row-major
  std::optional<Extents> extents{};   ///< of lists; nothing of one element that stands for all
};

class AttributeReader {
 public:
  explicit AttributeReader(Scanner& scan) : scan_(scan) {}

  [[nodiscard]] Type type();
  /// One type, or several in parentheses.
  [[nodiscard]] std::vector<Type> types();

  /// \param is_typed whether `: i64` may stand behind a number
  [[nodiscard]] Attribute attribute(bool is_typed);
  /// `{a = 1 : i64, b}`
  [[nodiscard]] Attributes dictionary();
  /// `a = 1 : i64, b` up to that sign.
  [[nodiscard]] Attributes entries(std::string_view end);
  /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` as `input`, `kernel` and `output`.
  [[nodiscard]] Attributes dimension_numbers();

  /// From `dense` on.
  [[nodiscard]] Literal literal();
  [[nodiscard]] Numbers numbers(const Literal& literal, const Type& type) const;

 private:
  class Deeper;
  void read_elements(Literal& literal, std::size_t axis);
  [[nodiscard]] AttributeList list();
  [[nodiscard]] Attribute of_dialect();
  [[nodiscard]] Attribute of_word(bool is_typed);
  [[nodiscard]] Attribute of_number(std::string_view number, bool is_typed);
  void pass_over_type();

  Scanner& scan_;
  std::size_t depth_ = 0;
};

}  // namespace etalon::conformance::stablehlo
