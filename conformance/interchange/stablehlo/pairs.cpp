#include "conformance/interchange/stablehlo/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "conformance/interchange/stablehlo/choice.hpp"
#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/monoid.hpp"
#include "conformance/interchange/stablehlo/windows.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// What the region chooses, once the operands are known to be such that it can be said.
[[nodiscard]] Choice choice_between(Translation& t) {
  refuse(t.extents(0) != t.extents(1) || t.rank(2) != 0 || t.rank(3) != 0 || t.dtype(2) != t.dtype(0) ||
             t.dtype(3) != t.dtype(1),
         "operands and what they begin with differ in extents or type");
  refuse(t.dtype(0) == DType::boolean || (kind_of(t.dtype(1)) != Kind::integer && t.dtype(1) != t.dtype(0)),
         "pairs are offered of numbers with integers, or of two reals of one type");
  const Block& region = t.region();
  for (std::size_t i = 0; i < region.arguments.size(); ++i) {
    const auto* type = std::get_if<TensorType>(&region.arguments[i].second);
    refuse(type == nullptr || !type->extents.empty() || type->dtype != t.dtype(i % 2),
           "a region chooses elements of another type");
  }
  const Choice choice = choice_of_pairs(region);
  refuse(!t.x(2)->known || !is_identity(choice.extremum(), *t.x(2)->known),
         "an extremum and its companion that do not begin with the least");
  return choice;
}

/// Numbers that count from 0 along the axis.
[[nodiscard]] bool counts_along(const Item& item, std::size_t axis) {
  if (!item.known) return false;
  std::int64_t behind = 1;
  for (std::size_t i = axis + 1; i < item.type.dims.rank; ++i) behind *= item.type.dims[i];
  const std::int64_t extent = item.type.dims[axis], all = item.type.dims.count();
  for (std::int64_t i = 0; i < all; ++i) {
    if (element(*item.known, static_cast<std::size_t>(i)) != static_cast<double>(i / behind % extent)) return false;
  }
  return true;
}

/// The pieces of a definition that reads x and q along `k`, or at a place p, for each element of the results.
struct Reads {
  Integers extents;  ///< of the results
  Integers sizes;    ///< of what one element is chosen from
  /// The text of a read of a tensor, where `k(a)` is the text of the index in what is chosen from.
  std::function<std::string(std::string_view tensor, std::string_view otherwise,
                            const std::function<std::string(std::size_t)>& k)>
      read;
};

[[nodiscard]] Values chosen(Translation& t, const Choice& choice, const Reads& reads) {
  const bool is_last = choice.tie == Choice::Tie::last;
  const std::string here = items_text(reads.extents.size(), [](std::size_t i) { return index_text('i', i); });
  const auto along = [&](std::size_t a) {
    return is_last ? fmt::format("({} - {})", reads.sizes[a] - 1, index_text('k', a)) : index_text('k', a);
  };
  const auto at_place = [&](std::size_t a) {
    std::int64_t behind = 1;
    for (std::size_t b = a + 1; b < reads.sizes.size(); ++b) behind *= reads.sizes[b];
    const std::string index = fmt::format("p{} // {} % {}", here, behind, reads.sizes[a]);
    return is_last ? fmt::format("({} - {})", reads.sizes[a] - 1, index) : "(" + index + ")";
  };
  const std::string target = binders_text("i", reads.extents), body = reads.read("x", "v", along);
  std::string binders = binders_text("k", reads.sizes);
  const bool is_integer = kind_of(t.dtype(1)) == Kind::integer;
  const char* mark = is_integer ? " : int" : "";
  const std::string text =
      fmt::format("({}, q{}{}, {}, w{}) -> y{}, z{}{}\n", operand_text("x", t.extents(), t.dtype()),
                  extents_text(t.extents()), mark, operand_text("v", {}, t.dtype()), mark, extents_text(reads.extents),
                  extents_text(reads.extents), mark) +
      fmt::format("  y{} = {}{} {} else v\n", target, choice.extremum(), binders, body) +
      fmt::format("  p{} = {}{} {} else 0\n", target, choice.position(), binders, body) +
      fmt::format("  z{} = {}\n", target, reads.read("q", "w", at_place));
  Values both = t.define_all("chosen", text, t.all());
  both[1] = t.converted(both[1], t.dtype(1));
  return both;
}

}  // namespace

Values reduced_pairs(Translation& t) {
  const std::optional<Integers> axes = t.integers("dimensions");
  refuse(!axes, "attribute \"dimensions\" is missing");
  const Choice choice = choice_between(t);
  const Integers extents = t.extents();
  Reads reads;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const auto times = std::count(axes->begin(), axes->end(), static_cast<std::int64_t>(axis));
    refuse(times > 1, fmt::format("axis {} is named twice", axis));
    (times == 1 ? reads.sizes : reads.extents).push_back(extents[axis]);
  }
  refuse(reads.sizes.size() != axes->size(), "an axis that is not there");
  refuse(std::count(reads.sizes.begin(), reads.sizes.end(), 0) != 0, "nothing to choose from");
  if (axes->empty()) return {t.x(0), t.x(1)};
  const auto is_reduced = [&](std::size_t axis) {
    return std::count(axes->begin(), axes->end(), static_cast<std::int64_t>(axis)) == 1;
  };
  const bool is_place = axes->size() == 1 && choice.tie != Choice::Tie::last &&
                        counts_along(*t.x(1), static_cast<std::size_t>(axes->front()));
  if (is_place) {
    refuse(choice.tie == Choice::Tie::least_companion && (!t.x(3)->known || element(*t.x(3)->known, 0) < 0),
           "places that begin with a number that is none of them");
    return {t.one(choice.extremum(), {t.x()}, {{"axes", *axes}}),
            t.converted(t.one(choice.position(), {t.x()}, {{"axes", *axes}}), t.dtype(1))};
  }
  refuse(choice.tie == Choice::Tie::least_companion,
         "equal elements are told apart by numbers that do not count along the axis");
  reads.read = [&](std::string_view tensor, std::string_view otherwise,
                   const std::function<std::string(std::size_t)>& k) {
    std::size_t kept = 0, reduced = 0;
    const std::string items = items_text(
        extents.size(), [&](std::size_t axis) { return is_reduced(axis) ? k(reduced++) : index_text('i', kept++); });
    return fmt::format("({}{} else {})", tensor, items, otherwise);
  };
  return chosen(t, choice, reads);
}

Values reduced_windows_of_pairs(Translation& t) {
  const Choice choice = choice_between(t);
  const Windows w = windows_of_reduction(t);
  refuse(choice.tie == Choice::Tie::least_companion, "equal elements of windows are told apart by their companions");
  if (t.rank() == 0) return {t.x(0), t.x(1)};
  Reads reads{w.numbers(t.extents()), w.sizes, {}};
  reads.read = [&](std::string_view tensor, std::string_view otherwise,
                   const std::function<std::string(std::size_t)>& k) {
    std::vector<std::string> conditions;
    const std::string items =
        items_text(t.rank(), [&](std::size_t axis) { return w.place(axis, index_text('i', axis), k(axis)); });
    for (std::size_t axis = 0; axis < t.rank(); ++axis)
      conditions.push_back(w.meets(axis, index_text('i', axis), k(axis)));
    const std::string condition = joined_conditions(conditions),
                      read = fmt::format("({}{} else {})", tensor, items, otherwise);
    return condition.empty() ? read : fmt::format("(if {} then {} else {})", condition, read, otherwise);
  };
  return chosen(t, choice, reads);
}

}  // namespace etalon::conformance::stablehlo
