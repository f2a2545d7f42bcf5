#include "conformance/measure/sums.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

/// Asks how many terms are swallowed by a large term at `i` and its negative at `j`.
class Masking {
 public:
  Masking(const SumRows& sum, DType dtype, std::int64_t terms, std::size_t rows)
      : sum_(sum), terms_(static_cast<std::size_t>(terms)), rows_(rows), mask_(std::ldexp(1.0, spec::format_of(dtype).emax - 20)) {}

  /// For each j the number of terms below the node where i and j meet; empty when the backend declines.
  std::vector<std::int64_t> below(std::size_t i, std::span<const std::size_t> js) const {
    std::vector<std::int64_t> found;
    for (std::size_t first = 0; first < js.size(); first += rows_) {
      std::vector<double> rows(rows_ * terms_, 1.0);
      const std::size_t count = std::min(rows_, js.size() - first);
      for (std::size_t r = 0; r < count; ++r) {
        rows[r * terms_ + i] = mask_;
        rows[r * terms_ + js[first + r]] = -mask_;
      }
      const auto sums = sum_(rows);
      if (!sums) return {};
      for (std::size_t r = 0; r < count; ++r) {
        found.push_back(static_cast<std::int64_t>(terms_) - static_cast<std::int64_t>((*sums)[r]));
      }
    }
    return found;
  }

 private:
  const SumRows& sum_;
  std::size_t terms_;
  std::size_t rows_;
  double mask_;
};

struct Found {
  std::int64_t height = 0;
  bool is_tree = true;
  bool declined = false;
};

/// The height of the tree over these leaves, which are all the leaves of one node.
Found height_of(const Masking& masking, std::vector<std::size_t> leaves) {
  Found found;
  if (leaves.size() < 2) return found;
  const std::size_t pivot = leaves[0];
  leaves.erase(leaves.begin());
  const auto below = masking.below(pivot, leaves);
  if (below.empty()) return {0, false, true};
  std::map<std::int64_t, std::vector<std::size_t>> siblings;  // of the nodes on the pivot's way up, by their size
  for (std::size_t k = 0; k < leaves.size(); ++k) siblings[below[k]].push_back(leaves[k]);
  if (siblings.size() == 1 && siblings.begin()->first == 2 && leaves.size() > 1) return found;
  std::int64_t size = 1;
  for (auto& [node, sibling] : siblings) {
    size += static_cast<std::int64_t>(sibling.size());
    if (size != node) found.is_tree = false;
    const Found inner = sibling.size() > 1 && found.is_tree ? height_of(masking, std::move(sibling)) : Found{};
    found.height = std::max(found.height, inner.height) + 1;
    found.is_tree = found.is_tree && inner.is_tree;
    found.declined = found.declined || inner.declined;
  }
  return found;
}

/// Sums over an axis of [rows, terms] or of [terms, rows].
SumRows reduction(spec::Backend& backend, const Probe& probe, DType dtype, bool last, std::int64_t terms, std::size_t rows) {
  return [=, &backend](std::span<const double> values) -> std::optional<std::vector<double>> {
    const auto m = static_cast<std::int64_t>(rows);
    HostTensor x(dtype, last ? Dims{m, terms} : Dims{terms, m});
    const auto n = static_cast<std::size_t>(terms);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < n; ++k) set_element(x, last ? r * n + k : k * rows + r, values[r * n + k]);
    }
    const auto y = ask(backend, probe, {x});
    if (!y || y->dims.count() != m) return std::nullopt;
    return doubles_of(*y);
  };
}

