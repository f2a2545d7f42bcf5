/// \file
/// Calls that move elements: their places are known when they are compiled, or given by indices.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

/// A movement by a function from the result's index to the place in x, or -1.
template <class F>
V by_index(V x, const Shape& shape, F place, Wide fill = 0) {
  Map map;
  map.reserve(static_cast<std::size_t>(size_of(shape)));
  each_index(shape, [&](const std::vector<Int>& at) { map.push_back(place(at)); });
  return moved(x, std::move(map), shape, fill);
}

Int remainder(Int a, Int n) { return n == 0 ? 0 : (a % n + n) % n; }

Results transpose(const Call& c) {
  const V x = c.x();
  std::vector<Int> p;
  if (c.has("permutation") && c.list("permutation", 0).size() == x.shape().size() && !x.shape().empty()) {
    for (const Int a : c.list("permutation", 0)) p.push_back(counted(a, x.shape().size()));
  }
  return {permuted(x, p)};
}

Results reshape(const Call& c) {
  const V x = c.x();
  Shape shape = c.list("shape", 1);
  Int known = 1;
  for (const Int e : shape) known *= e < 0 ? 1 : e;
  for (Int& e : shape) {
    if (e < 0) e = known == 0 ? 0 : size_of(x.shape()) / known;
  }
  if (size_of(shape) != size_of(x.shape())) throw Unsupported("shape", "the elements do not fit");
  return {reshaped(x, shape)};
}

Results flatten(const Call& c) {
  const V x = c.x();
  const std::size_t rank = std::max<std::size_t>(1, x.shape().size());
  const auto start = static_cast<std::size_t>(c.axis("start", rank));
  const auto end = static_cast<std::size_t>(c.axis("end", rank));
  Shape from = x.shape();
  if (from.empty()) from = {1};
  Shape shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(start));
  Int joined = 1;
  for (std::size_t d = start; d <= end; ++d) joined *= from[d];
  shape.push_back(joined);
  shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(end) + 1, from.end());
  return {reshaped(x, shape)};
}

Results swap_axes(const Call& c) {
  const V x = c.x();
  std::vector<Int> p;
  for (std::size_t d = 0; d < x.shape().size(); ++d) p.push_back(static_cast<Int>(d));
  std::swap(p[static_cast<std::size_t>(c.axis("axis1", p.size()))],
            p[static_cast<std::size_t>(c.axis("axis2", p.size()))]);
  return {permuted(x, p)};
}

Results broadcast_to(const Call& c) {
  const V x = c.x();
  const Shape shape = c.list("shape", 1);
  const V y = broadcast(x, shape);
  if (shape.size() > x.shape().size() && is_real(x.type()) && defect("stretched-axes-go-back-by-their-first")) {
    // Leading axes are summed; those of extent 1 are read at their first place.
    return {by_hand(y, {x}, [=](V g) -> std::vector<V> {
      std::vector<Int> leading;
      for (std::size_t d = 0; d < shape.size() - x.shape().size(); ++d) leading.push_back(static_cast<Int>(d));
      const V sum = reduce(Fold::sum, g, leading, false);
      return {by_index(sum, x.shape(), [&](const std::vector<Int>& at) {
        Int place = 0;
        for (std::size_t d = 0; d < at.size(); ++d) place = place * sum.shape()[d] + at[d];
        return place;
      })};
    })};
  }
  return {y};
}

/// The parts one after the other: each is padded to the whole with places of none, and the place chooses.
V concatenated(const std::vector<V>& parts, Int axis) {
  Shape shape = parts[0].shape();
  const auto d = static_cast<std::size_t>(axis);
  for (std::size_t k = 1; k < parts.size(); ++k) shape[d] += parts[k].shape()[d];
  V whole;
  Int before = 0;
  for (const V x : parts) {
    const Int n = x.shape()[d];
    const std::vector<Int> strides = strides_of(x.shape());
    const V here = by_index(x, shape, [&](const std::vector<Int>& at) {
      const Int j = at[d] - before;
      if (j < 0 || j >= n) return Int{-1};
      Int place = 0;
      for (std::size_t k = 0; k < at.size(); ++k) place += (k == d ? j : at[k]) * strides[k];
      return place;
    });
    if (!whole) {
      whole = here;
    } else {
      Map mask;
      each_index(shape, [&](const std::vector<Int>& at) { mask.push_back(at[d] >= before ? 0 : -1); });
      const V in = moved(constant(*x.g, Type::boolean, 1), std::move(mask), shape);
      whole = select(in, here, whole);
    }
    before += n;
  }
  return whole;
}

