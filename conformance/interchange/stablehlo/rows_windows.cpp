#include <fmt/format.h>

#include <algorithm>

#include "conformance/interchange/stablehlo/choice.hpp"
#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/monoid.hpp"
#include "conformance/interchange/stablehlo/pairs.hpp"
#include "conformance/interchange/stablehlo/rows.hpp"
#include "conformance/interchange/stablehlo/windows.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] Values reduce_window(Translation& t) {
  if (t.count() == 4) return reduced_windows_of_pairs(t);
  refuse(t.count() != 2, "reductions of more than two values at once are not offered");
  const std::size_t rank = t.rank();
  const std::string_view reduction = reduction_of(t.region(), t.dtype());
  const bool has_else = reduction == "max" || reduction == "min";
  const bool is_identical = t.x(1)->known && is_identity(reduction, *t.x(1)->known);
  refuse(!is_identical && !has_else, "windows that do not begin with the identity of their reduction");
  refuse(t.dtype(1) != t.dtype(), "a reduction begins with another type");
  const Windows w = windows_of_reduction(t);
  const Integers extents = w.numbers(t.extents());
  const std::string places = w.places();
  std::vector<std::string> conditions = w.all_meet();
  conditions.insert(conditions.begin(), fmt::format("inside(x{})", places));
  if (rank == 0) return {is_identical ? t.x() : t.one(fmt::format("{}imum", reduction), t.all())};
  std::string binders = binders_text("k", w.sizes);
  binders.pop_back();
  const std::string found = fmt::format("{}{} where {}] x{}{}", reduction, binders, joined_conditions(conditions),
                                        places, has_else ? " else v" : "");
  // What is no identity joins once to an extremum, as often as StableHLO joins it.
  return {t.define("windows",
                   fmt::format("({}, {}) -> y{}\n  y{} = {}\n", operand_text("x", t.extents(), t.dtype()),
                               operand_text("v", {}, t.dtype()), extents_text(extents), binders_text("i", extents),
                               is_identical ? found : fmt::format("{}imum({}, v)", reduction, found)),
                   t.all())};
}

