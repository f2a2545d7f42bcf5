#include "conformance/interchange/onnx/node_translation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "conformance/values.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Lists of integers are extents, axes, strides and paddings: beyond this they are none, and sums of a few are no overflow.
constexpr std::int64_t largest = std::int64_t{1} << 40U;

[[nodiscard]] std::int64_t integer_at(const HostTensor& tensor, std::size_t i) {
  if (tensor.dtype == DType::i64) return tensor.view<std::int64_t>()[i];
  return static_cast<std::int64_t>(element(tensor, i));
}

[[nodiscard]] Integers cut(Integers numbers) {
  for (std::int64_t& n : numbers) n = std::clamp(n, -largest, largest);
  return numbers;
}

[[nodiscard]] Integers in_range(Integers numbers, const std::string& what) {
  refuse(numbers != cut(numbers), what + " is out of range");
  return numbers;
}

/// All elements of a tensor of integers.
[[nodiscard]] Integers integers_of(const HostTensor& tensor, std::size_t i) {
  refuse(kind_of(tensor.dtype) != Kind::integer, fmt::format("input {} must be integers", i + 1));
  Integers numbers;
  for (std::size_t k = 0; k < static_cast<std::size_t>(tensor.dims.count()); ++k) numbers.push_back(integer_at(tensor, k));
  return numbers;
}

}  // namespace

const Value& NodeTranslation::x(std::size_t i) const {
  refuse(!has(i), fmt::format("input {} is missing", i + 1));
  return operands_[i];
}

const HostTensor& NodeTranslation::known(std::size_t i) const {
  const Value& value = x(i);
  if (value->known) return *value->known;
  const std::string name = as_quoted(node_.inputs[i]);
  if (value->role == spec::Role::input && !value->name.empty())
    throw Refused(fmt::format("input \"{}\" must be known in advance; give it with --known {}=FILE.pb", name, name));
  throw Refused(fmt::format("input \"{}\" must be known in advance, and is computed", name));
}

Integers NodeTranslation::known_integers(std::size_t i) const { return in_range(integers_of(known(i), i), fmt::format("input {}", i + 1)); }
Integers NodeTranslation::known_places(std::size_t i) const { return cut(integers_of(known(i), i)); }

double NodeTranslation::known_number(std::size_t i) const {
  const HostTensor& tensor = known(i);
  refuse(tensor.dims.count() != 1, fmt::format("input {} must be one number", i + 1));
  return element(tensor, 0);
}

std::int64_t NodeTranslation::known_place(std::size_t i) const {
  const Integers places = known_places(i);
  refuse(places.size() != 1, fmt::format("input {} must be one number", i + 1));
  return places.front();
}

const AttributeValue* NodeTranslation::find(std::string_view name) {
  asked_.emplace(name);
  const auto at = node_.attributes.find(std::string(name));
  return at == node_.attributes.end() ? nullptr : &at->second;
}

template <class T>
const T* NodeTranslation::found(std::string_view name, const char* kind) {
  const AttributeValue* value = find(name);
  if (value == nullptr) return nullptr;
  const T* of_kind = std::get_if<T>(value);
  if (of_kind == nullptr) {
    const auto* other = std::get_if<NotOffered>(value);
    throw Refused(
        fmt::format("attribute \"{}\" must be {}{}{}", name, kind, other == nullptr ? "" : ": ", other == nullptr ? "" : other->why));
  }
  return of_kind;
}

bool NodeTranslation::says(std::string_view name) { return find(name) != nullptr; }

std::int64_t NodeTranslation::integer(std::string_view name, std::int64_t otherwise) {
  const auto* value = found<std::int64_t>(name, "an integer");
  refuse(value != nullptr && (*value < -largest || *value > largest), fmt::format("attribute \"{}\" is out of range", name));
  return value == nullptr ? otherwise : *value;
}

