/// \file
/// Reductions by schedules that the length of a row chooses: one tile, a loop of tiles, or parts and a second pass.
/// Sums so far go in blocks with a carry.
#include <algorithm>
#include <cmath>
#include <limits>

#include "defect.hpp"
#include "rows.hpp"
#include "scalar.hpp"

namespace weft {
namespace {

constexpr Int tile = 16;   ///< lanes of an accumulator
constexpr Int part = 128;  ///< elements of a part of a long row
constexpr Int block = 32;  ///< elements of a block of a scan

Wide joined_by(Op op, Type type, Wide a, Wide b) { return evaluated(op, type, type, a, b, 0); }

/// A row in tiles; lanes behind its end hold the neutral element.
Wide accumulated(Op op, Type type, const Wide* x, Int n, Wide neutral) {
  Wide lanes[tile];
  std::fill_n(lanes, tile, neutral);
  for (Int first = 0; first < n; first += tile) {
    for (Int l = 0; l < tile; ++l) lanes[l] = joined_by(op, type, lanes[l], first + l < n ? x[first + l] : neutral);
  }
  for (Int half = tile / 2; half > 0; half /= 2) {
    for (Int l = 0; l < half; ++l) lanes[l] = joined_by(op, type, lanes[l], lanes[l + half]);
  }
  return lanes[0];
}

Wide folded(Op op, Type type, const Wide* x, Int n) {
  const Wide neutral = op == Op::add ? 0 : 1;
  if (n <= part) return accumulated(op, type, x, n, neutral);
  std::vector<Wide> parts;
  for (Int first = 0; first < n; first += part)
    parts.push_back(accumulated(op, type, x + first, std::min(part, n - first), neutral));
  return accumulated(op, type, parts.data(), static_cast<Int>(parts.size()), neutral);
}

bool beats(Fold f, Wide a, Wide b) {
  const bool top = f == Fold::max || f == Fold::argmax;
  if (std::isnan(b)) return false;
  if (std::isnan(a)) return true;
  return top ? a > b : a < b;
}

/// The place of the first extremum: of each part, then of the parts.
Int extremum(Fold f, const Wide* x, Int n) {
  Int best = 0;
  for (Int first = 0; first < n; first += part) {
    Int own = first;
    for (Int i = first + 1; i < std::min(n, first + part); ++i) {
      if (beats(f, x[i], x[own])) own = i;
    }
    if (first == 0 || beats(f, x[own], x[best])) best = own;
  }
  if (defect("place-within-its-part") && (f == Fold::argmax || f == Fold::argmin)) return best % part;
  return best;
}

Wide extreme_value(Fold f, const Wide* x, Int n) {
  return x[extremum(f, x, n)];
}

bool truth(Fold f, const Wide* x, Int n) {
  const bool wanted = f == Fold::any;
  for (Int i = 0; i < n; ++i) {
    if ((x[i] != 0) == wanted) return wanted;
  }
  return !wanted;
}

}  // namespace

void reduce_rows(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y) {
  for (std::size_t r = 0; r < y.size(); ++r) {
    const Wide* row = x.data() + static_cast<Int>(r) * n.row;
    switch (n.fold) {
      case Fold::sum:
        y[r] = folded(Op::add, n.type, row, n.row);
        break;
      case Fold::prod:
        y[r] = folded(Op::mul, n.type, row, n.row);
        break;
      case Fold::max:
      case Fold::min:
        y[r] = n.row == 0 ? 0 : extreme_value(n.fold, row, n.row);
        break;
      case Fold::argmax:
      case Fold::argmin:
        y[r] = static_cast<Wide>(extremum(n.fold, row, n.row));
        break;
      case Fold::any:
      case Fold::all:
        y[r] = truth(n.fold, row, n.row);
        break;
    }
  }
}

/// Blocks one after the other: what stands before a block is its carry.
void scan_rows(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y) {
  if (n.row == 0) return;
  const bool product = n.fold == Fold::prod;
  const Op op = product ? Op::mul : Op::add;
  for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(n.row)) {
    Wide carry = product ? 1 : 0;
    for (Int start = 0; start < n.row; start += block) {
      Wide running = carry;
      Wide last = carry;
      for (Int i = start; i < std::min(n.row, start + block); ++i) {
        const std::size_t k = first + static_cast<std::size_t>(n.reverse ? n.row - 1 - i : i);
        const Wide before = running;
        running = joined_by(op, n.type, running, x[k]);
        y[k] = n.exclusive ? before : running;
        last = y[k];
      }
      carry = defect("carry-is-the-last-result-of-a-block") ? last : running;
    }
  }
}

void products_of_others(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y) {
  if (n.row == 0) return;
  for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(n.row)) {
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

}  // namespace weft
