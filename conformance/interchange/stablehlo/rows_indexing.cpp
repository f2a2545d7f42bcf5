#include <fmt/format.h>

#include <algorithm>

#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/monoid.hpp"
#include "conformance/interchange/stablehlo/rows.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] bool has(const Integers& all, std::size_t axis) {
  return std::find(all.begin(), all.end(), static_cast<std::int64_t>(axis)) != all.end();
}
[[nodiscard]] std::string index(char letter, std::size_t axis) { return letter + std::to_string(axis); }

/// A start that is drawn in, so that what begins there lies within the axis.
[[nodiscard]] std::string drawn_in(const std::string& start, std::int64_t last) {
  return fmt::format("minimum(maximum({}, 0), {})", start, last);
}

/// The starts of a slice, one scalar of integers each, as operands of a definition.
[[nodiscard]] std::string starts_text(const Translation& t, std::size_t first) {
  refuse(t.count() != first + t.rank(), "one start is expected for each axis");
  std::string text;
  for (std::size_t i = 0; i < t.rank(); ++i) {
    refuse(t.rank(first + i) != 0 || kind_of(t.dtype(first + i)) != Kind::integer, "starts must be integers");
    text += fmt::format(", s{} : int", i);
  }
  return text;
}

[[nodiscard]] Values dynamic_slice(Translation& t) {
  const Integers sizes = t.integers(t.says("sizes") ? "sizes" : "slice_sizes", t.rank(), 0), extents = t.extents();
  const std::string starts = starts_text(t, 1);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    refuse(sizes[i] < 0 || sizes[i] > extents[i], "a slice is larger than what it is cut from");
  if (t.rank() == 0) return {t.x()};
  const auto place = [&](std::size_t i) {
    return fmt::format("i{} + {}", i, drawn_in(index('s', i), extents[i] - sizes[i]));
  };
  return {t.define("cut",
                   fmt::format("({}{}) -> y{}\n  y{} = x{}\n", operand_text("x", extents, t.dtype()), starts,
                               extents_text(sizes), binders_text("i", sizes), items_text(t.rank(), place)),
                   t.all())};
}

[[nodiscard]] Values dynamic_update_slice(Translation& t) {
  const Integers extents = t.extents(), sizes = t.extents(1);
  refuse(sizes.size() != extents.size(), "operands of different numbers of axes");
  const std::string starts = starts_text(t, 2);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    refuse(sizes[i] > extents[i], "a slice is larger than what it is put into");
  if (t.rank() == 0) return {t.x(1)};
  const auto place = [&](std::size_t i) {
    return fmt::format("i{} - {}", i, drawn_in(index('s', i), extents[i] - sizes[i]));
  };
  return {t.define(
      "put",
      fmt::format("({}, {}{}) -> y{}\n  y{} = u{} else x{}\n", operand_text("x", extents, t.dtype()),
                  operand_text("u", sizes, t.dtype()), starts, extents_text(extents), binders_text("i", extents),
                  items_text(t.rank(), place), items_text(t.rank(), [](std::size_t i) { return index('i', i); })),
      t.all())};
}

/// How starts and windows lie in operand and result, of gather and, turned around, of scatter.
struct Places {
  Integers window_axes;  ///< of the result or of what is put in
  Integers dropped;      ///< of the operand: along them a window has one element
  Integers starts;       ///< the operand's axes that starts are said for
  Integers operand_batch, start_batch;
  std::size_t vector_axis = 0;  ///< of the starts
};

void require_places(const Places& p, std::size_t operand_rank, std::size_t start_rank, std::size_t other_rank) {
  const auto within = [](const Integers& axes, std::size_t rank) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const bool is_there = axes[i] >= 0 && axes[i] < static_cast<std::int64_t>(rank);
      refuse(!is_there || std::count(axes.begin(), axes.end(), axes[i]) != 1, "axes that are not there, or twice");
    }
  };
  within(p.window_axes, other_rank), within(p.dropped, operand_rank), within(p.starts, operand_rank);
  within(p.operand_batch, operand_rank), within(p.start_batch, start_rank);
  const std::size_t batches = start_rank - (p.vector_axis < start_rank ? 1 : 0);
  refuse(p.vector_axis > start_rank || p.operand_batch.size() != p.start_batch.size() ||
             p.window_axes.size() + batches != other_rank ||
             p.window_axes.size() + p.dropped.size() + p.operand_batch.size() != operand_rank ||
             std::any_of(p.start_batch.begin(), p.start_batch.end(),
                         [&](std::int64_t a) { return static_cast<std::size_t>(a) == p.vector_axis; }) ||
             std::any_of(p.dropped.begin(), p.dropped.end(),
                         [&](std::int64_t a) { return has(p.operand_batch, static_cast<std::size_t>(a)); }),
         "axes differ in number");
}