/// Of each window of x the place that the region `select` chooses; there elements of the other tensor are joined.
[[nodiscard]] Values select_and_scatter(Translation& t) {
  refuse(t.count() != 3 || t.rank(1) != t.rank() || t.rank(2) != 0,
         "two tensors of as many axes and a number are expected");
  const Windows w = windows_of_reduction(t);
  const Integers extents = t.extents(), sources = t.extents(1);
  const std::size_t rank = t.rank();
  const Integers dense(rank, 1);
  refuse(w.base_gaps != dense || w.window_gaps != dense, "windows with gaps are not offered here");
  refuse(w.numbers(extents) != sources, "as many elements as windows are expected");
  const Choice choice = choice_of_selection(t.region(0));
  const std::string_view reduction = reduction_of(t.region(1), t.dtype(1));
  refuse(t.dtype(1) != t.dtype() || t.dtype(2) != t.dtype(), "tensors of one type are expected");
  refuse(!t.x(2)->known || !is_identity(reduction, *t.x(2)->known),
         "what does not begin with the identity of its reduction");
  if (rank == 0 || count(sources) == 0)
    return {t.one("broadcast_to", {rank == 0 ? t.x(1) : t.x(2)}, {{"shape", extents}})};
  // The last of equal elements is the first from behind.
  const auto turned = [&](std::size_t axis, const std::string& k) {
    return choice.tie == Choice::Tie::last ? fmt::format("({} - {})", w.sizes[axis] - 1, k) : k;
  };
  const std::string window = items_text(rank, [](std::size_t axis) { return index_text('i', axis); });
  const std::string places = items_text(rank, [&](std::size_t axis) {
    return w.place(axis, index_text('i', axis), turned(axis, index_text('k', axis)));
  });
  std::vector<std::string> lands{fmt::format("0 <= p{}", window)};
  for (std::size_t axis = rank, behind = 1; axis-- > 0; behind *= static_cast<std::size_t>(w.sizes[axis])) {
    const std::string k = turned(axis, fmt::format("(p{} // {} % {})", window, behind, w.sizes[axis]));
    lands.push_back(fmt::format("{} == j{}", w.place(axis, index_text('i', axis), k), axis));
  }
  std::string binders = binders_text("k", w.sizes), over = binders_text("i", sources);
  binders.pop_back(), over.pop_back();
  const bool has_else = reduction == "max" || reduction == "min";
  return {t.define(
      "put_at_extrema",
      fmt::format("({}, {}, {}) -> y{}\n", operand_text("x", extents, t.dtype()), operand_text("s", sources, t.dtype()),
                  operand_text("v", {}, t.dtype()), extents_text(extents)) +
          fmt::format("  p{} = {}{} where inside(x{})] x{} else -1\n", binders_text("i", sources), choice.position(),
                      binders, places, places) +
          fmt::format("  y{} = {}{} where {}] s{}{}\n", binders_text("j", extents), reduction, over,
                      joined_conditions(lands), window, has_else ? " else v" : ""),
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

/// \param turned along which axes the kernel lies reversed
[[nodiscard]] Windows windows_of(Translation& t, const Integers& sizes, Integers& turned) {
  const std::size_t rank = sizes.size();
  const bool is_pretty = t.says("window");
  Translation inner = is_pretty ? t.within("window") : t;
  const auto listed = [&](std::string_view pretty, std::string_view generic) {
    return inner.integers(is_pretty ? pretty : generic, rank, 1);
  };
  Windows w{sizes, listed("stride", "window_strides"),   {},
            {},    listed("lhs_dilate", "lhs_dilation"), listed("rhs_dilate", "rhs_dilation")};
  w.set_padding(inner.integers(is_pretty ? "pad" : "padding", 2 * rank, 0));
  turned = inner.integers(is_pretty ? "reverse" : "window_reversal", rank, 0);
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
  Integers turned;
  const Windows w = windows_of(t, sizes, turned);
  for (std::size_t i = 0; i < rank; ++i) extents.push_back(w.number(i, t.extents()[x.space[i]]));
  const std::int64_t groups = t.integer("feature_group_count", 1), batch_groups = t.integer("batch_group_count", 1);
  const std::int64_t batch = t.extents()[x.first], inputs = t.extents(1)[k.first], outputs = t.extents(1)[k.second];
  refuse(groups < 1 || batch_groups < 1 || outputs % groups != 0 || outputs % batch_groups != 0 ||
             batch % batch_groups != 0 || t.extents()[x.second] != inputs * groups ||
             (groups > 1 && batch_groups > 1) || outputs == 0,
         "groups must divide batch and channels");
  const DType dtype = t.result().dtype;
  const std::int64_t batch_part = batch / batch_groups;
  const std::string n = batch_groups == 1 ? "n" : fmt::format("f // {} * {} + n", outputs / batch_groups, batch_part);
  const std::string channel = groups == 1 ? "c" : fmt::format("f // {} * {} + c", outputs / groups, inputs);
  std::vector<std::string> conditions;
  for (std::size_t i = 0; i < rank; ++i) conditions.push_back(w.meets(i, index_text('i', i), index_text('u', i)));
  const std::string condition = joined_conditions(conditions);
  const std::string read = fmt::format(
      "x{} else 0", arranged(x, n, channel, [&](std::size_t i) { return w.place(i, index_text('i', i), index_text('u', i)); }));
  std::string binders;
  for (std::size_t i = 0; i < rank; ++i) binders += fmt::format(", {} < {}", index_text('u', i), sizes[i]);
  const Integers out = arranged(y, batch_part, outputs, extents);
  refuse(!fits(out), too_large);
  const std::string target = arranged(y, fmt::format("n < {}", batch_part), fmt::format("f < {}", outputs),
                                      [&](std::size_t i) { return fmt::format("{} < {}", index_text('i', i), extents[i]); });
  return {t.define(
      "convolved",
      fmt::format("({}, {}) -> y{}\n  y{} = sum[c < {}{}] k{} * ({})\n", operand_text("x", t.extents(0), dtype),
                  operand_text("k", t.extents(1), dtype), extents_text(out), target, inputs, binders,
                  arranged(k, "c", "f",
                           [&](std::size_t i) {
                             return turned[i] == 0 ? index_text('u', i)
                                                   : fmt::format("{} - {}", sizes[i] - 1, index_text('u', i));
                           }),
                  condition.empty() ? read : fmt::format("if {} then ({}) else 0", condition, read)),
      {t.converted(t.x(0), dtype), t.converted(t.x(1), dtype)})};
}

constexpr Row rows[] = {
    {"convolution", convolution, "conv"},
    {"reduce_window", reduce_window, "sum", "any"},
    {"select_and_scatter", select_and_scatter, "max"},
};

}  // namespace

std::span<const Row> window_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
