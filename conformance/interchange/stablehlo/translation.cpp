#include "conformance/interchange/stablehlo/translation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/values.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// Integers are extents, axes, strides and paddings: beyond the longest axis they are none.
void add_integers(const Attribute& attribute, std::string_view name, Integers& all) {
  if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    refuse(*integer < -longest_axis || *integer > longest_axis, fmt::format("attribute \"{}\" is out of range", name));
    return all.push_back(*integer);
  }
  if (const auto* truth = std::get_if<bool>(&attribute.value)) return all.push_back(*truth ? 1 : 0);
  if (const auto* list = std::get_if<AttributeList>(&attribute.value)) {
    for (const Attribute& element : *list) add_integers(element, name, all);
    return;
  }
  const auto* numbers = std::get_if<Numbers>(&attribute.value);
  const auto* tensor = numbers == nullptr ? nullptr : std::get_if<HostTensor>(numbers);
  refuse(tensor == nullptr || kind_of(tensor->dtype) == Kind::real,
         fmt::format("attribute \"{}\" must be integers", name));
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor->dims.count()); ++i) {
    const double number = element(*tensor, i);
    refuse(!(number >= -static_cast<double>(longest_axis) && number <= static_cast<double>(longest_axis)),
           fmt::format("attribute \"{}\" is out of range", name));
    all.push_back(static_cast<std::int64_t>(number));
  }
}

}  // namespace

Integers integers_of(const Attribute& attribute, std::string_view name) {
  Integers all;
  add_integers(attribute, name, all);
  return all;
}

const Value& Translation::x(std::size_t i) const {
  refuse(i >= operands_.size(), fmt::format("operand {} is missing", i + 1));
  return operands_[i];
}

const TensorType& Translation::result(std::size_t i) const {
  refuse(i >= operation_.types.size(), fmt::format("the type of result {} is missing", i + 1));
  if (const auto* why = std::get_if<std::string>(&operation_.types[i])) throw Refused(*why);
  const auto& type = std::get<TensorType>(operation_.types[i]);
  refuse(type.extents.size() > Dims::max_rank, fmt::format("tensors of {} axes are not offered", type.extents.size()));
  return type;
}

const Attribute* Translation::find(std::string_view name) {
  asked_.emplace(name);
  const auto at = attributes_->find(name);
  return at == attributes_->end() ? nullptr : &at->second;
}

std::int64_t Translation::integer(std::string_view name, std::int64_t otherwise) {
  const Attribute* value = find(name);
  if (value == nullptr) return otherwise;
  const Integers found = integers_of(*value, name);
  refuse(found.size() != 1, fmt::format("attribute \"{}\" must be one integer", name));
  return found.front();
}

bool Translation::truth(std::string_view name) { return integer(name, 0) != 0; }

double Translation::real(std::string_view name) {
  const Attribute* value = find(name);
  const auto* number = value == nullptr ? nullptr : std::get_if<double>(&value->value);
  refuse(number == nullptr, fmt::format("attribute \"{}\" must be a real", name));
  const double rounded = static_cast<double>(static_cast<float>(*number));
  refuse(!std::isfinite(rounded), fmt::format("attribute \"{}\" must be finite", name));
  return rounded;
}

std::string Translation::text(std::string_view name, std::string_view otherwise) {
  const Attribute* value = find(name);
  if (value == nullptr) return std::string(otherwise);
  const auto* text = std::get_if<std::string>(&value->value);
  refuse(text == nullptr, fmt::format("attribute \"{}\" must be a word", name));
  return *text;
}

std::optional<Integers> Translation::integers(std::string_view name) {
  const Attribute* value = find(name);
  if (value == nullptr) return std::nullopt;
  return integers_of(*value, name);
}

Integers Translation::integers(std::string_view name, std::size_t number, std::int64_t otherwise) {
  Integers found = integers(name).value_or(Integers(number, otherwise));
  if (found.size() == 1 && number > 1) found.resize(number, found.front());  // `dense<1>` of several
  refuse(found.size() != number,
         fmt::format("attribute \"{}\" must have {} integers, found {}", name, number, found.size()));
  return found;
}

Translation Translation::within(std::string_view dictionary) {
  const Attribute* value = find(dictionary);
  const auto* entries = value == nullptr ? nullptr : std::get_if<Attributes>(&value->value);
  refuse(entries == nullptr, fmt::format("attribute \"{}\" must say dimensions", dictionary));
  Translation inner = *this;
  inner.attributes_ = entries;
  inner.asked_.clear();
  return inner;
}

const Block& Translation::region() const {
  refuse(operation_.regions.size() != 1, fmt::format("one region is expected, found {}", operation_.regions.size()));
  return operation_.regions.front();
}

const Block& Translation::region(std::size_t i) const {
  refuse(i >= operation_.regions.size(), fmt::format("region {} is missing", i + 1));
  return operation_.regions[i];
}

void Translation::read_over(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) asked_.emplace(name);
}

std::optional<std::string> Translation::unread() const {
  for (const auto& [name, value] : *attributes_) {
    const bool is_foreign = name.find('.') != std::string::npos && !name.ends_with(".right");
    if (!asked_.contains(name) && !is_foreign) return name;
  }
  return std::nullopt;
}

Values Translation::define_all(std::string_view prefix, const std::string& text, const Values& operands) {
  const std::string name = fmt::format("{}_{}", prefix, sha256_of(text).substr(0, 8));
  return writer_.define(name + text, operands);
}

Value Translation::converted(const Value& value, DType dtype) {
  const DType from = value->type.dtype;
  if (from == dtype) return value;
  if (dtype == DType::boolean) return one("ne", {value, scalar(0, from)});
  if (from == DType::boolean) return one("where", {value, scalar(1, dtype), scalar(0, dtype)});
  return one("cast", {value}, {{"dtype", std::string(name_of(dtype))}});
}

Value scalar(double number, DType dtype) {
  HostTensor tensor(dtype, {});
  set_element(tensor, 0, number);
  return known_value(std::move(tensor));
}

}  // namespace etalon::conformance::stablehlo