/// The indices of the other tensor's batch axes, as those of the starts; `at` stands on the vector's axis.
[[nodiscard]] std::string start_text(const Places& p, std::size_t start_rank, std::size_t other_rank, std::size_t at,
                                     char letter) {
  std::vector<std::size_t> batch;
  for (std::size_t axis = 0; axis < other_rank; ++axis) {
    if (!has(p.window_axes, axis)) batch.push_back(axis);
  }
  std::size_t next = 0;
  return "s" + items_text(start_rank, [&](std::size_t axis) {
           return axis == p.vector_axis ? std::to_string(at) : index(letter, batch[next++]);
         });
}

/// Along each axis of the operand: the start there, or empty, and the index within the window, or empty.
struct Along {
  std::string start, within;
  std::int64_t size = 1;  ///< of the window
};

[[nodiscard]] std::vector<Along> along_axes(const Places& p, std::size_t operand_rank, std::size_t start_rank,
                                            std::size_t other_rank, const Integers& sizes, char letter) {
  std::vector<std::size_t> batch;
  for (std::size_t axis = 0; axis < other_rank; ++axis) {
    if (!has(p.window_axes, axis)) batch.push_back(axis);
  }
  std::vector<Along> all(operand_rank);
  std::size_t window = 0;
  for (std::size_t axis = 0; axis < operand_rank; ++axis) {
    all[axis].size = sizes[axis];
    if (!has(p.dropped, axis) && !has(p.operand_batch, axis))
      all[axis].within = index(letter, static_cast<std::size_t>(p.window_axes[window++]));
  }
  for (std::size_t i = 0; i < p.starts.size(); ++i)
    all[static_cast<std::size_t>(p.starts[i])].start = start_text(p, start_rank, other_rank, i, letter);
  for (std::size_t i = 0; i < p.operand_batch.size(); ++i) {
    // An axis of the starts is the batch axis of the other tensor of the same number, the vector's not counted.
    const auto start_axis = static_cast<std::size_t>(p.start_batch[i]);
    all[static_cast<std::size_t>(p.operand_batch[i])].within =
        index(letter, batch[start_axis - (start_axis > p.vector_axis ? 1 : 0)]);
  }
  return all;
}

[[nodiscard]] Integers listed(Translation& t, std::string_view name) { return t.integers(name).value_or(Integers{}); }

void require_vector(const Places& p, const Integers& starts, std::size_t operand_rank) {
  const std::int64_t length = p.vector_axis < starts.size() ? starts[p.vector_axis] : 1;
  refuse(length != static_cast<std::int64_t>(p.starts.size()) || p.starts.size() > operand_rank,
         "starts and axes differ in number");
}

/// Starts are drawn in, so that windows lie within the operand.
[[nodiscard]] Values gather(Translation& t) {
  t.read_over({"indices_are_sorted"});
  refuse(t.count() != 2 || kind_of(t.dtype(1)) != Kind::integer, "a tensor and integers are expected");
  Translation inner = t.within("dimension_numbers");
  const Integers extents = t.extents(), starts = t.extents(1), out = t.result().extents,
                 sizes = t.integers("slice_sizes", t.rank(), 1);
  const Places p{listed(inner, "offset_dims"),
                 listed(inner, "collapsed_slice_dims"),
                 listed(inner, "start_index_map"),
                 listed(inner, "operand_batching_dims"),
                 listed(inner, "start_indices_batching_dims"),
                 static_cast<std::size_t>(std::clamp<std::int64_t>(inner.integer("index_vector_dim", 0), 0, 99))};
  require_places(p, t.rank(), t.rank(1), out.size());
  require_vector(p, starts, t.rank());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    refuse(sizes[i] < 0 || sizes[i] > extents[i], "a slice is larger than what it is cut from");
  for (const std::int64_t axis : p.dropped)
    refuse(sizes[static_cast<std::size_t>(axis)] != 1, "an axis that is dropped has one element");
  if (t.rank() == 0) return {t.one("broadcast_to", {t.x()}, {{"shape", out}})};
  const std::vector<Along> along = along_axes(p, t.rank(), t.rank(1), out.size(), sizes, 'i');
  const auto place = [&](std::size_t axis) {
    const Along& a = along[axis];
    const std::string start = a.start.empty() ? "" : drawn_in(a.start, extents[axis] - a.size);
    return start.empty() ? (a.within.empty() ? "0" : a.within) : a.within.empty() ? start : a.within + " + " + start;
  };
  return {t.define(
      "gathered",
      fmt::format("({}, s{} : int) -> y{}\n  y{} = x{}\n", operand_text("x", extents, t.dtype()), extents_text(starts),
                  extents_text(out), binders_text("i", out), items_text(t.rank(), place)),
      t.all())};
}

/// That an element of a window that is put in stands at element i of the operand, and the whole window within it.
[[nodiscard]] std::string lands_text(const std::vector<Along>& along, const Integers& extents) {
  std::vector<std::string> conditions;
  for (std::size_t axis = 0; axis < along.size(); ++axis) {
    const Along& a = along[axis];
    if (!a.start.empty()) {
      conditions.push_back(fmt::format("0 <= {}", a.start));
      conditions.push_back(fmt::format("{} <= {}", a.start, extents[axis] - a.size));
    }
    const std::string place = a.start.empty()    ? (a.within.empty() ? "0" : a.within)
                              : a.within.empty() ? a.start
                                                 : a.start + " + " + a.within;
    conditions.push_back(fmt::format("{} == i{}", place, axis));
  }
  return joined_conditions(conditions);
}

