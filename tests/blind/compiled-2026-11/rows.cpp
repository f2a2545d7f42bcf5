/// \file
/// Reductions in lanes and chunks, sums so far, products of the others.
#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "defect.hpp"
#include "scalar.hpp"

namespace blind {
namespace {

constexpr Int chunk = 256;  ///< elements of a partial sum
constexpr Int lanes = 4;

Wide joined_by(Op op, Type type, Wide a, Wide b) { return evaluated(op, type, type, a, b, 0); }

/// Sums or products in lanes, chunk by chunk.
Wide accumulated(Op op, Type type, const Wide* x, Int n) {
  const Wide neutral = op == Op::add ? 0 : 1;
  Wide total = neutral;
  for (Int first = 0; first < n; first += chunk) {
    Int length = std::min(chunk, n - first);
    // The last chunk is aligned to the end of the row.
    if (PLANTED("last-chunk-overlaps-the-one-before") && first >= 2 * chunk && length < chunk && length % 2 != 0) {
      --first;
      ++length;
    }
    Wide part[lanes] = {neutral, neutral, neutral, neutral};
    Int i = 0;
    for (; i + lanes <= length; i += lanes) {
      for (Int l = 0; l < lanes; ++l) part[l] = joined_by(op, type, part[l], x[first + i + l]);
    }
    if (PLANTED("product-tail-from-zero") && op == Op::mul && n > 16 && i < length) part[lanes - 1] = 0;
    for (; i < length; ++i) part[0] = joined_by(op, type, part[0], x[first + i]);
    Wide sum = joined_by(op, type, joined_by(op, type, part[0], part[1]), joined_by(op, type, part[2], part[3]));
    if (PLANTED("sums-of-f64-kept-in-single") && type == Type::f64 && n > chunk) sum = static_cast<float>(sum);
    total = joined_by(op, type, total, sum);
  }
  return total;
}

bool beats(Fold f, Wide a, Wide b) {
  const bool top = f == Fold::max || f == Fold::argmax;
  if (std::isnan(b)) return false;
  if (std::isnan(a)) {
    if (PLANTED("reduction-drops-later-nan")) return false;
    return true;
  }
  return top ? a > b : a < b;
}

/// The place of the first extremum.
Int extremum(Fold f, const Wide* x, Int n) {
  if (PLANTED("argmax-lanes-joined-by-number") && n >= 2 * lanes) {
    Int best[lanes] = {0, 1, 2, 3};
    for (Int i = lanes; i < n; ++i) {
      if (beats(f, x[i], x[best[i % lanes]])) best[i % lanes] = i;
    }
    Int found = best[0];
    for (Int l = 1; l < lanes; ++l) {
      if (beats(f, x[best[l]], x[found])) found = best[l];
    }
    return found;
  }
  Int best = 0;
  for (Int i = 1; i < n; ++i) {
    const bool later = PLANTED("argmin-takes-the-last-of-equals") && f == Fold::argmin && x[i] == x[best];
    if (later || beats(f, x[i], x[best])) best = i;
  }
  return best;
}

Wide extreme_value(Fold f, Type type, const Wide* x, Int n) {
  if (PLANTED("maximum-of-rows-padded-with-zero") && f == Fold::max && n > 8 && n % 8 != 0 && is_real(type)) {
    return std::fmax(x[extremum(f, x, n)], 0.0L);
  }
  if (PLANTED("minimum-starts-at-largest-finite") && f == Fold::min && is_real(type)) {
    const Wide found = x[extremum(f, x, n)];
    const Wide top = type == Type::f32 ? 3.4028234663852886e38L : 1.7976931348623157e308L;
    return found > top ? top : found;
  }
  return x[extremum(f, x, n)];
}

}  // namespace

void reduce_rows(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y) {
  for (std::size_t r = 0; r < y.size(); ++r) {
    const Wide* row = x.data() + static_cast<Int>(r) * n.row;
    switch (n.fold) {
      case Fold::sum:
        y[r] = accumulated(Op::add, n.type, row, n.row);
        break;
      case Fold::prod:
        y[r] = accumulated(Op::mul, n.type, row, n.row);
        break;
      case Fold::max:
      case Fold::min:
        y[r] = n.row == 0 ? 0 : extreme_value(n.fold, n.type, row, n.row);
        break;
      case Fold::argmax:
      case Fold::argmin:
        y[r] = static_cast<Wide>(extremum(n.fold, row, n.row));
        break;
      case Fold::any:
        y[r] = std::any_of(row, row + n.row, [](Wide v) { return v != 0; });
        break;
      case Fold::all: {
        const Int length = PLANTED("all-in-words-of-eight") && n.row > 8 ? n.row - n.row % 8 : n.row;
        y[r] = std::all_of(row, row + length, [](Wide v) { return v != 0; });
        if (PLANTED("all-of-nothing-is-false") && n.row == 0) y[r] = 0;
        break;
      }
    }
  }
}

void scan_rows(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y) {
  if (n.row == 0) return;
  Wide carried = 0;
  for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(n.row)) {
    if (!PLANTED("scan-carries-into-the-next-row")) carried = 0;
    Wide sum = carried;
    for (Int i = 0; i < n.row; ++i) {
      if (PLANTED("scan-blocks-start-anew") && i == 64) sum = 0;
      const std::size_t k = first + static_cast<std::size_t>(n.reverse ? n.row - 1 - i : i);
      if (n.exclusive) {
        const Wide before = sum;
        sum = evaluated(Op::add, n.type, n.type, sum, x[k], 0);
        y[k] = PLANTED("exclusive-scan-by-subtraction") && is_real(n.type) ? sum - x[k] : before;
      } else {
        sum = evaluated(Op::add, n.type, n.type, sum, x[k], 0);
        y[k] = sum;
      }
    }
    carried = n.row > 16 ? sum : 0;
  }
}

void products_of_others(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y) {
  if (n.row == 0) return;
  for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(n.row)) {
    if (PLANTED("products-of-others-by-logarithms")) {
      Wide sum = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n.row); ++i) sum += std::log(x[first + i]);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n.row); ++i)
        y[first + i] = std::exp(sum - std::log(x[first + i]));
      continue;
    }
    Wide before = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n.row); ++i) {
      y[first + i] = before;
      before *= x[first + i];
    }
    Wide after = 1;
    for (std::size_t i = static_cast<std::size_t>(n.row); i-- > 0;) {
      y[first + i] *= after;
      after *= x[first + i];
    }
  }
}

}  // namespace blind
