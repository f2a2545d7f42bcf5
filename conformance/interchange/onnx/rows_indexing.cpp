#include <cmath>
#include <cstring>

#include "conformance/interchange/onnx/rows.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance::onnx {
namespace {

[[nodiscard]] Values constant(NodeTranslation& n) {
  if (const HostTensor* value = n.tensor("value")) return {known_value(*value)};
  if (n.says("value_float")) return {scalar(n.real("value_float", 0), DType::f32)};
  if (n.says("value_int")) return {scalar(static_cast<double>(n.integer("value_int", 0)), DType::i64)};
  if (const auto values = n.integers("value_ints")) return {integers_value(*values)};
  if (const auto values = n.reals("value_floats")) {
    HostTensor list(DType::f32, {static_cast<std::int64_t>(values->size())});
    for (std::size_t i = 0; i < values->size(); ++i) set_element(list, i, (*values)[i]);
    return {known_value(std::move(list))};
  }
  throw Refused("a constant of another kind");
}

[[nodiscard]] Values constant_of_shape(NodeTranslation& n) {
  const HostTensor* given = n.tensor("value");
  const HostTensor value = given == nullptr ? HostTensor(DType::f32, {1}) : *given;
  refuse(value.dims.count() != 1, "attribute \"value\" must be one number");
  return {
      n.one("full", {}, {{"shape", n.known_integers(0)}, {"value", attribute_of(value)}, {"dtype", std::string(name_of(value.dtype))}})};
}

/// Places counted from the end become such counted from the front.
[[nodiscard]] Value counted_from_front(NodeTranslation& n, std::size_t i, std::int64_t extent) {
  const Value& places = n.x(i);
  refuse(kind_of(places->type.dtype) != Kind::integer, "places must be integers");
  if (places->known) {
    bool is_plain = true;
    for (const std::int64_t place : n.known_places(i)) is_plain = is_plain && place >= 0;
    if (is_plain) return places;
  }
  const Value below = n.one("lt", {places, scalar(0, places->type.dtype)});
  return n.one("where", {below, n.one("add", {places, scalar(static_cast<double>(extent), places->type.dtype)}), places});
}

[[nodiscard]] Values gather(NodeTranslation& n) {
  const std::int64_t axis = n.axis("axis", 0, n.rank());
  return {n.one("gather", {n.x(0), counted_from_front(n, 1, n.dims()[static_cast<std::size_t>(axis)])}, {{"axis", axis}})};
}

[[nodiscard]] Values gather_elements(NodeTranslation& n) {
  const std::int64_t axis = n.axis("axis", 0, n.rank());
  return {n.one("take_along_axis", {n.x(0), counted_from_front(n, 1, n.dims()[static_cast<std::size_t>(axis)])}, {{"axis", axis}})};
}

[[nodiscard]] Values scatter_elements(NodeTranslation& n) {
  refuse(n.text("reduction", "none") != "add", "only sums are scattered");
  const std::int64_t axis = n.axis("axis", 0, n.rank());
  return {n.one("scatter_add_along_axis", {n.x(0), counted_from_front(n, 1, n.dims()[static_cast<std::size_t>(axis)]), n.x(2)},
                {{"axis", axis}})};
}

/// `values` is what stands where a label is not, and where it is.
[[nodiscard]] Values one_hot(NodeTranslation& n) {
  const double depth = n.known_number(1);
  refuse(!(depth >= 0 && depth <= (1 << 30)) || depth != std::floor(depth), "such a depth is not offered");
  const auto classes = static_cast<std::int64_t>(depth);
  const HostTensor& values = n.known(2);
  refuse(values.dims.count() != 2, "input 3 must be two numbers");
  const std::int64_t axis = from_front(n.integer("axis", -1), n.rank() + 1);
  const auto part = [&](std::size_t i) {
    HostTensor one(values.dtype, {});
    std::memcpy(one.bytes.data(), values.bytes.data() + i * one.bytes.size(), one.bytes.size());
    return known_value(std::move(one));
  };
  const Value hot =
      n.one("one_hot", {counted_from_front(n, 0, classes)}, {{"classes", classes}, {"axis", axis}, {"dtype", std::string("i32")}});
  return {n.one("where", {n.one("gt", {hot, scalar(0, DType::i32)}), part(1), part(0)})};
}

[[nodiscard]] Values range(NodeTranslation& n) {
  std::int64_t numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const double number = n.known_number(i);
    refuse(!(std::abs(number) < 0x1p40) || number != std::floor(number), "steps that are no integers");
    numbers[i] = static_cast<std::int64_t>(number);
  }
  return {
      n.one("arange", {}, {{"start", numbers[0]}, {"stop", numbers[1]}, {"step", numbers[2]}, {"dtype", std::string(name_of(n.dtype()))}})};
}

constexpr Row rows[] = {
    {"Constant", constant},
    {"ConstantOfShape", constant_of_shape},
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"OneHot", one_hot},
    {"Range", range},
    {"ScatterElements", scatter_elements},
};

}  // namespace

std::span<const Row> indexing_rows() { return rows; }

}  // namespace etalon::conformance::onnx