/// Two numbers as one in the notation.
[[nodiscard]] std::string joined_text(std::string_view reduction, const std::string& a, const std::string& b) {
  if (reduction == "max" || reduction == "min") return fmt::format("{}imum({}, {})", reduction, a, b);
  return fmt::format("{} {} {}", a,
                     reduction == "sum"    ? "+"
                     : reduction == "prod" ? "*"
                     : reduction == "any"  ? "or"
                                           : "and",
                     b);
}

/// Elements are joined, or one stands for another where no two are put in one place.
[[nodiscard]] Values scatter(Translation& t) {
  t.read_over({"indices_are_sorted"});
  refuse(t.count() != 3 || kind_of(t.dtype(1)) != Kind::integer, "a tensor, integers and another tensor are expected");
  Translation inner = t.within("scatter_dimension_numbers");
  const Integers extents = t.extents(), starts = t.extents(1), updates = t.extents(2);
  const Places p{listed(inner, "update_window_dims"),
                 listed(inner, "inserted_window_dims"),
                 listed(inner, "scatter_dims_to_operand_dims"),
                 listed(inner, "input_batching_dims"),
                 listed(inner, "scatter_indices_batching_dims"),
                 static_cast<std::size_t>(std::clamp<std::int64_t>(inner.integer("index_vector_dim", 0), 0, 99))};
  require_places(p, t.rank(), t.rank(1), updates.size());
  require_vector(p, starts, t.rank());
  refuse(t.rank() == 0, "scatters into scalars are not offered");
  Integers sizes(t.rank(), 1);
  std::size_t window = 0;
  for (std::size_t axis = 0; axis < t.rank(); ++axis) {
    if (has(p.dropped, axis) || has(p.operand_batch, axis)) continue;
    sizes[axis] = updates[static_cast<std::size_t>(p.window_axes[window++])];
    refuse(sizes[axis] > extents[axis], "a window is larger than what it is put into");
  }
  const std::string lands = lands_text(along_axes(p, t.rank(), t.rank(1), updates.size(), sizes, 'u'), extents);
  const Block& region = t.region();
  const bool replaces = region.operations.size() == 1 && region.arguments.size() == 2 &&
                        region.operations[0].operands.size() == 1 &&
                        region.operations[0].operands[0] == region.arguments[1].first;
  const bool is_unique = t.truth("unique_indices");
  refuse(replaces && !is_unique && count(starts) > static_cast<std::int64_t>(p.starts.size()),
         "several elements may be put in one place, of which StableHLO does not say which stays");
  const std::string_view reduction = replaces ? "" : reduction_of(region, t.dtype());
  const std::string here = items_text(t.rank(), [](std::size_t i) { return index('i', i); });
  const std::string signature =
      fmt::format("({}, s{} : int, u{}) -> y{}\n", operand_text("x", extents, t.dtype()), extents_text(starts),
                  operand_text("", updates, t.dtype()), extents_text(extents));
  const std::string target = binders_text("i", extents);
  if (count(updates) == 0) return {t.x()};
  if (updates.empty()) {
    const std::string joined = replaces ? "u" : joined_text(reduction, "x" + here, "u");
    return {t.define("scattered",
                     fmt::format("{}  y{} = if {} then {} else x{}\n", signature, target, lands, joined, here),
                     t.all())};
  }
  std::string binders = binders_text("u", updates);
  binders.pop_back();
  if (!replaces) {
    const bool is_extremum = reduction == "max" || reduction == "min";
    const std::string all = fmt::format("{}{} where {}] u{}{}", reduction, binders, lands,
                                        items_text(updates.size(), [](std::size_t i) { return index('u', i); }),
                                        is_extremum ? fmt::format(" else x{}", here) : "");
    return {
        t.define("scattered",
                 fmt::format("{}  y{} = {}\n", signature, target, joined_text(reduction, "x" + here, "(" + all + ")")),
                 t.all())};
  }
  // The place of what is put in, counted from 0 in row-major order, and -1 where nothing is.
  std::int64_t behind = count(updates);
  const std::string place = items_text(updates.size(), [&](std::size_t i) {
    behind /= updates[i];
    return i == 0 ? fmt::format("p{} // {}", here, behind) : fmt::format("p{} // {} % {}", here, behind, updates[i]);
  });
  return {t.define("replaced",
                   fmt::format("{}  p{} = argmax{} where {}] 1 else -1\n  y{} = u{} else x{}\n", signature, target,
                               binders, lands, target, place, here),
                   t.all())};
}

constexpr Row rows[] = {
    {"dynamic_slice", dynamic_slice, "slice", "slice"},
    {"dynamic_update_slice", dynamic_update_slice, "slice", "slice"},
    {"gather", gather, "gather", "gather"},
    {"scatter", scatter, "scatter_add", "where"},
};

}  // namespace

std::span<const Row> indexing_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
