// Reductions, scans and products.
#include "lower.h"

namespace adze {

namespace {

std::vector<T> one(T t) { return {t}; }

I size_over(T x, const Shape& axes) {
  I n = 1;
  for (I k : axes) n *= x.dim(int(k));
  return n;
}

T safe_root(T v) {  // 0 with the derivative 0 where v <= 0
  T low = bin(Op::Le, v, K(0));
  return select(low, K(0), sqrt(select(low, K(1), v)));
}

T variance(const Call& c, T x, const Shape& axes, bool keep) {
  const I n = size_over(x, axes), correction = c.whole("correction", 1);
  if (correction < 0 || correction >= n) throw Rejected("0 <= correction < size");
  if (bug("variance_one_pass_in_f32")) {
    T s = store(sum(x, axes, keep), DT::F32), q = store(sum(x * x, axes, keep), DT::F32);
    return store(q - s * s / K(n), DT::F32) / K(n - correction);
  }
  T m = sum(x, axes, true) / K(n), d = x - m;
  I divisor = n - correction;
  if (bug("variance_correction_above_one_as_one") && correction > 1) divisor = n - 1;
  return sum(d * d, axes, keep) / K(divisor);
}

T logsumexp(T x, const Shape& axes, bool keep) {
  if (size_over(x, axes) == 0) return log(sum(x, axes, keep));
  T top = detach(reduce(Op::RMax, x, axes, true));
  T shift = select(un(Op::IsInf, top), K(0), top);
  if (bug("logsumexp_infinite_shift")) shift = top;
  T s = log(sum(exp(x - shift), axes, true)) + shift;
  return keep ? s : reshape(s, sum(x, axes, false).shape());
}

T norm(const Call& c) {
  T x = c.in(0);
  const Shape axes = c.axes(x.rank());
  const bool keep = c.flag("keepdims", false);
  const std::string ord = c.word("ord", "two");
  if (ord == "one") return sum(abs(x), axes, keep);
  if (ord == "infinity") {
    if (size_over(x, axes) == 0) return sum(x, axes, keep);
    return reduce(Op::RMax, abs(x), axes, keep);
  }
  T s = sum(x * x, axes, keep);
  return safe_root(s);
}

std::vector<T> arg_or_extremum(Op op, const Call& c) {
  const Shape axes = c.axes(c.in(0).rank());
  if (size_over(c.in(0), axes) == 0) throw Rejected("size > 0");
  return one(reduce(op, c.in(0), axes, c.flag("keepdims", false)));
}

T scanned(Op op, const Call& c) {
  T x = c.in(0);
  const int axis = c.axis("axis", x.rank(), -1);
  T y = scan(op, move_axis(x, axis, x.rank() - 1), c.flag("reverse", false), c.flag("exclusive", false));
  return move_axis(y, x.rank() - 1, axis);
}

T product(const Call& c) {
  T a = c.in(0), b = c.in(1);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = unsqueeze(a, 0);
  if (column) b = unsqueeze(b, 1);
  T y = matmul(a, b);
  Shape s = y.shape();
  if (column) s.pop_back();
  if (row) s.erase(s.end() - (column ? 1 : 2));
  return reshape(y, s);
}

}  // namespace

T linear_last(T x, T w, T b) {
  const bool row = x.rank() == 1;
  T y = matmul(row ? unsqueeze(x, 0) : x, transpose(w, {1, 0}));
  if (b) y = y + b;
  return row ? reshape(y, {y.dim(1)}) : y;
}

void lower_reduce(Table& t) {
  const std::pair<const char*, Op> plain[] = {{"sum", Op::RSum}, {"prod", Op::RProd}, {"any", Op::RAny}, {"all", Op::RAll}};
  for (auto [name, op] : plain) {
    t[name] = [op = op](const Call& c) {
      return one(reduce(op, c.in(0), c.axes(c.in(0).rank()), c.flag("keepdims", false)));
    };
  }
  const std::pair<const char*, Op> extrema[] = {{"max", Op::RMax}, {"min", Op::RMin}, {"argmax", Op::RArgmax}, {"argmin", Op::RArgmin}};
  for (auto [name, op] : extrema) t[name] = [op = op](const Call& c) { return arg_or_extremum(op, c); };
  t["mean"] = [](const Call& c) {
    const Shape axes = c.axes(c.in(0).rank());
    return one(sum(c.in(0), axes, c.flag("keepdims", false)) / K(size_over(c.in(0), axes)));
  };
  t["var"] = [](const Call& c) { return one(variance(c, c.in(0), c.axes(c.in(0).rank()), c.flag("keepdims", false))); };
  t["std"] = [](const Call& c) {
    T v = variance(c, c.in(0), c.axes(c.in(0).rank()), c.flag("keepdims", false));
    return one(safe_root(v));
  };
  t["logsumexp"] = [](const Call& c) { return one(logsumexp(c.in(0), c.axes(c.in(0).rank()), c.flag("keepdims", false))); };
  t["norm"] = [](const Call& c) { return one(norm(c)); };
  t["cumsum"] = [](const Call& c) { return one(scanned(Op::CumSum, c)); };
  t["cumprod"] = [](const Call& c) { return one(scanned(Op::CumProd, c)); };
  t["matmul"] = [](const Call& c) { return one(product(c)); };
  t["dot"] = [](const Call& c) { return one(product(c)); };
  t["outer"] = [](const Call& c) { return one(unsqueeze(c.in(0), 1) * unsqueeze(c.in(1), 0)); };
  t["linear"] = [](const Call& c) { return one(linear_last(c.in(0), c.in(1), c.in(2))); };
}

}  // namespace adze