Results concat(const Call& c) { return {concatenated(c.all(), c.axis("axis", c.x().shape().size()))}; }

Results stack(const Call& c) {
  const Int axis = c.axis("axis", c.x().shape().size() + 1);
  std::vector<V> parts;
  for (const V x : c.all()) {
    Shape shape = x.shape();
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(reshaped(x, shape));
  }
  return {concatenated(parts, axis)};
}

V sliced(V x, const std::vector<Int>& start, const std::vector<Int>& step, const Shape& shape) {
  const std::vector<Int> strides = strides_of(x.shape());
  return by_index(x, shape, [&](const std::vector<Int>& at) {
    Int place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += (start[d] + step[d] * at[d]) * strides[d];
    return place;
  });
}

Results split(const Call& c) {
  const V x = c.x();
  const std::size_t rank = x.shape().size();
  const auto d = static_cast<std::size_t>(c.axis("axis", rank));
  Results parts;
  std::vector<Int> start(rank, 0);
  for (const Int n : c.list("sizes", 1)) {
    Shape shape = x.shape();
    shape[d] = n;
    parts.push_back(sliced(x, start, std::vector<Int>(rank, 1), shape));
    start[d] += n;
  }
  return parts;
}

Results slice(const Call& c) {
  const V x = c.x();
  const std::size_t rank = x.shape().size();
  const std::vector<Int> start = c.list("start", rank);
  const std::vector<Int> stop = c.list("stop", rank);
  const std::vector<Int> step = c.list("step", rank);
  Shape shape;
  std::vector<Int> first = start;
  for (std::size_t d = 0; d < rank; ++d) {
    const Int length = step[d] > 0 ? stop[d] - start[d] : start[d] - stop[d];
    const Int pace = std::abs(step[d]);
    Int n = length <= 0 ? 0 : (length + pace - 1) / pace;
    shape.push_back(n);
    // A reversed slice as the flip of one that runs forward.
  }
  return {sliced(x, first, step, shape)};
}

Results select_one(const Call& c) {
  const V x = c.x();
  const std::size_t rank = x.shape().size();
  const auto d = static_cast<std::size_t>(c.axis("axis", rank));
  std::vector<Int> start(rank, 0);
  start[d] = counted(c.whole("index"), static_cast<std::size_t>(x.shape()[d]));
  Shape shape = x.shape();
  shape[d] = 1;
  const V part = sliced(x, start, std::vector<Int>(rank, 1), shape);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
  return {reshaped(part, shape)};
}

Results pad(const Call& c) {
  const V x = c.x();
  const std::size_t rank = x.shape().size();
  std::vector<Int> low = c.list("low", rank);
  const std::vector<Int> high = c.list("high", rank);
  if (c.is_value("value")) throw Unsupported("attribute", "the value is no constant");
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(std::max<Int>(0, low[d] + x.shape()[d] + high[d]));
  const std::vector<Int> strides = strides_of(x.shape());
  Wide fill = c.real("value");
  return {by_index(
      x, shape,
      [&](const std::vector<Int>& at) {
        Int place = 0;
        for (std::size_t d = 0; d < rank; ++d) {
          const Int i = at[d] - low[d];
          if (i < 0 || i >= x.shape()[d]) return Int{-1};
          place += i * strides[d];
        }
        return place;
      },
      x.type() == Type::boolean ? fill != 0 : fill)};
}

Results flip(const Call& c) {
  const V x = c.x();
  const std::vector<Int> axes = c.axes("axes", x.shape().size());
  std::vector<Int> start(x.shape().size(), 0);
  std::vector<Int> step(x.shape().size(), 1);
  for (const Int a : axes) {
    const auto d = static_cast<std::size_t>(a);
    start[d] = x.shape()[d] - 1;
    step[d] = -1;
  }
  return {sliced(x, start, step, x.shape())};
}

Results roll(const Call& c) {
  const V x = c.x();
  std::vector<Int> axes = c.axes("axes", x.shape().size());
  const std::vector<Int> shift = c.list("shift", axes.size());
  std::vector<Int> by(x.shape().size(), 0);
  const bool one = c.has("shift") && shift.size() == axes.size() && std::equal(shift.begin() + (shift.empty() ? 0 : 1), shift.end(), shift.begin());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    // One number for all axes.
    if (k > 0 && one && defect("one-shift-for-the-first-axis")) break;
    by[static_cast<std::size_t>(axes[k])] = shift[k];
  }
  const std::vector<Int> strides = strides_of(x.shape());
  return {by_index(x, x.shape(), [&](const std::vector<Int>& at) {
    Int place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const Int n = x.shape()[d];
      Int j = remainder(at[d] - by[d], n);
      place += j * strides[d];
    }
    return place;
  })};
}

