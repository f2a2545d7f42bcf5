/// \file
/// Products of matrices in variants that must agree: a row, tiles of 4 by 4, and parts of the sum with a second pass.
/// The first product of a form chooses a variant, which is kept for the next.
#include "contract.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "defect.hpp"
#include "scalar.hpp"

namespace weft {
namespace {

constexpr Int tile = 4;
constexpr Int panel = 16;
constexpr Int parts = 4;

enum class Variant { row, tiles, split };

struct Product {
  Type type;
  Int rows, columns, terms;
  const Wide* a;
  const Wide* b;
  Wide* y;
};

Wide multiplied(Type type, Wide sum, Wide a, Wide b) {
  if (!is_integer(type)) return sum + a * b;
  return evaluated(Op::add, type, type, sum, evaluated(Op::mul, type, type, a, b, 0), 0);
}

void by_rows(const Product& p) {
  for (Int i = 0; i < p.rows; ++i) {
    for (Int j = 0; j < p.columns; ++j) {
      Wide sum = 0;
      for (Int k = 0; k < p.terms; ++k) sum = multiplied(p.type, sum, p.a[i * p.terms + k], p.b[k * p.columns + j]);
      p.y[i * p.columns + j] = sum;
    }
  }
}

void by_tiles(const Product& p, bool tuned) {
  for (Int i0 = 0; i0 < p.rows; i0 += tile) {
    for (Int j0 = 0; j0 < p.columns; j0 += tile) {
      Wide sums[tile][tile] = {};
      Int terms = p.terms;
      // The tuned variant has no mask along the sum.
      if (tuned && defect("tuned-variant-has-no-mask-along-the-sum")) terms -= terms % 2;
      for (Int k0 = 0; k0 < terms; k0 += panel) {
        for (Int i = 0; i < tile; ++i) {
          for (Int j = 0; j < tile; ++j) {
            if (i0 + i >= p.rows || j0 + j >= p.columns) continue;
            for (Int k = k0; k < std::min(terms, k0 + panel); ++k)
              sums[i][j] = multiplied(p.type, sums[i][j], p.a[(i0 + i) * p.terms + k], p.b[k * p.columns + j0 + j]);
          }
        }
      }
      for (Int i = 0; i < tile; ++i) {
        for (Int j = 0; j < tile; ++j) {
          if (i0 + i < p.rows && j0 + j < p.columns) p.y[(i0 + i) * p.columns + j0 + j] = sums[i][j];
        }
      }
    }
  }
}

void by_parts(const Product& p) {
  const Int length = p.terms / parts;
  for (Int i = 0; i < p.rows; ++i) {
    for (Int j = 0; j < p.columns; ++j) {
      Wide sum = 0;
      for (Int s = 0; s < parts; ++s) {
        Wide own = 0;
        const Int end = s + 1 < parts ? (s + 1) * length : p.terms;
        for (Int k = s * length; k < end; ++k)
          own = multiplied(p.type, own, p.a[i * p.terms + k], p.b[k * p.columns + j]);
        sum = evaluated(Op::add, p.type, p.type, sum, own, 0);
      }
      p.y[i * p.columns + j] = sum;
    }
  }
}

Variant chosen(Int rows, Int columns, Int terms) {
  if (terms >= 128 && rows * columns <= 64) return Variant::split;
  return rows == 1 ? Variant::row : Variant::tiles;
}

}  // namespace

void contract_tiled(const Node& n, const std::vector<Wide>& a, const std::vector<Wide>& b, std::vector<Wide>& y, int seen) {
  const Int rows = n.shape[1];
  const Int columns = n.shape[2];
  const Variant variant = chosen(rows, columns, n.row);
  for (Int batch = 0; batch < n.shape[0]; ++batch) {
    const Product p{n.type,           rows, columns, n.row, a.data() + batch * rows * n.row, b.data() + batch * n.row * columns,
                    y.data() + batch * rows * columns};
    if (variant == Variant::row) by_rows(p);
    if (variant == Variant::tiles) by_tiles(p, seen > 0);
    if (variant == Variant::split) by_parts(p);
  }
}

}  // namespace weft
