#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/rows.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] Value reshaped(Translation& t, const Value& value, const Integers& extents) {
  if (Integers(value->type.dims.begin(), value->type.dims.end()) == extents) return value;
  return t.one("reshape", {value}, {{"shape", extents}});
}

/// A list by its name in the pretty form or in the generic one.
[[nodiscard]] Integers listed(Translation& t, std::string_view pretty, std::string_view generic) {
  const std::optional<Integers> found = t.says(pretty) ? t.integers(pretty) : t.integers(generic);
  refuse(!found, fmt::format("attribute \"{}\" is missing", generic));
  return *found;
}

void require_axes(const Integers& axes, std::size_t rank) {
  for (const std::int64_t axis : axes)
    refuse(axis < 0 || axis >= static_cast<std::int64_t>(rank),
           fmt::format("there is no axis {} among {}", axis, rank));
}

[[nodiscard]] Values constant(Translation& t) {
  const Attribute* value = t.find("value");
  const auto* numbers = value == nullptr ? nullptr : std::get_if<Numbers>(&value->value);
  refuse(numbers == nullptr, "dense<…> is expected");
  if (const auto* why = std::get_if<std::string>(numbers)) throw Refused(*why);
  return {known_value(std::get<HostTensor>(*numbers))};
}

constexpr std::int64_t most_counted = std::int64_t{1} << 20U;

[[nodiscard]] Values iota(Translation& t) {
  const TensorType& type = t.result();
  const std::int64_t axis = t.integer(t.says("dim") ? "dim" : "iota_dimension", 0);
  require_axes({axis}, type.extents.size());
  refuse(count(type.extents) > most_counted, fmt::format("more than {} numbers are not offered", most_counted));
  refuse(type.dtype == DType::boolean, "truth values cannot be counted");
  Dims dims;
  for (const std::int64_t extent : type.extents) dims.push_back(extent);
  HostTensor tensor(type.dtype, dims);
  const auto behind =
      std::accumulate(type.extents.begin() + axis + 1, type.extents.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t i = 0; i < dims.count(); ++i)
    set_element(tensor, static_cast<std::size_t>(i),
                static_cast<double>(i / behind % type.extents[static_cast<std::size_t>(axis)]));
  return {known_value(std::move(tensor))};
}

/// Axes in order, of extent 1 where they repeat; then the library repeats them.
[[nodiscard]] Values broadcast_in_dim(Translation& t) {
  const Integers axes = listed(t, "dims", "broadcast_dimensions"), extents = t.result().extents;
  refuse(axes.size() != t.rank(), "one axis is expected for each of the operand");
  require_axes(axes, extents.size());
  Integers permutation(axes.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::sort(permutation.begin(), permutation.end(), [&](std::int64_t a, std::int64_t b) {
    return axes[static_cast<std::size_t>(a)] < axes[static_cast<std::size_t>(b)];
  });
  Integers shape(extents.size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) shape[static_cast<std::size_t>(axes[i])] = t.extents()[i];
  const bool is_sorted = std::is_sorted(permutation.begin(), permutation.end());
  const Value ordered = is_sorted ? t.x() : t.one("transpose", {t.x()}, {{"permutation", permutation}});
  const Value wide = reshaped(t, ordered, shape);
  return {shape == extents ? wide : t.one("broadcast_to", {wide}, {{"shape", extents}})};
}

[[nodiscard]] Values broadcast(Translation& t) {
  return {t.one("broadcast_to", {t.x()}, {{"shape", t.result().extents}})};
}

[[nodiscard]] Values concatenate(Translation& t) {
  const std::int64_t axis = t.integer(t.says("dim") ? "dim" : "dimension", 0);
  require_axes({axis}, t.rank());
  return {t.one("concat", t.all(), {{"axis", axis}})};
}

[[nodiscard]] Values reshape(Translation& t) { return {reshaped(t, t.x(), t.result().extents)}; }

[[nodiscard]] Values transpose(Translation& t) {
  const Integers permutation = listed(t, "dims", "permutation");
  return {t.one("transpose", {t.x()}, {{"permutation", permutation}})};
}

[[nodiscard]] Values reverse(Translation& t) {
  const Integers axes = listed(t, "dims", "dimensions");
  require_axes(axes, t.rank());
  return {t.one("flip", {t.x()}, {{"axes", axes}})};
}

[[nodiscard]] Values slice(Translation& t) {
  const Integers start = t.integers("start_indices", t.rank(), 0), limit = t.integers("limit_indices", t.rank(), 0),
                 step = t.integers("strides", t.rank(), 1);
  refuse(std::any_of(step.begin(), step.end(), [](std::int64_t s) { return s < 1; }), "steps must be positive");
  return {t.one("slice", {t.x()}, {{"start", start}, {"stop", limit}, {"step", step}})};
}

/// What is padded with is an operand, and elements may be moved apart.
[[nodiscard]] Values pad(Translation& t) {
  const auto amounts = [&](std::string_view pretty, std::string_view generic) {
    return t.integers(t.says(pretty) ? pretty : generic, t.rank(), 0);
  };
  const Integers low = amounts("low", "edge_padding_low"), high = amounts("high", "edge_padding_high"),
                 interior = amounts("interior", "interior_padding");
  refuse(std::any_of(interior.begin(), interior.end(), [](std::int64_t n) { return n < 0; }),
         "negative padding between elements");
  refuse(t.count() != 2 || t.rank(1) != 0, "a tensor and a number are expected");
  if (t.rank() == 0) return {t.x()};
  Integers extents;
  for (std::size_t i = 0; i < t.rank(); ++i) {
    const std::int64_t extent = t.extents()[i];
    extents.push_back(low[i] + extent + std::max<std::int64_t>(0, extent - 1) * interior[i] + high[i]);
    refuse(extents.back() < 0, "more is cropped than there is");
  }
  refuse(!fits(extents), too_large);
  const auto place = [&](std::size_t i) {
    return interior[i] == 0 ? fmt::format("i{} - ({})", i, low[i])
                            : fmt::format("(i{} - ({})) // {}", i, low[i], interior[i] + 1);
  };
  std::vector<std::string> conditions;
  for (std::size_t i = 0; i < t.rank(); ++i)
    conditions.push_back(interior[i] == 0 ? "" : fmt::format("(i{} - ({})) % {} == 0", i, low[i], interior[i] + 1));
  const std::string condition = joined_conditions(conditions),
                    read = fmt::format("x{} else v", items_text(t.rank(), place));
  return {t.define("padded",
                   fmt::format("({}, {}) -> y{}\n  y{} = {}\n", operand_text("x", t.extents(), t.dtype()),
                               operand_text("v", {}, t.dtype()), extents_text(extents), binders_text("i", extents),
                               condition.empty() ? read : fmt::format("if {} then ({}) else v", condition, read)),
                   t.all())};
}

constexpr Row rows[] = {
    {"broadcast", broadcast, "broadcast_to", "broadcast_to"},
    {"broadcast_in_dim", broadcast_in_dim, "broadcast_to", "broadcast_to"},
    {"concatenate", concatenate, "concat", "concat"},
    {"constant", constant, "constant", "constant"},
    {"iota", iota, "constant", "constant"},
    {"pad", pad, "pad", "pad"},
    {"reshape", reshape, "reshape", "reshape"},
    {"reverse", reverse, "flip", "flip"},
    {"slice", slice, "slice", "slice"},
    {"transpose", transpose, "transpose", "transpose"},
};

}  // namespace

std::span<const Row> shape_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
