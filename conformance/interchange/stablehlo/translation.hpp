/// \file
/// One instruction of a module while it is translated: what a row may ask of it, and what a row may write. Whatever a
/// row does not ask of it is refused. It knows no instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/interchange/program_writer.hpp"
#include "conformance/interchange/stablehlo/module.hpp"

namespace etalon::conformance::stablehlo {

using interchange::Integers, interchange::Item, interchange::Refused, interchange::Value, interchange::Values,
    interchange::Writer;
using interchange::known_value, interchange::refuse;

class Translation {
 public:
  /// \param meaning the library's name that stands in the row
  Translation(const Operation& operation, std::string_view meaning, Values operands, Writer& writer)
      : operation_(operation), meaning_(meaning), operands_(std::move(operands)), writer_(writer) {}

  [[nodiscard]] std::string_view meaning() const { return meaning_; }

  // --- operands and results ---

  [[nodiscard]] std::size_t count() const { return operands_.size(); }
  /// Operand i. \throws Refused where there is none
  [[nodiscard]] const Value& x(std::size_t i = 0) const;
  [[nodiscard]] const Values& all() const { return operands_; }
  [[nodiscard]] Integers extents(std::size_t i = 0) const { return {x(i)->type.dims.begin(), x(i)->type.dims.end()}; }
  [[nodiscard]] DType dtype(std::size_t i = 0) const { return x(i)->type.dtype; }
  [[nodiscard]] std::size_t rank(std::size_t i = 0) const { return x(i)->type.dims.rank; }
  /// The type of result i as the module declares it. \throws Refused for one that is not offered
  [[nodiscard]] const TensorType& result(std::size_t i = 0) const;

  // --- attributes: \throws Refused for one of another kind ---

  [[nodiscard]] bool says(std::string_view name) { return find(name) != nullptr; }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise);
  [[nodiscard]] bool truth(std::string_view name);
  /// A finite number of f32. \throws Refused also where it is missing
  [[nodiscard]] double real(std::string_view name);
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise);
  /// A list, or numbers of `dense<…>`; where nothing is said, so many of another number.
  [[nodiscard]] Integers integers(std::string_view name, std::size_t number, std::int64_t otherwise);
  [[nodiscard]] std::optional<Integers> integers(std::string_view name);
  /// What stands in a dictionary, as attributes of the instruction itself.
  [[nodiscard]] Translation within(std::string_view dictionary);
  [[nodiscard]] const Attribute* find(std::string_view name);
  /// The words of the pretty form.
  [[nodiscard]] const std::vector<std::string>& words() const { return operation_.words; }
  /// The only region.
  [[nodiscard]] const Block& region() const;
  /// Region i of several. \throws Refused where it is missing
  [[nodiscard]] const Block& region(std::size_t i) const;

  /// Says that these mean nothing here.
  void read_over(std::initializer_list<std::string_view> names);
  /// An attribute that was never asked for, or nothing. Names with a point are other dialects' and say nothing of
  /// numbers.
  [[nodiscard]] std::optional<std::string> unread() const;

  // --- writing ---

  [[nodiscard]] Values call(std::string_view operation, const Values& operands, const spec::Attributes& attributes = {},
                            const std::vector<std::size_t>& packs = {}) {
    return writer_.call(operation, operands, attributes, packs);
  }
  [[nodiscard]] Value one(std::string_view operation, const Values& operands, const spec::Attributes& attributes = {}) {
    return call(operation, operands, attributes).front();
  }
  /// The result of an operation of the program's own. The text is that of a definition without its name, which is
  /// `prefix` and what tells the text from others.
  [[nodiscard]] Value define(std::string_view prefix, const std::string& text, const Values& operands) {
    return define_all(prefix, text, operands).front();
  }
  /// All its results.
  [[nodiscard]] Values define_all(std::string_view prefix, const std::string& text, const Values& operands);
  /// The value as another element type.
  [[nodiscard]] Value converted(const Value& value, DType dtype);
  [[nodiscard]] Writer& writer() { return writer_; }

 private:
  const Operation& operation_;
  std::string_view meaning_;
  Values operands_;
  Writer& writer_;
  const Attributes* attributes_ = &operation_.attributes;
  std::set<std::string, std::less<>> asked_;
};

/// A list of integers, in lists in lists too, or numbers of `dense<…>`, in row-major order. \throws Refused for another
/// attribute
[[nodiscard]] Integers integers_of(const Attribute& attribute, std::string_view name);
/// A number of this type.
[[nodiscard]] Value scalar(double number, DType dtype);

}  // namespace etalon::conformance::stablehlo
