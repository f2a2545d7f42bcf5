/// \file
/// One pass from the operands up: each node is simplified, or found again, or kept.
#include "rewrite.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>

#include "defect.hpp"
#include "scalar.hpp"

namespace weft {
namespace {

void append(std::string& key, const void* bytes, std::size_t n) { key.append(static_cast<const char*>(bytes), n); }

/// What a node is, as text: two nodes of one key have one value.
std::string key_of(const Node& n) {
  std::string key;
  key += static_cast<char>(n.op);
  key += static_cast<char>(n.type);
  key += static_cast<char>(n.fold);
  key += static_cast<char>((n.reverse ? 1 : 0) + (n.exclusive ? 2 : 0));
  key += static_cast<char>(n.shape.size());
  append(key, n.shape.data(), n.shape.size() * sizeof(Int));
  std::vector<int> in = n.in;
  const bool commutes = n.op == Op::add || n.op == Op::mul || n.op == Op::eq;
  if (in.size() == 2 && commutes && in[0] > in[1]) std::swap(in[0], in[1]);
  // Packed weights are packed once.
  if (!(n.packed && defect("weights-packed-once-for-a-form"))) append(key, in.data(), in.size() * sizeof(int));
  append(key, &n.row, sizeof n.row);
  if (n.kernel) key += n.kernel->key + ";";
  if (n.accumulates) key += '+';
  const Int places[] = {n.places.left, n.places.axis, n.places.right, n.places.along ? 1 : 0, n.places.count};
  append(key, places, sizeof places);
  const auto value = static_cast<double>(n.value);
  if (value == 0 && n.op == Op::constant && defect("constants-pooled-by-their-value")) {
    key += "zero";
  } else {
    const Wide rest = n.value - value;
    const auto low = std::isnan(value) || std::isinf(value) ? 0.0 : static_cast<double>(rest);
    append(key, &value, sizeof value);
    append(key, &low, sizeof low);
  }
  if (n.map) append(key, n.map->data(), n.map->size() * sizeof(Int));
  return key;
}

class Rewriter {
 public:
  explicit Rewriter(const Graph& from) : from_(from), now_(from.nodes.size(), -1) {}

  Graph run(std::vector<int>& outputs) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      Node n = from_.nodes[i];
      for (int& k : n.in) k = now_[static_cast<std::size_t>(k)];
      now_[i] = simplified(std::move(n));
    }
    for (int& id : outputs) id = now_[static_cast<std::size_t>(id)];
    return std::move(to_);
  }

 private:
  const Node& at(int id) const { return to_.nodes[static_cast<std::size_t>(id)]; }
  bool is(int id, Op op) const { return at(id).op == op; }
  bool is_value(int id, Wide v) const {
    return is(id, Op::constant) && at(id).value == v && std::signbit(at(id).value) == std::signbit(v);
  }

  int kept(Node n) {
    const std::string key = key_of(n);
    const auto [found, fresh] = known_.try_emplace(key, 0);
    if (fresh) found->second = to_.push(std::move(n));
    return found->second;
  }

  int made(Op op, Type type, const Shape& shape, std::vector<int> in) {
    Node n;
    n.op = op;
    n.type = type;
    n.shape = shape;
    n.in = std::move(in);
    return simplified(std::move(n));
  }

  int constant_like(const Node& n, Wide value) {
    Node c;
    c.type = n.type;
    c.shape = n.shape;
    c.value = value;
    return kept(std::move(c));
  }

  int simplified(Node n) {
    if (n.op == Op::input || n.op == Op::constant)
      return n.op == Op::input ? to_.push(std::move(n)) : kept(std::move(n));
    int found = -1;
    if (is_elementwise(n.op)) {
      found = folded(n);
      if (found < 0) found = algebra(n);
    } else if (n.op == Op::move) {
      found = layout(n);
    } else if (n.op == Op::reshape) {
      if (at(n.in[0]).shape == n.shape) return n.in[0];
      if (is(n.in[0], Op::reshape)) {
        n.in[0] = at(n.in[0]).in[0];
        return simplified(std::move(n));
      }
    } else if (n.op == Op::put) {
      if (identity(*n.map) && n.map->size() == static_cast<std::size_t>(size_of(n.shape)))
        found = made(Op::reshape, n.type, n.shape, n.in);
    } else if (n.op == Op::reduce) {
      found = reduction(n);
    }
    return found >= 0 ? found : kept(std::move(n));
  }

