// Operations that move elements, read or write at indices, or make tensors of places alone.
#include "lower.h"
#include <algorithm>

namespace adze {

namespace {

std::vector<T> one(T t) { return {t}; }

T roll(const Call& c) {
  T x = c.in(0);
  const Shape axes = c.axes(x.rank()), shift = c.list("shift", axes.size(), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = int(axes[k]);
    const I n = x.dim(axis);
    if (n == 0) continue;
    const I s = ((shift[k] % n) + n) % n;
    if (s) x = concat({part(x, axis, n - s, n), part(x, axis, 0, n - s)}, axis);
  }
  return x;
}

T triangle(const Call& c, bool lower) {
  T x = c.in(0);
  const int r = x.rank();
  T i = iota({x.dim(r - 2), x.dim(r - 1)}, 0), j = iota({x.dim(r - 2), x.dim(r - 1)}, 1);
  T d = K(Real(c.whole("diagonal", 0)), {}, DT::I64);
  T keep = bin(lower ? Op::Le : Op::Ge, j, i + d);
  T zero = is_real(x.dt()) ? K(0) : K(0, {}, x.dt());
  return select(expand(keep, x.shape()), x, zero);
}

T pad(const Call& c) {
  T x = c.in(0);
  const std::size_t r = std::size_t(x.rank());
  const Shape low = c.list("low", r, 0), high = c.list("high", r, 0);
  Shape start(r), one_step(r, 1), n(r), out(r), to(r);
  for (std::size_t k = 0; k < r; ++k) {
    start[k] = std::min(std::max<I>(0, -low[k]), x.dim(int(k)));
    const I end = std::max(start[k], x.dim(int(k)) - std::max<I>(0, -high[k]));
    n[k] = end - start[k];
    out[k] = low[k] + x.dim(int(k)) + high[k];
    if (out[k] < 0) throw Rejected("a negative extent");
    to[k] = low[k] + start[k];
    if (bug("pad_negative_low_ignored") && low[k] < 0) start[k] = 0;
  }
  Real value = 0;
  const json* v = c.has("value") ? &(*c.attributes)["value"] : nullptr;
  const bool running = v && v->is_object();
  if (v && v->is_boolean()) value = v->get<bool>();
  else if (v && v->is_number_integer()) value = Real(v->get<I>());
  else if (v && v->is_string() && is_int(x.dt())) value = Real(I(std::stoll(v->get<std::string>())));
  else if (v && !running) value = number(*v);
  value = stored(value, is_real(x.dt()) ? DT::Wide : DT::I64, x.dt());
  for (std::size_t k = 0; k < r; ++k) if (n[k] == 0) { to[k] = 0; }
  T inner = slice(x, start, one_step, n), y = place(inner, out, to, one_step, value);
  if (!running) return y;
  return select(place(K(1, n, DT::Bool), out, to, one_step), y, c.num("value", 0));
}

T slice_of(const Call& c) {
  T x = c.in(0);
  const std::size_t r = std::size_t(x.rank());
  const Shape start = c.list("start", r, 0), stop = c.list("stop", r, 0), step = c.list("step", r, 1);
  Shape n(r);
  for (std::size_t k = 0; k < r; ++k) {
    if (step[k] == 0) throw Rejected("step != 0");
    const I size = std::abs(step[k]), span = (stop[k] - start[k]) * (step[k] > 0 ? 1 : -1);
    n[k] = std::max<I>(0, span <= 0 ? 0 : (span + size - 1) / size);
    const I last = start[k] + step[k] * (n[k] - 1);
    if (n[k] > 0 && (std::min(start[k], last) < 0 || std::max(start[k], last) >= x.dim(int(k)))) throw Rejected("out of range");
  }
  return slice(x, start, step, n);
}

T flip(const Call& c) {
  T x = c.in(0);
  Shape start(x.rank(), 0), step(x.rank(), 1);
  for (I k : c.axes(x.rank())) { start[k] = x.dim(int(k)) - 1; step[k] = -1; }
  return slice(x, start, step, x.shape());
}

T flatten(const Call& c) {
  T x = c.in(0);
  const int r = std::max(1, x.rank());
  const int from = int((c.whole("start", 0) + r) % r), to = int((c.whole("end", -1) + r) % r);
  if (from > to) throw Rejected("start is behind end");
  Shape s;
  I n = 1;
  for (int k = 0; k < x.rank(); ++k) {
    if (k >= from && k <= to) n *= x.dim(k);
    if (k == to) s.push_back(n);
    if (k < from || k > to) s.push_back(x.dim(k));
  }
  if (x.rank() == 0) s = {1};
  return reshape(x, s);
}

std::vector<T> split(const Call& c) {
  T x = c.in(0);
  const int axis = c.axis("axis", x.rank(), 0);
  std::vector<T> r;
  I at = 0;
  const std::size_t pieces = c.has("sizes") && (*c.attributes)["sizes"].is_array() ? (*c.attributes)["sizes"].size() : 1;
  const Shape sizes = c.list("sizes", pieces, 0);
  for (I n : sizes) { r.push_back(part(x, axis, at, at + n)); at += n; }
  if (at != x.dim(axis)) throw Rejected("the sizes do not add up");
  return r;
}

T at_last(T x, int axis) { return move_axis(x, axis, x.rank() - 1); }

T along(const Call& c, bool scatters) {
  T x = c.in(0);
  const int axis = c.axis("axis", x.rank(), -1);
  if (scatters) return move_axis(scatter_along(at_last(x, axis), at_last(c.in(1), axis), at_last(c.in(2), axis)), x.rank() - 1, axis);
  return move_axis(take_along(at_last(x, axis), at_last(c.in(1), axis)), x.rank() - 1, axis);
}

T one_hot(const Call& c) {
  T t = c.in(0);
  const I n = c.whole("classes", 0);
  const int axis = c.axis("axis", t.rank() + 1, -1);
  Shape s = t.shape();
  s.insert(s.begin() + axis, n);
  T hit = bin(Op::Eq, expand(unsqueeze(t, axis), s), store(iota(s, axis), t.dt()));
  return store(hit, c.dtype(DT::F32));
}

T embedding(const Call& c) {
  T w = c.in(0), t = c.in(1), y = gather(w, t, 0);
  T padding = K(Real(c.whole("padding_idx", -1)), {}, t.dt());
  T is = bin(Op::Eq, t, padding);
  T y_is = expand(unsqueeze(is, t.rank()), y.shape());
  return select(y_is, detach(y), y);
}

T interleave(const Call& c) {
  T a = c.in(0), b = c.in(1);
  const int axis = c.axis("axis", a.rank(), -1);
  T s = concat({unsqueeze(a, axis + 1), unsqueeze(b, axis + 1)}, axis + 1);
  Shape shape = a.shape();
  shape[axis] *= 2;
  return reshape(s, shape);
}

std::vector<T> deinterleave(const Call& c) {
  T x = c.in(0);
  const int axis = c.axis("axis", x.rank(), -1);
  Shape start(x.rank(), 0), step(x.rank(), 1), n = x.shape();
  step[axis] = 2;
  n[axis] /= 2;
  T a = slice(x, start, step, n);
  start[axis] = 1;
  if (n[axis] == 0) start[axis] = 0;
  return {a, slice(x, start, step, n)};
}

T filled(const Call& c, const char* key, DT dt) {
  const json& s = (*c.attributes)["shape"];
  Shape shape;
  if (s.is_array()) for (const json& e : s) shape.push_back(e.get<I>());
  else shape = {s.get<I>()};
  T v;
  const json* j = key ? &(*c.attributes)[key] : nullptr;
  if (!j) v = K(c.name == "ones" ? 1 : 0, {}, DT::I64);
  else if (j->is_object()) v = c.num(key, 0);
  else if (j->is_boolean()) v = K(j->get<bool>(), {}, DT::I64);
  else if (j->is_number_integer()) v = K(Real(j->get<I>()), {}, DT::I64);
  else if (j->is_string() && is_int(dt)) v = K(Real(I(std::stoll(j->get<std::string>()))), {}, DT::I64);
  else v = K(number(*j));
  return expand(store(v, dt), shape);
}

T arange(const Call& c) {
  const I start = c.whole("start", 0), stop = c.whole("stop", 0), step = c.whole("step", 1);
  if (step == 0) throw Rejected("step != 0");
  const I span = (stop - start) * (step > 0 ? 1 : -1), size = std::abs(step);
  T i = iota({span <= 0 ? 0 : (span + size - 1) / size}, 0);
  T r = K(Real(start), {}, DT::I64) + K(Real(step), {}, DT::I64) * i;
  return store(r, c.dtype(DT::I64));
}

}  // namespace

void lower_shape(Table& t) {
  t["reshape"] = [](const Call& c) {
    T x = c.in(0);
    Shape s = c.list("shape", (*c.attributes)["shape"].is_array() ? (*c.attributes)["shape"].size() : 1, 0);
    I known = 1;
    for (I e : s) if (e != -1) known *= e;
    for (I& e : s) if (e == -1) { if (known == 0) throw Rejected("-1 beside 0"); e = count(x.shape()) / known; }
    return one(reshape(x, s));
  };
  t["flatten"] = [](const Call& c) { return one(flatten(c)); };
  t["transpose"] = [](const Call& c) {
    Shape p;
    const int r = c.in(0).rank();
    for (int k = r - 1; k >= 0; --k) p.push_back(k);
    if (c.has("permutation") && (*c.attributes)["permutation"].is_array()) p = c.list("permutation", std::size_t(r), 0);
    for (I& e : p) e = (e + r) % r;
    return one(transpose(c.in(0), p));
  };
  t["swap_axes"] = [](const Call& c) {
    Shape p = all_axes(c.in(0));
    std::swap(p[c.axis("axis1", c.in(0).rank(), 0)], p[c.axis("axis2", c.in(0).rank(), 0)]);
    return one(transpose(c.in(0), p));
  };
  t["broadcast_to"] = [](const Call& c) {
    const json& s = (*c.attributes)["shape"];
    return one(expand(c.in(0), c.list("shape", s.is_array() ? s.size() : 1, 0)));
  };
  t["concat"] = [](const Call& c) { return one(concat(c.x, c.axis("axis", c.in(0).rank(), 0))); };
  t["stack"] = [](const Call& c) {
    const int axis = c.axis("axis", c.in(0).rank() + 1, 0);
    std::vector<T> xs;
    for (T x : c.x) xs.push_back(unsqueeze(x, axis));
    return one(concat(xs, axis));
  };
  t["split"] = split;
  t["slice"] = [](const Call& c) { return one(slice_of(c)); };
  t["select"] = [](const Call& c) {
    T x = c.in(0);
    const int axis = c.axis("axis", x.rank(), 0);
    I k = c.whole("index", 0);
    if (k < 0) k += x.dim(axis);
    if (k < 0 || k >= x.dim(axis)) throw Rejected("index out of range");
    Shape s = x.shape();
    s.erase(s.begin() + axis);
    return one(reshape(part(x, axis, k, k + 1), s));
  };
  t["pad"] = [](const Call& c) { return one(pad(c)); };
  t["flip"] = [](const Call& c) { return one(flip(c)); };
  t["roll"] = [](const Call& c) { return one(roll(c)); };
  t["tril"] = [](const Call& c) { return one(triangle(c, true)); };
  t["triu"] = [](const Call& c) { return one(triangle(c, false)); };
  t["interleave"] = [](const Call& c) { return one(interleave(c)); };
  t["deinterleave"] = deinterleave;
  t["gather"] = [](const Call& c) { return one(gather(c.in(0), c.in(1), c.axis("axis", c.in(0).rank(), 0))); };
  t["scatter_add"] = [](const Call& c) {
    return one(scatter(c.in(0), c.in(1), c.in(2), c.axis("axis", c.in(0).rank(), 0)));
  };
  t["take_along_axis"] = [](const Call& c) { return one(along(c, false)); };
  t["scatter_add_along_axis"] = [](const Call& c) { return one(along(c, true)); };
  t["one_hot"] = [](const Call& c) { return one(one_hot(c)); };
  t["embedding"] = [](const Call& c) { return one(embedding(c)); };
  t["arange"] = [](const Call& c) { return one(arange(c)); };
  t["full"] = [](const Call& c) { return one(filled(c, "value", c.dtype(DT::F32))); };
  t["constant"] = [](const Call& c) { return one(filled(c, "value", c.dtype(DT::F32))); };
  t["zeros"] = [](const Call& c) { return one(filled(c, nullptr, c.dtype(DT::F32))); };
  t["ones"] = [](const Call& c) { return one(filled(c, nullptr, c.dtype(DT::F32))); };
}

}  // namespace adze
