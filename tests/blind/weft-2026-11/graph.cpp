/// \file
/// Builds nodes.
#include "graph.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "defect.hpp"

namespace weft {

V constant(Graph& g, Type type, Wide value, Shape shape) {
  Node n;
  n.type = type;
  n.shape = std::move(shape);
  n.value = value;
  return g.add(std::move(n));
}

V like(V x, Wide value) { return constant(*x.g, x.type(), value); }

V unary(Op op, V x) {
  Node n;
  n.op = op;
  n.type = op == Op::isnan || op == Op::isinf || op == Op::isfinite || op == Op::lnot ? Type::boolean : x.type();
  n.shape = x.shape();
  n.in = {x.id};
  return x.g->add(std::move(n));
}

V binary(Op op, V a, V b) {
  const Shape shape = joined(a.shape(), b.shape());
  a = broadcast(a, shape);
  b = broadcast(b, shape);
  Node n;
  n.op = op;
  n.type = op >= Op::eq && op <= Op::lxor ? Type::boolean : a.type();
  n.shape = shape;
  n.in = {a.id, b.id};
  return a.g->add(std::move(n));
}

V select(V c, V a, V b) {
  const Shape shape = joined(joined(c.shape(), a.shape()), b.shape());
  c = broadcast(c, shape);
  a = broadcast(a, shape);
  b = broadcast(b, shape);
  Node n;
  n.op = Op::select;
  n.type = a.type();
  n.shape = shape;
  n.in = {c.id, a.id, b.id};
  return a.g->add(std::move(n));
}

V cast(V x, Type type) {
  Node n;
  n.op = Op::cast;
  n.type = type;
  n.shape = x.shape();
  n.in = {x.id};
  return x.g->add(std::move(n));
}

V store(V x) { return is_real(x.type()) ? unary(Op::store, x) : x; }

std::vector<Int> strides_of(const Shape& shape) {
  std::vector<Int> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Shape joined(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const Int x = d < a.size() ? a[a.size() - 1 - d] : 1;
    const Int y = d < b.size() ? b[b.size() - 1 - d] : 1;
    if (x != y && x != 1 && y != 1) throw Unsupported("shape", "the operands do not join");
    out[rank - 1 - d] = x == 1 ? y : x;
  }
  return out;
}

V reshaped(V x, Shape shape) {
  if (x.shape() == shape) return x;
  Node n;
  n.op = Op::reshape;
  n.type = x.type();
  n.shape = std::move(shape);
  n.in = {x.id};
  return x.g->add(std::move(n));
}

V moved(V x, Map map, Shape shape, Wide fill) {
  Node n;
  n.op = Op::move;
  n.type = x.type();
  n.shape = std::move(shape);
  n.in = {x.id};
  n.map = std::make_shared<const Map>(std::move(map));
  n.value = fill;
  return x.g->add(std::move(n));
}

V put(V x, std::shared_ptr<const Map> map, Shape shape) {
  Node n;
  n.op = Op::put;
  n.type = x.type();
  n.shape = std::move(shape);
  n.in = {x.id};
  n.map = std::move(map);
  return x.g->add(std::move(n));
}

V broadcast(V x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (x.node().op == Op::constant) return constant(*x.g, x.type(), x.node().value, shape);
  Shape from = x.shape();
  from.insert(from.begin(), shape.size() - from.size(), 1);
  std::vector<Int> strides = strides_of(from);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (from[d] == 1) strides[d] = 0;
  }
  Map map;
  map.reserve(static_cast<std::size_t>(size_of(shape)));
  each_index(shape, [&](const std::vector<Int>& at) {
    Int place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
    map.push_back(place);
  });
  return moved(x, std::move(map), shape);
}

V permuted(V x, const std::vector<Int>& permutation) {
  Shape shape;
  std::vector<Int> strides;
  const std::vector<Int> own = strides_of(x.shape());
  bool same = true;
  for (std::size_t d = 0; d < permutation.size(); ++d) {
    const auto p = static_cast<std::size_t>(permutation[d]);
    same = same && p == d;
    shape.push_back(x.shape()[p]);
    strides.push_back(own[p]);
  }
  if (same) return x;
  Map map;
  each_index(shape, [&](const std::vector<Int>& at) {
    Int place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
    map.push_back(place);
  });
  return moved(x, std::move(map), shape);
}