/// Terms times one, as [rows, terms] times [terms, columns] or the other way round.
SumRows contraction(spec::Backend& backend, const Probe& probe, DType dtype, bool left, std::int64_t terms, std::size_t rows) {
  return [=, &backend](std::span<const double> values) -> std::optional<std::vector<double>> {
    const auto m = static_cast<std::int64_t>(rows);
    const auto n = static_cast<std::size_t>(terms);
    constexpr std::int64_t others = 8;
    HostTensor x(dtype, left ? Dims{m, terms} : Dims{terms, m});
    HostTensor ones(dtype, left ? Dims{terms, others} : Dims{others, terms});
    for (std::size_t i = 0; i < n * others; ++i) set_element(ones, i, 1);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < n; ++k) set_element(x, left ? r * n + k : k * rows + r, values[r * n + k]);
    }
    const auto y = left ? ask(backend, probe, {x, ones}) : ask(backend, probe, {ones, x});
    if (!y || y->dims.count() != m * others) return std::nullopt;
    std::vector<double> sums(rows);
    for (std::size_t r = 0; r < rows; ++r) sums[r] = element(*y, left ? r * others : r);
    return sums;
  };
}

}  // namespace

std::optional<TreeMeasure> measure_tree(const SumRows& sum, DType dtype, std::int64_t terms, std::size_t rows) {
  std::vector<std::size_t> leaves(static_cast<std::size_t>(terms));
  std::iota(leaves.begin(), leaves.end(), std::size_t{0});
  const Found found = height_of(Masking(sum, dtype, terms, rows), std::move(leaves));
  if (found.declined) return std::nullopt;
  TreeMeasure seen;
  seen.terms = terms;
  seen.height = found.height;
  seen.is_tree = found.is_tree;
  return seen;
}

std::vector<TreeMeasure> measure_sums(spec::Backend& backend, const spec::Library& library, DType dtype, std::int64_t longest) {
  std::vector<TreeMeasure> all;
  constexpr std::size_t many = 64;
  const auto add = [&](const char* layout, bool products, std::int64_t terms, std::size_t rows, const SumRows& sum) {
    auto seen = measure_tree(sum, dtype, terms, rows);
    if (!seen) return;
    seen->layout = layout;
    seen->products = products;
    all.push_back(*seen);
  };
  const auto last = bare_reduction(library, spec::Reduction::sum, dtype, true);
  const auto first = bare_reduction(library, spec::Reduction::sum, dtype, false);
  const auto product = bare_contraction(library, dtype);
  for (const std::int64_t terms : {2, 3, 7, 16, 33, 64, 100, 256, 1000}) {
    if (terms > longest) break;
    if (last) add("sum over the last axis", false, terms, many, reduction(backend, *last, dtype, true, terms, many));
    if (last && terms <= 100) add("sum of one row", false, terms, 1, reduction(backend, *last, dtype, true, terms, 1));
    if (first) add("sum over the first axis", false, terms, many, reduction(backend, *first, dtype, false, terms, many));
    if (!product) continue;
    add("contraction, terms on the left", true, terms, many, contraction(backend, *product, dtype, true, terms, many));
    add("contraction, terms on the right", true, terms, many, contraction(backend, *product, dtype, false, terms, many));
  }
  return all;
}

spec::SumTree tree_that_holds(std::span<const TreeMeasure> seen, bool products) {
  std::int64_t longest = 0;
  for (const TreeMeasure& t : seen) {
    if (t.products != products) continue;
    if (!t.is_tree) return {};
    longest = std::max(longest, t.terms);
  }
  spec::SumTree best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const spec::SumTree& tree) {
    double cost = 0;
    for (const TreeMeasure& t : seen) {
      if (t.products == products && t.height > tree.height(t.terms)) return;
    }
    for (std::int64_t n = 16; n <= longest; n *= 2) cost += std::log2(static_cast<double>(tree.height(n)));
    if (cost < least) {
      least = cost;
      best = tree;
    }
  };
  for (std::int64_t lanes = 1; lanes <= longest / 8; lanes *= 2) {
    consider({std::nullopt, lanes});
    for (std::int64_t block = 1; block * lanes <= longest / 8; block *= 2) consider({block, lanes});
  }
  return best;
}

}  // namespace etalon::conformance
