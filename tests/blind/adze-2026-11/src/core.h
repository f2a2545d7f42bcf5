// Types shared by all parts: numbers, element types, graph nodes.
#pragma once
#include <quadmath.h>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace adze {

using Real = __float128;  // every element in flight; integers of 64 bits fit exactly
using I = std::int64_t;
using Shape = std::vector<I>;

enum class DT { F32, F64, I32, I64, Bool, Wide };  // Wide: inside a call, not yet rounded

inline bool is_real(DT t) { return t == DT::F32 || t == DT::F64 || t == DT::Wide; }
inline bool is_int(DT t) { return t == DT::I32 || t == DT::I64; }

struct Unsupported : std::runtime_error {
  std::string what_;
  Unsupported(std::string w, const std::string& why) : std::runtime_error(why), what_(std::move(w)) {}
};
struct Rejected : std::runtime_error { using std::runtime_error::runtime_error; };

bool bug(const char* name);  // whether ETALON_BLIND switches this defect on

enum class Op {
  // no operand
  Const, Input, Iota,
  // elementwise
  Neg, Abs, Sign, Sqrt, Exp, Exp2, Expm1, Log, Log2, Log1p, Sin, Cos, Tan, Sinh, Cosh, Tanh, Erf, Floor, Ceil, Trunc,
  Round, IsNan, IsInf, IsFinite, Not, Store, Detach,
  Add, Sub, Mul, Div, Pow, Max2, Min2, Rem, FloorDiv, Atan2, Eq, Ne, Lt, Le, Gt, Ge, And, Or, Xor,
  Select,
  // views
  Expand, Transpose, Slice, Reshape, Unfold,
  // copies
  Concat, Place, Fold, Gather, Scatter, TakeAlong, ScatterAlong,
  // reductions of the last `axis` axes; scans along the last axis
  RSum, RProd, RMax, RMin, RArgmax, RArgmin, RAny, RAll, ProdOthers, CumSum, CumProd, CumProdPush, CumProdPull,
  // products
  Matmul,
  Fused
};
inline bool elementwise(Op o) { return (o >= Op::Neg && o <= Op::Select) || o == Op::Fused; }
inline bool is_view(Op o) { return o >= Op::Expand && o <= Op::Unfold; }

struct Attr {
  Shape a, b, c;
  I axis = 0;
  bool flag = false, flag2 = false;
  Real value = 0;
};

struct Instr { Op op; DT in, dt; int dst, a, b, c; };  // of a fused chain: registers, operands first

struct Node {
  Op op;
  std::vector<int> in;
  int out;
  Attr at;
  std::vector<Instr> prog;  // Fused: the chain; Matmul: the epilogue, register 0 is the product
};

struct Val { DT dt; Shape shape; int node = -1; };

struct Graph {
  std::deque<Val> vals;  // references into it stay valid while nodes are added
  std::vector<Node> nodes;
  int emit(Op op, std::vector<int> in, DT dt, Shape shape, Attr at = {}) {
    int v = int(vals.size());
    vals.push_back({dt, std::move(shape), int(nodes.size())});
    nodes.push_back({op, std::move(in), v, std::move(at), {}});
    return v;
  }
};

inline I count(const Shape& s) { I n = 1; for (I e : s) n *= e; return n; }
Shape dense_strides(const Shape& s);

struct View { Real* p = nullptr; Shape strides; };

// scalar.cpp
Real wrap(DT t, I v);
Real stored(Real x, DT from, DT to);
Real apply(Op op, DT in, DT out, Real a, Real b, Real c);

// simplify.cpp, fuse.cpp
void simplify(Graph& g, std::vector<int>& outputs);
void fuse(Graph& g, const std::vector<int>& outputs);

// layout.cpp
std::vector<std::vector<Real>> execute(Graph& g, const std::vector<int>& outputs,
                                       const std::vector<View>& input_views);

}  // namespace adze
