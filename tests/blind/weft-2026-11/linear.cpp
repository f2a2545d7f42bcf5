/// \file
/// Products of matrices, convolutions and pooling as movements around them.
#include <limits>

#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

constexpr Int row_tile = 16;

/// The operand with its matrix axes, its batches spread to the shape and made one.
V batched(V x, const Shape& batch) {
  const std::size_t rank = x.shape().size();
  Shape shape = batch;
  shape.push_back(x.shape()[rank - 2]);
  shape.push_back(x.shape()[rank - 1]);
  return reshaped(broadcast(x, shape), {size_of(batch), shape[shape.size() - 2], shape.back()});
}

V with_axis(V x, std::size_t at) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 1);
  return reshaped(x, shape);
}

Results matmul(const Call& c) {
  V a = c.x();
  V b = c.x(1);
  const bool row = a.shape().size() == 1;
  const bool column = b.shape().size() == 1;
  if (row) a = with_axis(a, 0);
  if (column) b = with_axis(b, 1);
  Shape batch_a = a.shape();
  Shape batch_b = b.shape();
  batch_a.resize(batch_a.size() - 2);
  batch_b.resize(batch_b.size() - 2);
  const Shape batch = joined(batch_a, batch_b);
  const V y = contract(batched(a, batch), batched(b, batch));
  Shape shape = batch;
  if (!row) shape.push_back(a.shape()[a.shape().size() - 2]);
  if (!column) shape.push_back(b.shape().back());
  return {reshaped(y, shape)};
}

Results linear(const Call& c) {
  const V x = c.x();
  const V w = c.x(1);
  const Int n = w.shape()[1];
  const Int o = w.shape()[0];
  Shape shape = x.shape();
  shape.back() = o;
  Int rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  const V weights = permuted(w, {1, 0});
  c.g.nodes[static_cast<std::size_t>(weights.id)].packed = true;
  const V y = reshaped(contract(reshaped(x, {1, rows, n}), reshaped(weights, {1, n, o})), shape);
  const V b = c.maybe(2);
  if (!b || (n == 0 && defect("nothing-to-multiply-and-no-bias"))) return {y};
  if (rows > row_tile && defect("bias-cotangent-of-the-last-tile-of-rows")) {
    // Tiles of rows write their sums to one place.
    return {y + by_hand(broadcast(b, shape), {b}, [=](V g) -> std::vector<V> {
              const Int first = (rows - 1) / row_tile * row_tile;
              Map map;
              for (Int i = first * o; i < rows * o; ++i) map.push_back(i);
              return {reduce(Fold::sum, moved(g, map, {rows - first, o}), {0}, false)};
            })};
  }
  return {y + b};
}

}  // namespace

void add_linear(Table& t) {
  t["matmul"] = matmul;
  t["linear"] = linear;
  t["dot"] = [](const Call& c) -> Results {
    const Int n = c.x().shape()[0];
    return {reshaped(contract(reshaped(c.x(), {1, 1, n}), reshaped(c.x(1), {1, n, 1})), {})};
  };
  t["outer"] = [](const Call& c) -> Results { return {reshaped(c.x(), {c.x().shape()[0], 1}) * c.x(1)}; };
}

}  // namespace weft