double NodeTranslation::real(std::string_view name, double otherwise) {
  const auto* value = found<double>(name, "a real");
  return value == nullptr ? otherwise : *value;
}

std::string NodeTranslation::text(std::string_view name, std::string_view otherwise) {
  const auto* value = found<std::string>(name, "a text");
  return value == nullptr ? std::string(otherwise) : *value;
}

std::optional<Integers> NodeTranslation::integers(std::string_view name) {
  const auto* value = found<Integers>(name, "a list of integers");
  if (value == nullptr) return std::nullopt;
  return in_range(*value, fmt::format("attribute \"{}\"", name));
}

std::optional<Integers> NodeTranslation::places(std::string_view name) {
  const auto* value = found<Integers>(name, "a list of integers");
  if (value == nullptr) return std::nullopt;
  return cut(*value);
}

std::optional<std::vector<double>> NodeTranslation::reals(std::string_view name) {
  const auto* value = found<std::vector<double>>(name, "a list of reals");
  if (value == nullptr) return std::nullopt;
  return *value;
}

const HostTensor* NodeTranslation::tensor(std::string_view name) {
  const auto* value = found<Tensor>(name, "a tensor");
  if (value == nullptr) return nullptr;
  if (const auto* why = std::get_if<std::string>(value)) throw Refused(*why);
  return &std::get<HostTensor>(*value);
}

std::int64_t NodeTranslation::axis(std::string_view name, std::int64_t otherwise, std::int64_t rank) {
  return from_front(integer(name, otherwise), rank);
}

void NodeTranslation::read_over(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) asked_.emplace(name);
}

std::optional<std::string> NodeTranslation::unread() const {
  for (const auto& [name, value] : node_.attributes) {
    if (!asked_.contains(name)) return name;
  }
  return std::nullopt;
}

Value NodeTranslation::einsum(const std::string& specification) {
  for (std::size_t i = 0; i < operands_.size(); ++i) (void)x(i);
  return writer_.einsum(specification, operands_);
}

Value scalar(double number, DType dtype) {
  const double most = dtype == DType::boolean ? 1 : dtype == DType::i32 ? 0x1p31 - 1 : 0x1p53;
  refuse(kind_of(dtype) != Kind::real && !(std::abs(number) <= most && number == std::floor(number)),
         fmt::format("{} is no number of {}", number, name_of(dtype)));
  HostTensor tensor(dtype, {});
  set_element(tensor, 0, number);
  return known_value(std::move(tensor));
}

spec::AttributeValue attribute_of(const HostTensor& tensor) {
  if (kind_of(tensor.dtype) == Kind::boolean) return element(tensor, 0) != 0;
  if (kind_of(tensor.dtype) == Kind::integer) return integer_at(tensor, 0);
  return element(tensor, 0);
}

Value integers_value(const Integers& integers) {
  return known_value(HostTensor::of<std::int64_t>({static_cast<std::int64_t>(integers.size())}, integers));
}

Integers extents_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

std::int64_t from_front(std::int64_t axis, std::int64_t rank) {
  refuse(axis < -rank || axis >= rank, fmt::format("there is no axis {} among {}", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

std::int64_t product(std::span<const std::int64_t> factors) {
  std::int64_t all = 1;
  for (const std::int64_t factor : factors)
    refuse(__builtin_mul_overflow(all, factor, &all) || all < 0 || all > largest, "a tensor is larger than is offered");
  return all;
}

Integers joined(const Integers& a, const Integers& b) {
  const Integers& longer = a.size() < b.size() ? b : a;
  const Integers& shorter = a.size() < b.size() ? a : b;
  Integers join = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = join[longer.size() - shorter.size() + i];
    refuse(extent != shorter[i] && extent != 1 && shorter[i] != 1, fmt::format("the extents {} and {} do not join", extent, shorter[i]));
    if (extent == 1) extent = shorter[i];
  }
  return join;
}

}  // namespace etalon::conformance::onnx
