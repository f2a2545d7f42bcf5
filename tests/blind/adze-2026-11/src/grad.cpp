// The gradient builder: tangents are pushed and cotangents pulled through the graph by nodes of the same graph.
#include <map>
#include "build.h"

namespace adze {

namespace {

T zeros(const Shape& s) { return K(0, s); }

// The constant that a value repeats, if it is one.
const Real* constant_of(T x) {
  const Node* n = &current->nodes[current->vals[x.id].node];
  while (n->op == Op::Expand) n = &current->nodes[current->vals[n->in[0]].node];
  return n->op == Op::Const ? &n->at.value : nullptr;
}

// t times the derivative of a function of one operand; none where it is flat.
T chain(Op op, T x, T t) {
  switch (op) {
    case Op::Neg: return -t;
    case Op::Abs:
      return t * un(Op::Sign, x);
    case Op::Sqrt:
      return t / (K(2) * sqrt(x));
    case Op::Exp: return t * exp(x);
    case Op::Exp2: return bug("exp2_gradient_without_log2") ? t * un(Op::Exp2, x) : t * (K(M_LN2q) * un(Op::Exp2, x));
    case Op::Expm1: return t * exp(x);
    case Op::Log: return t / x;
    case Op::Log2: return t / x / K(M_LN2q);
    case Op::Log1p: return t / (K(1) + x);
    case Op::Sin: return t * un(Op::Cos, x);
    case Op::Cos: return -(t * un(Op::Sin, x));
    case Op::Tan: { T y = un(Op::Tan, x); return t * (K(1) + y * y); }
    case Op::Sinh: return t * un(Op::Cosh, x);
    case Op::Cosh: return bug("cosh_gradient_sign") ? -(t * un(Op::Sinh, x)) : t * un(Op::Sinh, x);
    case Op::Tanh: { T y = tanh(x); return t * (K(1) - y * y); }
    case Op::Erf: return t * (K(2 / sqrtq(M_PIq)) * exp(-(x * x)));
    default: return {};
  }
}

// t where a is the extremum, half of it at a tie; `first` says that a is the first operand.
T share(Op op, T a, T b, T t, bool first) {
  Real half = 0.5Q;
  if (bug("maximum_tie_to_first_operand")) half = first ? 1 : 0;
  return select(bin(op == Op::Max2 ? Op::Gt : Op::Lt, a, b), t, select(bin(Op::Eq, a, b), t * K(half), K(0)));
}

T over_base(T a, T b, T t) {
  const Real* p = constant_of(b);
  if (p && *p == 0) return {};
  if (p && *p == 1) return t;
  if (p && *p == 2) return t * (K(2) * a);
  T d = t * (b * bin(Op::Pow, a, b - K(1)));
  if (p) return d;
  return select(bin(Op::Ne, b, K(0)), d, K(0));
}
T over_exponent(T a, T b, T t) {
  T d = t * (bin(Op::Pow, a, b) * log(a));
  if (bug("pow_exponent_gradient_at_base_zero")) return d;
  return select(bin(Op::Or, bin(Op::Ne, a, K(0)), bin(Op::Lt, b, K(0))), d, K(0));
}

// Both operands' parts of ta and tb times the derivatives; what is not given is not asked for.
std::vector<T> both(Op op, T a, T b, T ta, T tb) {
  auto given = [](T t, auto f) { return t ? f(t) : T{}; };
  switch (op) {
    case Op::Add: return {ta, tb};
    case Op::Sub: return {ta, given(tb, [&](T t) { return -t; })};
    case Op::Mul: return {given(ta, [&](T t) { return t * b; }), given(tb, [&](T t) { return t * a; })};
    case Op::Div: return {given(ta, [&](T t) { return t / b; }), given(tb, [&](T t) { return -(t * (a / b / b)); })};
    case Op::Pow: return {given(ta, [&](T t) { return over_base(a, b, t); }),
                          given(tb, [&](T t) { return over_exponent(a, b, t); })};
    case Op::Max2: case Op::Min2: return {given(ta, [&](T t) { return share(op, a, b, t, true); }),
                                          given(tb, [&](T t) { return share(op, b, a, t, false); })};
    case Op::Rem: return {ta, given(tb, [&](T t) {
      return -(t * un(Op::Floor, a / b)); })};
    case Op::Atan2: {
      T r = a * a + b * b;
      return {given(ta, [&](T t) { return t * (b / r); }), given(tb, [&](T t) {
        return bug("atan2_abscissa_gradient_sign") ? t * (a / r) : -(t * (a / r)); })};
    }
    default: return {{}, {}};
  }
}

T unreduced(T g, const Shape& operand) {  // g over the leading axes, repeated over the last ones
  Shape s = g.shape();
  s.resize(operand.size(), 1);
  return expand(reshape(g, s), operand);
}

T chosen(const Node& n, T x) {  // which elements of x the extremum was taken from
  if (bug("extremum_gradient_to_all_equals")) return bin(Op::Eq, x, unreduced(T{n.out}, x.shape()));
  Attr at = n.at;
  const Shape kept = current->vals[n.out].shape;
  T arg{current->emit(n.op == Op::RMax ? Op::RArgmax : Op::RArgmin, n.in, DT::I64, kept, at)};
  const Shape gone(x.shape().begin() + long(kept.size()), x.shape().end());
  T pos = reshape(iota({count(gone)}, 0), gone);
  return bin(Op::Eq, pos, unreduced(arg, x.shape()));
}

T again(const Node& n, std::vector<int> in) {  // the same node on other operands
  const DT dt = is_view(n.op) || n.op == Op::Gather || n.op == Op::TakeAlong ? current->vals[in[0]].dt : DT::Wide;
  Attr at = n.at;
  if (n.op == Op::Place && !bug("pad_tangent_keeps_value")) at.value = 0;
  const Shape s = current->vals[n.out].shape;
  return {current->emit(n.op, std::move(in), dt, s, at)};
}

T pushed(const Node& n, const std::vector<T>& t) {
  auto x = [&](int k) { return T{n.in[k]}; };
  auto sum2 = [](T a, T b) { return !a ? b : !b ? a : a + b; };
  if (n.op == Op::Store) return is_real(x(0).dt()) && is_real(T{n.out}.dt()) ? store(t[0], T{n.out}.dt()) : T{};
  if (n.op == Op::Detach) return bug("detach_passes_tangents") ? t[0] : T{};
  if (n.op >= Op::Neg && n.op <= Op::Not) return chain(n.op, x(0), t[0]);
  if (n.op >= Op::Add && n.op <= Op::Atan2) {
    if (bug("tangent_of_square_counts_once") && n.op == Op::Mul && n.in[0] == n.in[1]) return t[0] * x(0);
    const std::vector<T> parts = both(n.op, x(0), x(1), t[0], t[1]);
    return sum2(parts[0], parts[1]);
  }
  auto or_zero = [&](int k) { return t[k] ? t[k] : zeros(x(k).shape()); };
  switch (n.op) {
    case Op::Select:
      if (bug("tangent_of_choice_ignores_constant_branch") && !(t[1] && t[2])) return t[1] ? t[1] : t[2];
      return select(x(0), or_zero(1), or_zero(2));
    case Op::Expand: case Op::Transpose: case Op::Slice: case Op::Reshape: case Op::Unfold: case Op::Place: case Op::Fold:
    case Op::RSum: case Op::CumSum: return again(n, {t[0].id});
    case Op::Gather: case Op::TakeAlong: return again(n, {t[0].id, n.in[1]});
    case Op::Scatter: case Op::ScatterAlong:
      if (bug("scatter_tangent_without_base") && t[2]) return again(n, {zeros(x(0).shape()).id, n.in[1], t[2].id});
      return again(n, {or_zero(0).id, n.in[1], or_zero(2).id});
    case Op::Concat: {
      std::vector<int> in;
      for (std::size_t k = 0; k < n.in.size(); ++k) in.push_back(or_zero(int(k)).id);
      return again(n, in);
    }
    case Op::RProd: {
      T others{current->emit(Op::ProdOthers, n.in, DT::Wide, x(0).shape(), n.at)};
      return again({Op::RSum, {}, n.out, n.at, {}}, {(t[0] * others).id});
    }
    case Op::RMax: case Op::RMin: {
      T picked = select(chosen(n, x(0)), t[0], K(0));
      return again({Op::RSum, {}, n.out, n.at, {}}, {picked.id});
    }
    case Op::CumProd: return scan(Op::CumProdPush, x(0), n.at.flag && !bug("cumprod_tangent_ignores_reverse"), n.at.flag2, t[0]);
    case Op::Matmul: {
      T l = t[0] ? matmul(t[0], x(1)) : T{};
      return sum2(l, t[1] ? matmul(x(0), t[1]) : T{});
    }
    default: return {};
  }
}

std::vector<T> pulled(const Node& n, T g, const std::vector<char>& wanted) {
  auto x = [&](int k) { return T{n.in[k]}; };
  if (n.op == Op::Store) {
    if (bug("cast_through_integer_keeps_gradient")) return {g};
    return {is_real(x(0).dt()) && is_real(T{n.out}.dt()) ? g : T{}};
  }
  if (n.op == Op::Detach) return {T{}};
  if (n.op >= Op::Neg && n.op <= Op::Not) return {chain(n.op, x(0), g)};
  if (n.op >= Op::Add && n.op <= Op::Atan2) return both(n.op, x(0), x(1), wanted[0] ? g : T{}, wanted[1] ? g : T{});
  switch (n.op) {
    case Op::Select: return {T{}, select(x(0), g, K(0)), select(x(0), K(0), g)};
    case Op::Expand: return {sum_to(g, x(0).shape())};
    case Op::Transpose: {
      Shape inverse(n.at.a.size());
      for (std::size_t k = 0; k < inverse.size(); ++k) inverse[n.at.a[k]] = I(k);
      return {transpose(g, inverse)};
    }
    case Op::Slice: {
      Shape step = n.at.b;
      if (bug("slice_gradient_forgets_step")) for (I& s : step) s = s < 0 ? -1 : 1;
      return {place(g, x(0).shape(), n.at.a, step)};
    }
    case Op::Reshape: return {reshape(g, x(0).shape())};
    case Op::Unfold: return {fold(g, x(0).shape(), n.at.a, n.at.b, n.at.c)};
    case Op::Place: return {slice(g, n.at.a, n.at.b, x(0).shape())};
    case Op::Fold: {
      T u = unfold(g, n.at.a, n.at.b, n.at.c);
      return {slice(u, Shape(u.rank(), 0), Shape(u.rank(), 1), x(0).shape())};
    }
    case Op::Concat: {
      std::vector<T> r;
      I at = 0;
      for (std::size_t k = 0; k < n.in.size(); ++k) {
        const I e = x(int(k)).shape()[n.at.axis];
        r.push_back(wanted[k] ? part(g, int(n.at.axis), at, at + e) : T{});
        if (wanted[k] || !bug("concat_gradient_skips_constant_members")) at += e;
      }
      return r;
    }
    case Op::Gather: {
      T r = scatter(zeros(x(0).shape()), x(1), g, int(n.at.axis));
      current->nodes[current->vals[r.id].node].at.flag = true;
      return {r, T{}};
    }
    case Op::Scatter: return {g, T{}, gather(g, x(1), int(n.at.axis))};
    case Op::TakeAlong: {
      T r = scatter_along(zeros(x(0).shape()), x(1), g);
      current->nodes[current->vals[r.id].node].at.flag = true;
      return {r, T{}};
    }
    case Op::ScatterAlong: return {g, T{}, take_along(g, x(1))};
    case Op::RSum: return {unreduced(g, x(0).shape())};
    case Op::RProd: {
      T others{current->emit(Op::ProdOthers, n.in, DT::Wide, x(0).shape(), n.at)};
      return {unreduced(g, x(0).shape()) * others};
    }
    case Op::RMax: case Op::RMin: return {select(chosen(n, x(0)), unreduced(g, x(0).shape()), K(0)), T{}};
    case Op::CumSum: return {scan(Op::CumSum, g, !n.at.flag, bug("cumsum_gradient_inclusive") ? false : n.at.flag2)};
    case Op::CumProd: return {scan(Op::CumProdPull, x(0), n.at.flag, n.at.flag2, g)};
    case Op::Matmul: return {wanted[0] ? matmul(g, swap_last(x(1))) : T{}, wanted[1] ? matmul(swap_last(x(0)), g) : T{}};
    default: return std::vector<T>(n.in.size());
  }
}

std::vector<char> reached(const std::vector<T>& wrt) {
  std::vector<char> on(current->vals.size(), 0);
  for (T x : wrt) on[x.id] = 1;
  for (const Node& n : current->nodes) {
    for (int v : n.in) if (on[v]) on[n.out] = 1;
    if (!is_real(current->vals[n.out].dt) && !bug("cast_through_integer_keeps_gradient")) on[n.out] = 0;
  }
  return on;
}

}  // namespace

std::vector<T> push_forward(const std::vector<T>& outputs, const std::vector<T>& wrt, const std::vector<T>& tangents) {
  std::map<int, T> tan;
  for (std::size_t k = 0; k < wrt.size(); ++k) tan[wrt[k].id] = tangents[k];
  const std::size_t end = current->nodes.size();
  for (std::size_t i = 0; i < end; ++i) {
    const Node n = current->nodes[i];
    std::vector<T> t;
    bool some = false;
    for (int v : n.in) {
      auto it = tan.find(v);
      t.push_back(it == tan.end() ? T{} : it->second);
      some = some || t.back();
    }
    if (!some) continue;
    T r = pushed(n, t);
    if (r) tan[n.out] = r;
  }
  std::vector<T> found;
  for (T y : outputs) {
    auto it = tan.find(y.id);
    found.push_back(store(it == tan.end() ? zeros(y.shape()) : it->second, y.dt()));
  }
  return found;
}

std::vector<T> pull_back(const std::vector<T>& outputs, const std::vector<T>& seeds, const std::vector<T>& wrt) {
  std::map<int, std::vector<T>> cot;
  for (std::size_t k = 0; k < outputs.size(); ++k) if (seeds[k]) cot[outputs[k].id].push_back(seeds[k]);
  std::vector<char> on = reached(wrt);
  std::vector<char> seeded(current->vals.size(), 0);
  for (T y : outputs) seeded[y.id] = 1;
  auto total = [&](int v) {
    const std::vector<T>& parts = cot[v];
    T g = parts[0];
    std::size_t from = 1;
    if (bug("seed_of_consumed_output_lost") && seeded[v] && parts.size() > 1) g = parts[1], from = 2;
    for (std::size_t k = from; k < parts.size(); ++k) {
      if (bug("third_cotangent_overwrites") && k == 2) g = parts[2];
      else g = g + parts[k];
    }
    return is_real(current->vals[v].dt) ? store(g, current->vals[v].dt) : g;
  };
  for (std::size_t i = current->nodes.size(); i-- > 0;) {
    const Node n = current->nodes[i];
    if (!cot.count(n.out) || !on[n.out] || n.in.empty()) continue;
    std::vector<char> wanted;
    for (int v : n.in) wanted.push_back(on[v]);
    const std::vector<T> parts = pulled(n, total(n.out), wanted);
    for (std::size_t k = 0; k < parts.size(); ++k) if (parts[k] && wanted[k]) cot[n.in[k]].push_back(parts[k]);
  }
  std::vector<T> found;
  for (T x : wrt) found.push_back(cot.count(x.id) ? total(x.id) : store(zeros(x.shape()), x.dt()));
  return found;
}

}  // namespace adze