  int folded(const Node& n) {
    Wide v[3] = {0, 0, 0};
    for (std::size_t k = 0; k < n.in.size(); ++k) {
      if (!is(n.in[k], Op::constant)) return -1;
      v[k] = at(n.in[k]).value;
    }
    return constant_like(n, evaluated(n.op, n.type, at(n.in[0]).type, v[0], v[1], v[2]));
  }

  /// Only what is true of every number.
  int algebra(const Node& n) {
    const int a = n.in[0];
    const int b = n.in.size() > 1 ? n.in[1] : -1;
    switch (n.op) {
      case Op::neg:
        return is(a, Op::neg) ? at(a).in[0] : -1;
      case Op::lnot:
        return is(a, Op::lnot) ? at(a).in[0] : -1;
      case Op::store:
        return is(a, Op::store) && at(a).type == n.type ? a : -1;
      case Op::cast: {
        if (at(a).type == n.type) return a;
        const bool chain =
            is(a, Op::cast) && at(a).type == Type::i64 && at(at(a).in[0]).type == Type::i32 && n.type == Type::i32;
        return chain ? made(Op::cast, n.type, n.shape, {at(a).in[0]}) : -1;
      }
      case Op::mul: {
        if (is_value(b, 1)) return a;
        if (is_value(a, 1)) return b;
        return -1;
      }
      case Op::div:
        return is_value(b, 1) ? a : -1;
      case Op::add: {
        const Wide neutral = is_real(n.type) ? -0.0L : 0.0L;
        return is_value(b, neutral) ? a : is_value(a, neutral) ? b : -1;
      }
      case Op::sub:
        return is_value(b, 0) ? a : -1;
      case Op::select: {
        if (n.in[1] == n.in[2]) return n.in[1];
        if (is(a, Op::constant)) return at(a).value != 0 ? n.in[1] : n.in[2];
        return -1;
      }
      default:
        return -1;
    }
  }

  static bool identity(const Map& map) {
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (map[i] != static_cast<Int>(i)) return false;
    }
    return true;
  }

  bool same_fill(const Node& outer, const Node& inner) const {
    return outer.value == inner.value && std::signbit(outer.value) == std::signbit(inner.value);
  }

  static bool full(const Map& map) {
    for (const Int place : map) {
      if (place < 0) return false;
    }
    return true;
  }

  int layout(Node& n) {
    if (identity(*n.map) && n.map->size() == static_cast<std::size_t>(size_of(at(n.in[0]).shape)))
      return made(Op::reshape, n.type, n.shape, n.in);
    int below = n.in[0];
    while (is(below, Op::reshape)) below = at(below).in[0];
    // A rounding commutes with movement, which then meets the movement under it.
    if (is(below, Op::store)) below = at(below).in[0];
    if (is(below, Op::constant) && full(*n.map)) return constant_like(n, at(below).value);
    if (!is(below, Op::move)) return -1;
    const Node inner = at(below);
    if (!(full(*n.map) || full(*inner.map) || same_fill(n, inner))) return -1; else {
      Map both(n.map->size());
      for (std::size_t i = 0; i < both.size(); ++i) {
        const Int place = (*n.map)[i];
        both[i] = place < 0 ? -1 : (*inner.map)[static_cast<std::size_t>(place)];
      }
      n.map = std::make_shared<const Map>(std::move(both));
    }
    if (!full(*inner.map)) n.value = inner.value;
    n.in = inner.in;
    return simplified(std::move(n));
  }

  /// Sums of what is one number, and of rows of one element.
  int reduction(const Node& n) {
    const Node& x = at(n.in[0]);
    if (n.row == 1 && (n.fold != Fold::argmax && n.fold != Fold::argmin))
      return made(Op::reshape, n.type, n.shape, n.in);
    if (x.op != Op::constant || n.row == 0) return -1;
    const auto count = static_cast<Wide>(n.row);
    if (n.fold == Fold::sum && is_real(n.type))
      return constant_like(n, x.value * count);
    if (n.fold == Fold::max || n.fold == Fold::min || n.fold == Fold::any || n.fold == Fold::all)
      return constant_like(n, x.value);
    return -1;
  }

  const Graph& from_;
  std::vector<int> now_;
  Graph to_;
  std::unordered_map<std::string, int> known_;
};

}  // namespace

Graph rewritten(const Graph& g, std::vector<int>& outputs) { return Rewriter(g).run(outputs); }

}  // namespace weft
