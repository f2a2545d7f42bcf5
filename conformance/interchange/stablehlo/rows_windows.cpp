#include <fmt/format.h>

#include <algorithm>

#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/monoid.hpp"
#include "conformance/interchange/stablehlo/rows.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// How windows lie along the axes: padding may be negative; between elements of what they lie over, and between those
/// of a window, there may be gaps.
struct Windows {
  Integers sizes, strides, low, high, base_gaps, window_gaps;

  void require_valid() const {
    for (const Integers* numbers : {&sizes, &strides, &base_gaps, &window_gaps})
      refuse(std::any_of(numbers->begin(), numbers->end(), [](std::int64_t n) { return n < 1; }),
             "sizes, strides and dilations must be positive");
  }
  [[nodiscard]] std::int64_t number(std::size_t axis, std::int64_t extent) const {
    const std::int64_t base = low[axis] + (extent == 0 ? 0 : (extent - 1) * base_gaps[axis] + 1) + high[axis];
    const std::int64_t window = (sizes[axis] - 1) * window_gaps[axis] + 1;
    return base < window ? 0 : (base - window) / strides[axis] + 1;
  }
  /// Where element k of window i stands, before gaps are taken into account.
  [[nodiscard]] std::string wide_place(std::size_t axis, std::string_view i, std::string_view k) const {
    return fmt::format("{}*{} + {}*{} - ({})", i, strides[axis], k, window_gaps[axis], low[axis]);
  }
  [[nodiscard]] std::string place(std::size_t axis, std::string_view i, std::string_view k) const {
    return base_gaps[axis] == 1 ? wide_place(axis, i, k)
                                : fmt::format("({}) // {}", wide_place(axis, i, k), base_gaps[axis]);
  }
  /// That it stands on an element and in no gap; empty where there are none.
  [[nodiscard]] std::string meets(std::size_t axis, std::string_view i, std::string_view k) const {
    return base_gaps[axis] == 1 ? "" : fmt::format("({}) % {} == 0", wide_place(axis, i, k), base_gaps[axis]);
  }
};

void set_padding(Windows& windows, const Integers& pairs) {
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    windows.low.push_back(pairs[i]), windows.high.push_back(pairs[i + 1]);
}

[[nodiscard]] Values reduce_window(Translation& t) {
  refuse(t.count() != 2, "reductions of several values at once are not offered");
  const std::size_t rank = t.rank();
  const std::string_view reduction = reduction_of(t.region(), t.dtype());
  refuse(!t.x(1)->known || !is_identity(reduction, *t.x(1)->known),
         "windows that do not begin with the identity of their reduction");
  Windows w{t.integers("window_dimensions", rank, 1), t.integers("window_strides", rank, 1),  {}, {},
            t.integers("base_dilations", rank, 1),    t.integers("window_dilations", rank, 1)};
  set_padding(w, t.integers("padding", 2 * rank, 0));
  w.require_valid();
  Integers extents;
  for (std::size_t axis = 0; axis < rank; ++axis) extents.push_back(w.number(axis, t.extents()[axis]));
  const auto index = [](char letter, std::size_t axis) { return letter + std::to_string(axis); };
  const std::string places =
      items_text(rank, [&](std::size_t axis) { return w.place(axis, index('i', axis), index('k', axis)); });
  std::vector<std::string> conditions{fmt::format("inside(x{})", places)};
  for (std::size_t axis = 0; axis < rank; ++axis)
    conditions.push_back(w.meets(axis, index('i', axis), index('k', axis)));
  if (rank == 0) return {t.x()};
  std::string binders = binders_text("k", w.sizes);
  binders.pop_back();
  const bool has_else = reduction == "max" || reduction == "min";
  return {
      t.define("windows",
               fmt::format("({}, {}) -> y{}\n  y{} = {}{} where {}] x{}{}\n", operand_text("x", t.extents(), t.dtype()),
                           operand_text("v", {}, t.dtype()), extents_text(extents), binders_text("i", extents),
                           reduction, binders, joined_conditions(conditions), places, has_else ? " else v" : ""),
               t.all())};
}

/// Where the axes of a convolution stand: batch, channels, and space in order.
struct Layout {
  std::size_t first = 0, second = 0;
  std::vector<std::size_t> space;
};

/// From `[b, 0, 1, f]`, whose words are these two.
[[nodiscard]] Layout layout_of(const Attributes& sides, std::string_view side, std::string_view first,
                               std::string_view second) {
  const auto at = sides.find(side);
  const auto* names = at == sides.end() ? nullptr : std::get_if<AttributeList>(&at->second.value);
  refuse(names == nullptr || names->size() < 2 || names->size() > Dims::max_rank,
         "attribute \"dimension_numbers\" must name axes");
  constexpr std::size_t missing = Dims::max_rank;
  Layout layout{missing, missing, std::vector<std::size_t>(names->size() - 2, missing)};
  for (std::size_t axis = 0; axis < names->size(); ++axis) {
    const auto& name = (*names)[axis].value;
    if (const auto* number = std::get_if<std::int64_t>(&name)) {
      refuse(*number < 0 || *number >= static_cast<std::int64_t>(layout.space.size()),
             "an axis of space that is not there");
      layout.space[static_cast<std::size_t>(*number)] = axis;
    } else if (const auto* word = std::get_if<std::string>(&name)) {
      (*word == first ? layout.first : layout.second) = axis;
      refuse(*word != first && *word != second, "attribute \"dimension_numbers\" must name axes");
    }
  }
  const bool has_gap = std::find(layout.space.begin(), layout.space.end(), missing) != layout.space.end();
  refuse(layout.first == missing || layout.second == missing || has_gap,
         "attribute \"dimension_numbers\" must name each axis once");
  return layout;
}

