/// \file
/// One node of a model while it is translated: what a row may ask of it, and what a row may write. Whatever a row does not
/// ask of a node is refused. It knows no operator.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/interchange/onnx/model.hpp"
#include "conformance/interchange/program_writer.hpp"

namespace etalon::conformance::onnx {

using interchange::Integers, interchange::Item, interchange::Refused, interchange::Value, interchange::Values, interchange::Writer;
using interchange::known_value, interchange::refuse;

class NodeTranslation {
 public:
  /// \param meaning the library's name that stands in the row
  NodeTranslation(const Node& node, std::int64_t opset, std::string_view meaning, Values operands, Writer& writer)
      : node_(node), opset_(opset), meaning_(meaning), operands_(std::move(operands)), writer_(writer) {}

  [[nodiscard]] const std::string& operation() const { return node_.operation; }
  [[nodiscard]] std::string_view meaning() const { return meaning_; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }

  // --- operands ---

  [[nodiscard]] bool has(std::size_t i) const { return i < operands_.size() && operands_[i] != nullptr; }
  /// Operand i. \throws Refused where it is left out
  [[nodiscard]] const Value& x(std::size_t i = 0) const;
  /// Operand i, or nothing.
  [[nodiscard]] Value x_or_nothing(std::size_t i) const { return has(i) ? operands_[i] : nullptr; }
  [[nodiscard]] const Values& all() const { return operands_; }
  [[nodiscard]] const Dims& dims(std::size_t i = 0) const { return x(i)->type.dims; }
  [[nodiscard]] DType dtype(std::size_t i = 0) const { return x(i)->type.dtype; }
  [[nodiscard]] std::int64_t rank(std::size_t i = 0) const { return static_cast<std::int64_t>(dims(i).rank); }
  /// How many results the model gives a name, and whether result i has one.
  [[nodiscard]] std::size_t results() const { return node_.outputs.size(); }
  [[nodiscard]] bool wants(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  // --- operands that must be known in advance: \throws Refused where they are not ---

  [[nodiscard]] const HostTensor& known(std::size_t i) const;
  [[nodiscard]] Integers known_integers(std::size_t i) const;
  /// The same, where numbers that are too large to be places stand for the last one.
  [[nodiscard]] Integers known_places(std::size_t i) const;
  /// The only number of operand i.
  [[nodiscard]] double known_number(std::size_t i) const;
  /// The only number of operand i, an integer; one that is too large to be a place stands for the last one.
  [[nodiscard]] std::int64_t known_place(std::size_t i) const;

  // --- attributes: \throws Refused for one of another kind ---

  [[nodiscard]] bool says(std::string_view name);
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise);
  [[nodiscard]] double real(std::string_view name, double otherwise);
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise);
  [[nodiscard]] std::optional<Integers> integers(std::string_view name);
  [[nodiscard]] Integers integers(std::string_view name, const Integers& otherwise) { return integers(name).value_or(otherwise); }
  /// The same, where numbers that are too large to be places stand for the last one.
  [[nodiscard]] std::optional<Integers> places(std::string_view name);
  [[nodiscard]] std::optional<std::vector<double>> reals(std::string_view name);
  [[nodiscard]] const HostTensor* tensor(std::string_view name);
  /// An axis counted from the front. \throws Refused for one that is not there
  [[nodiscard]] std::int64_t axis(std::string_view name, std::int64_t otherwise, std::int64_t rank);
  /// What is said of these changes no number.
  void read_over(std::initializer_list<std::string_view> names);
  /// The attribute that no row asked for, if there is one.
  [[nodiscard]] std::optional<std::string> unread() const;

  // --- writing ---

  [[nodiscard]] Values call(std::string_view operation, const Values& operands, const spec::Attributes& attributes = {},
                            const std::vector<std::size_t>& packs = {}) {
    return writer_.call(operation, operands, attributes, packs);
  }
  [[nodiscard]] Value one(std::string_view operation, const Values& operands, const spec::Attributes& attributes = {}) {
    return call(operation, operands, attributes).front();
  }
  [[nodiscard]] Value reshaped(const Value& value, const Integers& shape) { return one("reshape", {value}, {{"shape", shape}}); }
  /// Of all operands. \throws Refused where one is left out
  [[nodiscard]] Value einsum(const std::string& specification);

 private:
  [[nodiscard]] const AttributeValue* find(std::string_view name);
  template <class T>
  [[nodiscard]] const T* found(std::string_view name, const char* kind);

  const Node& node_;
  std::int64_t opset_;
  std::string_view meaning_;
  Values operands_;
  Writer& writer_;
  std::set<std::string, std::less<>> asked_;
};

/// A number of this type; a real is rounded to it. \throws Refused where the type is of integers, and the number none
[[nodiscard]] Value scalar(double number, DType dtype);
/// The first element as an attribute, to its last digit.
[[nodiscard]] spec::AttributeValue attribute_of(const HostTensor& tensor);
/// A list of i64.
[[nodiscard]] Value integers_value(const Integers& integers);
/// The extents as a list.
[[nodiscard]] Integers extents_of(const Dims& dims);
/// From the front. \throws Refused for an axis that is not there
[[nodiscard]] std::int64_t from_front(std::int64_t axis, std::int64_t rank);
/// The product. \throws Refused beyond 2^40
[[nodiscard]] std::int64_t product(std::span<const std::int64_t> factors);
/// What both join to by broadcasting. \throws Refused
[[nodiscard]] Integers joined(const Integers& a, const Integers& b);

}  // namespace etalon::conformance::onnx
