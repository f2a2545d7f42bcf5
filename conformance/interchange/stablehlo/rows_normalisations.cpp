#include <fmt/format.h>

#include "conformance/interchange/stablehlo/definition_text.hpp"
#include "conformance/interchange/stablehlo/rows.hpp"
#include "conformance/interchange/stablehlo/windows.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// The axis whose elements have statistics of their own, with the number that is added to variances.
struct Feature {
  std::size_t axis = 0;
  double epsilon = 0;
};

/// Operands are x, of at least one axis, and others of which `vectors` have one number for each feature.
[[nodiscard]] Feature feature_of(Translation& t, std::size_t operands, std::initializer_list<std::size_t> vectors) {
  refuse(t.count() != operands, fmt::format("{} operands are expected", operands));
  const std::int64_t axis = t.integer("feature_index", -1);
  refuse(axis < 0 || axis >= static_cast<std::int64_t>(t.rank()),
         fmt::format("there is no axis {} among {}", axis, t.rank()));
  const Feature feature{static_cast<std::size_t>(axis), t.real("epsilon")};
  for (const std::size_t i : vectors)
    refuse(t.extents(i) != Integers{t.extents()[feature.axis]}, "statistics have one number for each feature");
  refuse(feature.epsilon < 0, "attribute \"epsilon\" is negative");
  return feature;
}

/// x with given statistics, scaled and moved.
[[nodiscard]] Value normalised(Translation& t, const Feature& feature, const Value& mean, const Value& variance) {
  return t.one(t.meaning(), {t.x(0), t.x(1), t.x(2), mean, variance},
               {{"axis", static_cast<std::int64_t>(feature.axis)}, {"eps", feature.epsilon}, {"training", false}});
}

[[nodiscard]] Values batch_norm_inference(Translation& t) {
  const Feature feature = feature_of(t, 5, {1, 2, 3, 4});
  return {normalised(t, feature, t.x(3), t.x(4))};
}

[[nodiscard]] Integers other_axes(const Translation& t, const Feature& feature) {
  Integers axes;
  for (std::size_t axis = 0; axis < t.rank(); ++axis) {
    if (axis != feature.axis) axes.push_back(static_cast<std::int64_t>(axis));
  }
  return axes;
}

/// With the statistics of x, which are answered too: the variance is the mean of the squares.
[[nodiscard]] Values batch_norm_training(Translation& t) {
  const Feature feature = feature_of(t, 3, {1, 2});
  const Integers axes = other_axes(t, feature);
  refuse(count(t.extents()) == 0, "statistics of no elements");
  const Value mean = t.one("mean", {t.x()}, {{"axes", axes}}),
              variance = t.one("var", {t.x()}, {{"axes", axes}, {"correction", std::int64_t{0}}});
  return {normalised(t, feature, mean, variance), mean, variance};
}

/// The cotangents of x, scale and offset of `batch_norm_training`, given its statistics and the cotangent of its first
/// result.
[[nodiscard]] Values batch_norm_grad(Translation& t) {
  const Feature feature = feature_of(t, 5, {1, 2, 3});
  const Integers extents = t.extents();
  refuse(t.extents(4) != extents, "the cotangent has the extents of the operand");
  refuse(count(extents) == 0, "statistics of no elements");
  const std::int64_t features = extents[feature.axis], others = count(extents) / features;
  const std::string own = index_text('i', feature.axis),
                    here = items_text(t.rank(), [](std::size_t i) { return index_text('i', i); }),
                    of_feature = items_text(
                        t.rank(), [&](std::size_t i) { return i == feature.axis ? "f" : index_text('k', i); });
  std::string over;
  for (std::size_t i = 0; i < t.rank(); ++i) {
    if (i != feature.axis) over += fmt::format("{}{} < {}", over.empty() ? "" : ", ", index_text('k', i), extents[i]);
  }
  const auto sum = [&](const std::string& body) { return over.empty() ? body : fmt::format("sum[{}] {}", over, body); };
  const std::string row = fmt::format("[f < {}]", features), all = binders_text("i", extents);
  return t.define_all(
      "normalised_back",
      fmt::format("(x{0}, g{1}, m{1}, v{1}, d{0}) -> dx{0}, dg{1}, db{1}\n", extents_text(extents),
                  extents_text({features})) +
          fmt::format("  c{} = x{} - m[{}]\n  w{} = v[f] + {:.17g}\n", all, here, own, row, feature.epsilon) +
          fmt::format("  p{} = {}\n  q{} = {}\n", row, sum("d" + of_feature), row,
                      sum(fmt::format("d{0}*c{0}", of_feature))) +
          fmt::format("  dg{} = q[f] / sqrt(w[f])\n  db{} = p[f]\n", row, row) +
          fmt::format("  dx{0} = g[{1}] / sqrt(w[{1}]) / {2} * ({2}*d{3} - p[{1}] - c{3}*q[{1}] / w[{1}])\n", all, own,
                      others, here),
      t.all());
}

constexpr Row rows[] = {
    {"batch_norm_grad", batch_norm_grad, "batch_norm"},
    {"batch_norm_inference", batch_norm_inference, "batch_norm"},
    {"batch_norm_training", batch_norm_training, "batch_norm"},
};

}  // namespace

std::span<const Row> normalisation_rows() { return rows; }

}  // namespace etalon::conformance::stablehlo