/// The axes of a tensor in its order, from what stands along each.
[[nodiscard]] Integers arranged(const Layout& layout, std::int64_t first, std::int64_t second, const Integers& space) {
  Integers all(layout.space.size() + 2);
  all[layout.first] = first, all[layout.second] = second;
  for (std::size_t i = 0; i < space.size(); ++i) all[layout.space[i]] = space[i];
  return all;
}
[[nodiscard]] std::string arranged(const Layout& layout, const std::string& first, const std::string& second,
                                   const std::function<std::string(std::size_t)>& space) {
  return items_text(layout.space.size() + 2, [&](std::size_t axis) {
    if (axis == layout.first) return first;
    if (axis == layout.second) return second;
    return space(
        static_cast<std::size_t>(std::find(layout.space.begin(), layout.space.end(), axis) - layout.space.begin()));
  });
}

[[nodiscard]] Windows windows_of(Translation& t, const Integers& sizes) {
  const std::size_t rank = sizes.size();
  const bool is_pretty = t.says("window");
  Translation inner = is_pretty ? t.within("window") : t;
  const auto listed = [&](std::string_view pretty, std::string_view generic) {
    return inner.integers(is_pretty ? pretty : generic, rank, 1);
  };
  Windows w{sizes, listed("stride", "window_strides"),   {},
            {},    listed("lhs_dilate", "lhs_dilation"), listed("rhs_dilate", "rhs_dilation")};
  set_padding(w, inner.integers(is_pretty ? "pad" : "padding", 2 * rank, 0));
  const Integers turned = inner.integers(is_pretty ? "reverse" : "window_reversal", rank, 0);
  refuse(std::any_of(turned.begin(), turned.end(), [](std::int64_t n) { return n != 0; }),
         "windows that are reversed are not offered");
  t.read_over({"window_strides", "lhs_dilation", "rhs_dilation", "padding", "window_reversal"});
  w.require_valid();
  return w;
}

[[nodiscard]] Values convolution(Translation& t) {
  t.read_over({"precision_config"});
  refuse(t.count() != 2, "two operands are expected");
  const Attribute* numbers = t.says("dim_numbers") ? t.find("dim_numbers") : t.find("dimension_numbers");
  const auto* sides = numbers == nullptr ? nullptr : std::get_if<Attributes>(&numbers->value);
  refuse(sides == nullptr, "attribute \"dimension_numbers\" is missing");
  const Layout x = layout_of(*sides, "input", "b", "f"), k = layout_of(*sides, "kernel", "i", "o"),
               y = layout_of(*sides, "output", "b", "f");
  refuse(x.space.size() + 2 != t.rank(0) || k.space.size() != x.space.size() || k.space.size() + 2 != t.rank(1) ||
             y.space.size() != x.space.size(),
         "operands and axes differ in number");
  const std::size_t rank = x.space.size();
  Integers sizes, extents;
  for (const std::size_t axis : k.space) sizes.push_back(t.extents(1)[axis]);
  const Windows w = windows_of(t, sizes);
  for (std::size_t i = 0; i < rank; ++i) extents.push_back(w.number(i, t.extents()[x.space[i]]));
  const std::int64_t groups = t.integer("feature_group_count", 1), batch_groups = t.integer("batch_group_count", 1);
  const std::int64_t batch = t.extents()[x.first], inputs = t.extents(1)[k.first], outputs = t.extents(1)[k.second];
  refuse(groups < 1 || batch_groups < 1 || outputs % groups != 0 || outputs % batch_groups != 0 ||
             batch % batch_groups != 0 || t.extents()[x.second] != inputs * groups ||
             (groups > 1 && batch_groups > 1) || outputs == 0,
         "groups must divide batch and channels");
  const DType dtype = t.result().dtype;
  const auto index = [](char letter, std::size_t axis) { return letter + std::to_string(axis); };
  const std::int64_t batch_part = batch / batch_groups;
  const std::string n = batch_groups == 1 ? "n" : fmt::format("f // {} * {} + n", outputs / batch_groups, batch_part);
  const std::string channel = groups == 1 ? "c" : fmt::format("f // {} * {} + c", outputs / groups, inputs);
  std::vector<std::string> conditions;
  for (std::size_t i = 0; i < rank; ++i) conditions.push_back(w.meets(i, index('i', i), index('u', i)));
  const std::string condition = joined_conditions(conditions);
  const std::string read = fmt::format(
      "x{} else 0", arranged(x, n, channel, [&](std::size_t i) { return w.place(i, index('i', i), index('u', i)); }));
  std::string binders;
  for (std::size_t i = 0; i < rank; ++i) binders += fmt::format(", {} < {}", index('u', i), sizes[i]);
  const Integers out = arranged(y, batch_part, outputs, extents);
  const std::string target = arranged(y, fmt::format("n < {}", batch_part), fmt::format("f < {}", outputs),
                                      [&](std::size_t i) { return fmt::format("{} < {}", index('i', i), extents[i]); });
  return {t.define(
      "convolved",
      fmt::format("({}, {}) -> y{}\n  y{} = sum[c < {}{}] k{} * ({})\n", operand_text("x", t.extents(0), dtype),
                  operand_text("k", t.extents(1), dtype), extents_text(out), target, inputs, binders,
                  arranged(k, "c", "f", [&](std::size_t i) { return index('u', i); }),
                  condition.empty() ? read : fmt::format("if {} then ({}) else 0", condition, read)),
      {t.converted(t.x(0), dtype), t.converted(t.x(1), dtype)})};
}

constexpr Row rows[] = {
    {"convolution", convolution, "conv"},
    {"reduce_window", reduce_window, "sum", "any"},
};

}  // namespace

std::span<const Row> window_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