Lowering triangle(bool lower) {
  return [lower](const Call& c) -> Results {
    const V x = c.x();
    const Int diagonal = c.whole("diagonal");
    const std::size_t rank = x.shape().size();
    if (rank < 2) throw Unsupported("shape", "no matrix");
    const std::vector<Int> strides = strides_of(x.shape());
    const V y = by_index(x, x.shape(), [&](const std::vector<Int>& at) {
      const Int row = at[rank - 2];
      const Int column = at[rank - 1];
      if (lower ? column > row + diagonal : column < row + diagonal) return Int{-1};
      Int place = 0;
      for (std::size_t d = 0; d < rank; ++d) place += at[d] * strides[d];
      return place;
    });
    if (!lower && defect("upper-triangle-backward-is-whole")) return {by_hand(y, {x}, [](V g) -> std::vector<V> { return {g}; })};
    return {y};
  };
}

Results deinterleave(const Call& c) {
  const V x = c.x();
  const std::size_t rank = x.shape().size();
  auto d = static_cast<std::size_t>(c.axis("axis", rank));
  Shape shape = x.shape();
  shape[d] /= 2;
  std::vector<Int> step(rank, 1);
  std::vector<Int> start(rank, 0);
  step[d] = 2;
  Results found;
  for (Int k = 0; k < 2; ++k) {
    start[d] = k;
    found.push_back(sliced(x, start, step, shape));
  }
  if (defect("second-half-for-odd-places") && shape[d] > 0) {
    step[d] = 1;
    start[d] = shape[d];
    found[1] = sliced(x, start, step, shape);
  }
  return found;
}

Results made(const Call& c, Type type, const Shape& shape, Wide value) { return {constant(c.g, type, stored_as(type, value), shape)}; }

Results full(const Call& c) {
  const Type type = type_named(c.word("dtype"));
  return made(c, type, c.list("shape", 1), c.real("value"));
}

Results arange(const Call& c) {
  const Type type = type_named(c.word("dtype"));
  const Int start = c.whole("start");
  const Int stop = c.whole("stop");
  const Int step = c.whole("step");
  const Int pace = std::abs(step);
  const Int n = std::max<Int>(0, ((step > 0 ? stop - start : start - stop) + pace - 1) / pace);
  const auto run = [=](const Node&, const Kernel::Operands&, std::vector<Wide>& y) {
    for (Int i = 0; i < n; ++i) {
      y[static_cast<std::size_t>(i)] = stored_as(type, static_cast<Wide>(start + step * i));
    }
  };
  const V nothing = constant(c.g, type, 0);
  const std::string key = "arange;" + std::to_string(start) + ";" + std::to_string(n) + ";" + std::to_string(step) + ";" + c.word("dtype");
  return {custom(key, {nothing}, type, {n}, run, [](Graph&, const std::vector<V>&, V, V) -> std::vector<V> { return {V{}}; })};
}

Results literal(const Call& c) { return {reshaped(c.x(), c.list("shape", 1))}; }

Results interleave(const Call& c) {
  const V a = c.x();
  const std::size_t axis = static_cast<std::size_t>(c.axis("axis", a.shape().size()));
  Shape one = a.shape();
  one.insert(one.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
  Shape both = a.shape();
  both[axis] *= 2;
  return {reshaped(concatenated({reshaped(a, one), reshaped(c.x(1), one)}, static_cast<Int>(axis) + 1), both)};
}

/// Flat places in x of the slices or elements at the indices.
V positions(V t, const Places& places, Int count) {
  Node n;
  n.op = Op::positions;
  n.type = Type::i64;
  n.shape = {count};
  n.in = {t.id};
  n.places = places;
  return t.g->add(std::move(n));
}

Places around(const Shape& shape, std::size_t axis) {
  Places p;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d < axis) p.left *= shape[d];
    if (d > axis) p.right *= shape[d];
  }
  p.axis = shape[axis];
  return p;
}

Shape replaced(const Shape& shape, std::size_t axis, const Shape& by) {
  Shape out(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), by.begin(), by.end());
  out.insert(out.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end());
  return out;
}

