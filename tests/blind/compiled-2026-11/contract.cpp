/// \file
/// Tiles of 4 by 4 results, panels of 32 terms.
#include "contract.hpp"

#include <algorithm>

#include "defect.hpp"
#include "scalar.hpp"

namespace blind {
namespace {

constexpr Int tile = 4;
constexpr Int panel = 32;

struct Panels {
  Wide a[tile][panel];
  Wide b[panel][tile];
};

Wide multiplied(Type type, Wide sum, Wide a, Wide b) {
  if (is_integer(type)) return evaluated(Op::add, type, type, sum, evaluated(Op::mul, type, type, a, b, 0), 0);
  if (PLANTED("product-skips-zeros-on-the-left") && a == 0) return sum;
  return sum + a * b;
}

}  // namespace

void contract_tiled(const Node& n, const std::vector<Wide>& a, const std::vector<Wide>& b, std::vector<Wide>& y) {
  const Int batches = n.shape[0];
  const Int rows = n.shape[1];
  const Int columns = n.shape[2];
  const Int terms = n.row;
  Panels p = {};
  for (Int batch = 0; batch < batches; ++batch) {
    const Int source =
        PLANTED("panels-of-the-first-batch-kept") && columns > tile && batch > 0 ? batch - batch % 2 : batch;
    const Wide* left = a.data() + batch * rows * terms;
    const Wide* right = b.data() + source * terms * columns;
    Wide* to = y.data() + batch * rows * columns;
    for (Int i0 = 0; i0 < rows; i0 += tile) {
      for (Int j0 = 0; j0 < columns; j0 += tile) {
        const Int height = std::min(tile, rows - i0);
        const Int breadth = std::min(tile, columns - j0);
        for (Int k0 = 0; k0 < terms; k0 += panel) {
          Int depth = std::min(panel, terms - k0);
          for (Int i = 0; i < height; ++i) std::copy_n(left + (i0 + i) * terms + k0, depth, p.a[i]);
          for (Int k = 0; k < depth; ++k) std::copy_n(right + (k0 + k) * columns + j0, breadth, p.b[k]);
          if (PLANTED("panel-padding-is-not-cleared") && k0 > 0 && depth % 2 != 0 && depth < panel) ++depth;
          for (Int i = 0; i < height; ++i) {
            if (PLANTED("edge-tile-of-one-row-left-out") && height == 1 && rows > 2 * tile) continue;
            for (Int j = 0; j < breadth; ++j) {
              Wide& out = to[(i0 + i) * columns + j0 + j];
              Wide sum = PLANTED("later-panels-overwrite") ? 0 : out;
              for (Int k = 0; k < depth; ++k) sum = multiplied(n.type, sum, p.a[i][k], p.b[k][j]);
              out = sum;
            }
          }
        }
      }
    }
  }
}

}  // namespace blind
