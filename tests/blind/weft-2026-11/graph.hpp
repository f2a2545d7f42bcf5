/// \file
/// The graph of small operations that programs become. Nodes stand in an order in which they can be evaluated.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <optional>
#include <vector>

#include "tensor.hpp"

namespace weft {

enum class Op : unsigned char {
  input,
  constant,
  // Element by element, of one operand,
  neg,
  abs,
  sign,
  floor,
  ceil,
  trunc,
  round,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log1p,
  sqrt,
  sin,
  cos,
  tan,
  sinh,
  cosh,
  tanh,
  erf,
  isnan,
  isinf,
  isfinite,
  lnot,
  store,
  cast,
  detach,
  // of two,
  add,
  sub,
  mul,
  div,
  pow,
  fdiv,
  rem,
  atan2,
  maximum,
  minimum,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  land,
  lor,
  lxor,
  // and of three.
  select,
  // Movement: places known when compiling (move, put), or only when running (take, place).
  reshape,
  move,
  put,
  take,
  place,
  positions,
  // Rows: reductions, sums so far, products of the others.
  reduce,
  scan,
  others,
  row_place,
  contract,  ///< products of matrices, in batches
  custom,    ///< a kernel written by hand
};

inline bool is_elementwise(Op op) { return op >= Op::neg && op <= Op::select; }

enum class Fold : unsigned char { sum, prod, max, min, any, all, argmax, argmin };

/// How positions come from indices: result (left, indices, right) or element by element along an axis.
struct Places {
  Int left = 1, axis = 1, right = 1;  ///< extents of the operand around the axis
  bool along = false;                 ///< one index per element of the result, not per slice
  Int count = 1;                      ///< along: the extent of the result's axis
};

class Graph;
struct Node;
struct V;

/// A kernel written by hand, with the kernels of its cotangents. Kernels are kept by their key, which says everything
/// that the kernel was made for.
struct Kernel {
  using Operands = std::vector<const std::vector<Wide>*>;
  using Run = std::function<void(const Node& n, const Operands& in, std::vector<Wide>& y)>;
  using Pull = std::function<std::vector<V>(Graph& g, const std::vector<V>& in, V y, V seed)>;
  std::string key;
  Run run;
  Pull pull;
};

struct Node {
  Op op = Op::constant;
  Type type = Type::f32;
  Shape shape;
  std::vector<int> in;
  Wide value = 0;                  ///< of a constant; of a move, what stands where there is no place
  std::shared_ptr<const Map> map;  ///< of move and put
  Fold fold = Fold::sum;
  Int row = 1;  ///< the length of a row
  bool reverse = false, exclusive = false;
  Places places;
  std::shared_ptr<const Kernel> kernel;
  bool packed = false;       ///< weights in the form in which products read them
  bool accumulates = false;  ///< a cotangent that is added to another
};

/// A node, in the hands of who builds a graph.
struct V {
  Graph* g = nullptr;
  int id = -1;
  [[nodiscard]] const Node& node() const;
  [[nodiscard]] Shape shape() const { return node().shape; }  ///< a copy: nodes move when one is added
  [[nodiscard]] Type type() const { return node().type; }
  explicit operator bool() const { return id >= 0; }
};

class Graph {
 public:
  std::vector<Node> nodes;
  bool reverse = false;   ///< cotangents are asked for
  bool composed = false;  ///< calls become small nodes that can be differentiated again, not kernels written by hand
  int push(Node n) {
    nodes.push_back(std::move(n));
    return static_cast<int>(nodes.size()) - 1;
  }
  V add(Node n) { return {this, push(std::move(n))}; }
};

inline const Node& V::node() const { return g->nodes[static_cast<std::size_t>(id)]; }

// Constants and elements.
V constant(Graph& g, Type type, Wide value, Shape shape = {});
V like(V x, Wide value);  ///< a scalar constant of x's type
V unary(Op op, V x);
V binary(Op op, V a, V b);  ///< operands are broadcast
V select(V c, V a, V b);
V cast(V x, Type type);
V store(V x);  ///< rounded to its type

inline V operator+(V a, V b) { return binary(Op::add, a, b); }
inline V operator-(V a, V b) { return binary(Op::sub, a, b); }
inline V operator*(V a, V b) { return binary(Op::mul, a, b); }
inline V operator/(V a, V b) { return binary(Op::div, a, b); }
inline V operator-(V a) { return unary(Op::neg, a); }
inline V operator+(V a, Wide b) { return a + like(a, b); }
inline V operator-(V a, Wide b) { return a - like(a, b); }
inline V operator*(V a, Wide b) { return a * like(a, b); }
inline V operator/(V a, Wide b) { return a / like(a, b); }
inline V operator+(Wide a, V b) { return like(b, a) + b; }
inline V operator-(Wide a, V b) { return like(b, a) - b; }
inline V operator*(Wide a, V b) { return like(b, a) * b; }
inline V operator/(Wide a, V b) { return like(b, a) / b; }
inline V operator<(V a, V b) { return binary(Op::lt, a, b); }
inline V operator<=(V a, V b) { return binary(Op::le, a, b); }
inline V operator>(V a, V b) { return binary(Op::gt, a, b); }
inline V operator>=(V a, V b) { return binary(Op::ge, a, b); }
inline V operator==(V a, V b) { return binary(Op::eq, a, b); }
inline V operator<(V a, Wide b) { return a < like(a, b); }
inline V operator<=(V a, Wide b) { return a <= like(a, b); }
inline V operator>(V a, Wide b) { return a > like(a, b); }
inline V operator>=(V a, Wide b) { return a >= like(a, b); }
inline V operator==(V a, Wide b) { return a == like(a, b); }

// Movement.
Shape joined(const Shape& a, const Shape& b);
V reshaped(V x, Shape shape);
V moved(V x, Map map, Shape shape, Wide fill = 0);
V put(V x, std::shared_ptr<const Map> map, Shape shape);  ///< the transpose of moved
V broadcast(V x, const Shape& shape);
V permuted(V x, const std::vector<Int>& permutation);
V take(V x, V positions, Shape shape);
V placed(V x, V positions, Shape shape);  ///< the transpose of take

// Rows.
V reduce(Fold fold, V x, const std::vector<Int>& axes, bool keepdims);
V contract(V a, V b);  ///< [b, m, k] and [b, k, n]
V scan(V x, Int axis, bool reverse, bool exclusive, Fold fold = Fold::sum);
V custom(const std::string& key, std::vector<V> in, Type type, Shape shape, Kernel::Run run, Kernel::Pull pull = {});
/// The value, whose cotangents are written by hand: `pull` gives one for each operand.
V by_hand(V value, std::vector<V> operands, std::function<std::vector<V>(V seed)> pull);
/// The shape with the axes gone, or of extent 1.
Shape reduced(const Shape& shape, const std::vector<Int>& axes, bool keepdims);

std::vector<Int> strides_of(const Shape& shape);
/// Calls f with the index of each element, in row-major order.
template <class F>
void each_index(const Shape& shape, F f) {
  std::vector<Int> at(shape.size(), 0);
  const Int n = size_of(shape);
  for (Int i = 0; i < n; ++i) {
    f(at);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace weft