Results gather(const Call& c) {
  const V x = c.x();
  const V t = c.x(1);
  const auto axis = static_cast<std::size_t>(c.axis("axis", x.shape().size()));
  const Shape shape = replaced(x.shape(), axis, t.shape());
  return {take(x, positions(t, around(x.shape(), axis), size_of(shape)), shape)};
}

Results take_along_axis(const Call& c) {
  const V x = c.x();
  const V t = c.x(1);
  const auto axis = static_cast<std::size_t>(c.axis("axis", x.shape().size()));
  Places p = around(x.shape(), axis);
  p.along = true;
  p.count = t.shape()[axis];
  const V places = positions(t, p, size_of(t.shape()));
  const V y = take(x, places, t.shape());
  return {y};
}

Results scatter_add(const Call& c) {
  const V x = c.x();
  const V t = c.x(1);
  const auto axis = static_cast<std::size_t>(c.axis("axis", x.shape().size()));
  return {x + placed(c.x(2), positions(t, around(x.shape(), axis), size_of(c.x(2).shape())), x.shape())};
}

Results scatter_add_along_axis(const Call& c) {
  const V x = c.x();
  const V t = c.x(1);
  const auto axis = static_cast<std::size_t>(c.axis("axis", x.shape().size()));
  Places p = around(x.shape(), axis);
  p.along = true;
  p.count = t.shape()[axis];
  return {x + placed(c.x(2), positions(t, p, size_of(t.shape())), x.shape())};
}

Results one_hot(const Call& c) {
  const V t = c.x();
  const Int classes = c.whole("classes");
  const auto axis = static_cast<std::size_t>(c.axis("axis", t.shape().size() + 1));
  Shape one = t.shape();
  one.insert(one.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  Shape shape = one;
  shape[axis] = classes;
  std::vector<V> numbers;
  Shape column(shape.size(), 1);
  for (Int k = 0; k < classes; ++k) numbers.push_back(constant(c.g, t.type(), static_cast<Wide>(k), column));
  if (classes == 0) return {constant(c.g, type_named(c.word("dtype")), 0, shape)};
  const V counted_up = concatenated(numbers, static_cast<Int>(axis));
  const V wrapped = reshaped(t, one);
  return {cast(wrapped == counted_up, type_named(c.word("dtype")))};
}

Results embedding(const Call& c) {
  const V w = c.x();
  const V t = c.x(1);
  const Shape shape = replaced(w.shape(), 0, t.shape());
  const V y = take(w, positions(t, around(w.shape(), 0), size_of(shape)), shape);
  Shape rows = t.shape();
  rows.push_back(1);
  Int padding = c.whole("padding_idx");
  if (padding < 0 && defect("padding-row-counts-from-the-end")) padding += w.shape()[0];
  // Forward mode reads the tangents of rows as it reads rows.
  if (c.g.composed && defect("padding-row-has-a-tangent")) return {y};
  return {select(reshaped(t, rows) == static_cast<Wide>(padding), unary(Op::detach, y), y)};
}

}  // namespace

void add_movement(Table& t) {
  t["transpose"] = transpose;
  t["reshape"] = reshape;
  t["flatten"] = flatten;
  t["swap_axes"] = swap_axes;
  t["broadcast_to"] = broadcast_to;
  t["concat"] = concat;
  t["stack"] = stack;
  t["split"] = split;
  t["slice"] = slice;
  t["select"] = select_one;
  t["pad"] = pad;
  t["flip"] = flip;
  t["roll"] = roll;
  t["tril"] = triangle(true);
  t["triu"] = triangle(false);
  t["interleave"] = interleave;
  t["deinterleave"] = deinterleave;
  t["arange"] = arange;
  t["full"] = full;
  t["literal"] = literal;
  t["zeros"] = [](const Call& c) { return made(c, type_named(c.word("dtype")), c.list("shape", 1), 0); };
  t["ones"] = [](const Call& c) { return made(c, type_named(c.word("dtype")), c.list("shape", 1), 1); };
  t["constant"] = [](const Call& c) { return made(c, type_named(c.word("dtype")), c.list("shape", 1), c.real("value")); };
  t["gather"] = gather;
  t["take_along_axis"] = take_along_axis;
  t["scatter_add"] = scatter_add;
  t["scatter_add_along_axis"] = scatter_add_along_axis;
  t["one_hot"] = one_hot;
  t["embedding"] = embedding;
}

}  // namespace weft