V take(V x, V positions, Shape shape) {
  Node n;
  n.op = Op::take;
  n.type = x.type();
  n.shape = std::move(shape);
  n.in = {x.id, positions.id};
  return x.g->add(std::move(n));
}

V placed(V x, V positions, Shape shape) {
  Node n;
  n.op = Op::place;
  n.type = x.type();
  n.shape = std::move(shape);
  n.in = {x.id, positions.id};
  return x.g->add(std::move(n));
}

Shape reduced(const Shape& shape, const std::vector<Int>& axes, bool keepdims) {
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<Int>(d)) != axes.end();
    if (!gone) out.push_back(shape[d]);
    if (gone && keepdims) out.push_back(1);
  }
  return out;
}

V reduce(Fold fold, V x, const std::vector<Int>& axes, bool keepdims) {
  std::vector<Int> order;
  std::vector<Int> gone = axes;
  // Positions of extrema count the axes as they are listed; otherwise their order does not matter.
  const bool by_list = fold == Fold::argmax || fold == Fold::argmin || fold == Fold::max || fold == Fold::min;
  if (!by_list) std::sort(gone.begin(), gone.end());
  Int row = 1;
  for (std::size_t d = 0; d < x.shape().size(); ++d) {
    if (std::find(gone.begin(), gone.end(), static_cast<Int>(d)) == gone.end()) order.push_back(static_cast<Int>(d));
  }
  for (const Int a : gone) {
    order.push_back(a);
    row *= x.shape()[static_cast<std::size_t>(a)];
  }
  const Shape kept = reduced(x.shape(), axes, false);
  const Shape result = reduced(x.shape(), axes, keepdims);
  const V rows = permuted(x, order);
  Node n;
  n.op = Op::reduce;
  n.fold = fold;
  n.type = fold == Fold::argmax || fold == Fold::argmin ? Type::i64 : x.type();
  n.shape = kept;
  n.in = {rows.id};
  n.row = row;
  return reshaped(x.g->add(std::move(n)), result);
}

V custom(const std::string& key, std::vector<V> in, Type type, Shape shape, Kernel::Run run, Kernel::Pull pull) {
  static std::unordered_map<std::string, std::shared_ptr<const Kernel>> kernels;
  // Kernels of one call are not kept.
  std::shared_ptr<const Kernel> own;
  std::shared_ptr<const Kernel>& kernel = key[0] == '!' ? own : kernels[key];
  if (!kernel) kernel = std::make_shared<const Kernel>(Kernel{key, std::move(run), std::move(pull)});
  Node n;
  n.op = Op::custom;
  n.type = type;
  n.shape = std::move(shape);
  for (const V v : in) n.in.push_back(v.id);
  n.kernel = kernel;
  return in[0].g->add(std::move(n));
}

V by_hand(V value, std::vector<V> operands, std::function<std::vector<V>(V seed)> pull) {
  if (!value.g->reverse) return value;
  static int count = 0;
  operands.insert(operands.begin(), value);
  const auto copy = [](const Node&, const Kernel::Operands& in, std::vector<Wide>& y) { y = *in[0]; };
  const auto spread = [pull](Graph&, const std::vector<V>&, V, V seed) {
    std::vector<V> found = pull(seed);
    found.insert(found.begin(), V{});
    return found;
  };
  return custom("!by hand " + std::to_string(count++), std::move(operands), value.type(), value.shape(), copy, spread);
}

V contract(V a, V b) {
  Node n;
  n.op = Op::contract;
  n.type = a.type();
  n.shape = {a.shape()[0], a.shape()[1], b.shape()[2]};
  n.row = a.shape()[2];
  n.in = {a.id, b.id};
  return a.g->add(std::move(n));
}

V scan(V x, Int axis, bool reverse, bool exclusive, Fold fold) {
  std::vector<Int> order;
  for (std::size_t d = 0; d < x.shape().size(); ++d) {
    if (static_cast<Int>(d) != axis) order.push_back(static_cast<Int>(d));
  }
  order.push_back(axis);
  const V rows = permuted(x, order);
  Node n;
  n.op = Op::scan;
  n.type = x.type();
  n.shape = rows.shape();
  n.row = rows.shape().back();
  n.in = {rows.id};
  n.reverse = reverse;
  n.fold = fold;
  n.exclusive = exclusive;
  const V found = x.g->add(std::move(n));
  std::vector<Int> back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[static_cast<std::size_t>(order[d])] = static_cast<Int>(d);
  return permuted(found, back);
}

}  // namespace weft
