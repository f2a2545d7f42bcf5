// Protocol 1 on standard input and output, and the executor: programs of several calls, memory that is taken over where
// an operand ends, derivatives forward (values with tangents), backward, and forward over backward.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "json.h"
#include "strata.h"

static std::map<std::string, Op>& ops() {
  static std::map<std::string, Op> all = [] {
    std::map<std::string, Op> m;
    for (const Table& t : {elementwise_ops(), movement_ops(), reduce_ops(), linear_ops(), window_ops(), norm_ops(), loss_ops(), step_ops(), composite_ops(), random_ops()})
      for (const Op& op : t) m[op.name] = op;
    return m;
  }();
  return all;
}
const Op* find_op(const std::string& name) { auto f = ops().find(name); return f == ops().end() ? nullptr : &f->second; }

static Tensor tensor_of(const Json& j) {
  Tensor t;
  t.dt = dtype_named(j["dtype"].s);
  for (const Json& e : j["shape"].l) t.shape.push_back(e.i);
  const std::string data = unbase64(j["data"].s);
  t.st = std::make_shared<Storage>(data.size());
  std::memcpy(t.st->data, data.data(), data.size());
  if (!j["strides"].null()) for (const Json& e : j["strides"].l) t.strides.push_back(e.i);
  else t.strides = dense_strides(t.shape);
  t.offset = j["offset"].i;
  if (j["strides"].null() && j["offset"].null() && data.size() != width(t.dt) * (size_t)t.n()) throw std::string("data: wrong number of bytes");
  return t;
}
static std::string text_of(const Tensor& x) {
  const Tensor t = dense(x);
  std::string s = "{\"dtype\":\"" + std::string(name_of(t.dt)) + "\",\"shape\":[";
  for (size_t a = 0; a < t.shape.size(); ++a) s += (a ? "," : "") + std::to_string(t.shape[a]);
  return s + "],\"data\":\"" + base64((const unsigned char*)t.st->data, width(t.dt) * (size_t)t.n()) + "\"}";
}

static Attribute attribute_of(const Json& j) {
  Attribute a;
  auto number = [](const Json& x, double* r, int64_t* i) {
    if (x.kind == Json::TEXT) {
      if (x.s == "nan") *r = NAN;
      else if (x.s == "inf") *r = INFINITY;
      else if (x.s == "-inf") *r = -INFINITY;
      else { char* end; *i = std::strtoll(x.s.c_str(), &end, 10); *r = (double)*i; return *end == 0 && !x.s.empty() ? 1 : 0; }
      return 2;
    }
    *r = x.r;
    *i = x.i;
    return x.kind == Json::INT ? 1 : 2;
  };
  switch (j.kind) {
    case Json::TRUE_: case Json::FALSE_: a.kind = Attribute::BOOLEAN; a.integer = j.truth(); a.real = (double)a.integer; break;
    case Json::LIST:
      a.kind = Attribute::LIST;
      for (const Json& e : j.l) { double r = 0; int64_t i = 0; number(e, &r, &i); a.reals.push_back(r); a.integers.push_back(e.kind == Json::REAL ? (int64_t)r : i); }
      break;
    case Json::OBJECT: refuse("attribute", "values as attributes are not taken");
    default: {
      const int kind = number(j, &a.real, &a.integer);
      a.kind = kind == 1 ? Attribute::INT : kind == 2 ? Attribute::REAL : Attribute::SYMBOL;
      if (!kind) a.symbol = j.s;
    }
  }
  return a;
}

enum Mode { FORWARD, JVP, VJP, JVP_OF_VJP };
struct Program {
  int inputs = 0;
  std::vector<Call> calls;
  std::vector<int> outputs;
  std::vector<Value> values;
  std::vector<int> last;      // the last call that reads a value, or -1
  std::vector<char> is_output;
};

// ---- rewriting before anything runs ---------------------------------------------------------------------------------
static std::string key_of(const Call& c) {
  std::string k = c.op + "(";
  std::vector<int> operands = c.operands;
  if (defect("repeat-key-sorts-operands") && operands.size() == 2) std::sort(operands.begin(), operands.end());
  for (int v : operands) k += std::to_string(v) + ",";
  char number[64];
  for (const auto& a : c.attributes) {
    k += ";" + a.first + "=" + a.second.symbol;
    std::vector<double> reals = a.second.reals;
    reals.push_back(a.second.real);
    for (double r : reals) { std::snprintf(number, sizeof number, defect("repeat-key-prints-six-digits") ? "%g," : "%a,", r); k += number; }
    for (int64_t i : a.second.integers) k += std::to_string(i) + ",";
    k += std::to_string(a.second.integer);
  }
  return k;
}
static bool holds_all(DT from, DT through) {  // whether a round trip through another type changes nothing
  if (from == through) return true;
  if (defect("cast-round-trip-left-out") && is_real(from)) return true;
  return (from == F32 && through == F64) || (from == I32 && (through == I64 || through == F64));
}
// Calls that repeat are computed once; permutations of permutations become one; what undoes itself is left out.
static void simplify(Program& p, const std::vector<DT>& inputs) {
  std::vector<int> alias(p.values.size()), producer(p.values.size(), -1);
  std::vector<DT> dt(p.values.size(), NONE);
  for (size_t v = 0; v < alias.size(); ++v) alias[v] = (int)v;
  for (size_t v = 0; v < inputs.size(); ++v) dt[v] = inputs[v];
  std::map<std::string, std::vector<int>> seen;
  std::vector<Call> kept;
  for (Call c : p.calls) {
    for (int& v : c.operands) if (v >= 0) v = alias[v];
    const Call* before = !c.operands.empty() && c.operands[0] >= 0 && producer[c.operands[0]] >= 0 ? &kept[producer[c.operands[0]]] : nullptr;
    if (c.is("cast")) dt[c.results[0]] = c.dtype(F32);
    if (c.is("transpose") && before && before->is("transpose") && c.has("permutation") && c.attributes["permutation"].kind == Attribute::LIST && before->attributes.at("permutation").kind == Attribute::LIST) {
      const std::vector<int64_t> first = before->list("permutation"), second = c.list("permutation");
      auto& r = c.attributes["permutation"].integers;
      for (size_t a = 0; a < r.size(); ++a) r[a] = defect("permutations-composed-backwards") ? second[first[a]] : first[second[a]];
      c.operands[0] = before->operands[0];
    }
    int same = -1;
    if (c.is("neg") && before && before->is("neg")) same = before->operands[0];
    if (c.is("cast") && before && before->is("cast") && dt[before->operands[0]] == c.dtype(F32) && holds_all(c.dtype(F32), before->dtype(F32))) same = before->operands[0];
    if (defect("square-and-root-cancel") && c.is("sqrt") && before && before->is("square")) same = before->operands[0];
    if (same >= 0) { alias[c.results[0]] = same; continue; }
    const std::string key = key_of(c);
    auto f = seen.find(key);
    if (f != seen.end()) { for (size_t r = 0; r < c.results.size(); ++r) alias[c.results[r]] = f->second[r]; continue; }
    seen[key] = c.results;
    for (int v : c.results) producer[v] = (int)kept.size();
    kept.push_back(c);
  }
  p.calls = kept;
  for (int& v : p.outputs) v = alias[v];
}

template <class S> static Ctx<S> context(Program& p, const Call& c) {
  Ctx<S> x;
  x.call = &c;
  for (int v : c.operands) {
    x.in.push_back(v < 0 ? Arr<S>() : load<S>(p.values[v]));
    x.raw.push_back(v < 0 ? Tensor() : p.values[v].v);
  }
  return x;
}
// An operand whose memory the result may take: nobody reads it afterwards, and nobody else looks at its storage.
static int reusable(const Program& p, const Call& c, int at) {
  for (size_t k = 0; k < c.operands.size(); ++k) {
    const int v = c.operands[k];
    if (v < 0 || p.last[v] != at || (p.is_output[v] && !defect("inplace-overwrites-output"))) continue;
    const Tensor& t = p.values[v].v;
    if (!is_dense(t) || t.offset != 0 || t.st->bytes != width(t.dt) * (size_t)t.n()) continue;
    int holders = 0;
    for (size_t w = 0; w < p.values.size(); ++w) {
      if ((int)w == v || p.values[w].v.st != t.st) continue;
      if (defect("inplace-ignores-aliased-operand") && p.last[w] == at) continue;  // it ends with this call as well
      if (defect("inplace-ignores-live-views")) continue;
      ++holders;
    }
    if (holders == 0) return (int)k;
  }
  return -1;
}
template <class S> static void forward(Program& p, int mode) {
  for (size_t at = 0; at < p.calls.size(); ++at) {
    const Call& c = p.calls[at];
    const Op* op = find_op(c.op);
    std::vector<Value> in, out;
    for (int v : c.operands) in.push_back(v < 0 ? Value() : p.values[v]);
    bool pairs = false;
    for (const Value& x : in) pairs = pairs || x.has_t();
    Value one;
    if (op->flags & VIEW && view_of(c, in[0], &out)) {
    } else if (!pairs && native_elementwise(c, in, mode == FORWARD || (mode == VJP && defect("inplace-while-recording")) ? reusable(p, c, (int)at) : -1, &one)) {
      out.push_back(one);
    } else {
      Ctx<S> x = context<S>(p, c);
      Kernel<S> f;
      if constexpr (std::is_same<S, W>::value) f = op->fw; else f = op->fd;
      x.out.reserve(64);
      if (!pairs && native_move(c, x.in, x.raw, &one)) out.push_back(one);
      else f(x);
      for (const Arr<S>& y : x.out) out.push_back(store(y));
    }
    if (out.size() != c.results.size()) throw std::string(c.op) + ": another number of results";
    in.clear();
    for (size_t r = 0; r < out.size(); ++r) p.values[c.results[r]] = out[r];
    if (mode == FORWARD || mode == JVP)
      for (int v : c.operands)
        if (v >= 0 && p.last[v] == (int)at && !p.is_output[v]) p.values[v] = Value();
  }
}

static Value summed(const Value& a, const Value& b) {
  Arr<D> x = load<D>(a), y = load<D>(b);
  for (size_t k = 0; k < x.a.size(); ++k) x.a[k] += y.a[k];
  return store(x);
}
static void accumulate(std::vector<Value>& grads, int v, const Value& g) {
  if (grads[v].absent()) { grads[v] = g; return; }
  Value& to = grads[v];
  const bool own = to.v.st.use_count() == 1 || defect("cotangent-added-into-shared-buffer");
  if (own && !to.has_t() && !g.has_t() && is_dense(to.v) && to.v.offset == 0) {
    const Tensor from = dense(g.v);
    for (int64_t k = 0; k < to.v.n(); ++k)
      if (to.v.dt == F32) to.v.at0<float>()[k] += from.at0<float>()[k];
      else to.v.at0<double>()[k] += from.at0<double>()[k];
    return;
  }
  grads[v] = summed(grads[v], g);
}
// Cotangents of the operands of an operation that is written forward only: once more on the tape, and back.
template <class B> static void taped(Ctx<B>& x, Kernel<V<B>> f) {
  tape<B>().nodes.clear();
  Ctx<V<B>> t;
  t.call = x.call;
  std::vector<int> first(x.in.size(), -1);
  for (size_t k = 0; k < x.in.size(); ++k) {
    Arr<V<B>> y;
    y.dt = x.in[k].dt;
    y.shape = x.in[k].shape;
    y.i = x.in[k].i;
    if (x.wants((int)k)) first[k] = (int)tape<B>().nodes.size();
    for (const B& e : x.in[k].a) y.a.push_back(x.wants((int)k) ? leaf(e) : V<B>(e, -1));
    t.in.push_back(y);
  }
  t.out.reserve(64);
  f(t);
  auto& nodes = tape<B>().nodes;
  std::vector<B> back(nodes.size(), B((W)0));
  std::vector<char> reached(nodes.size(), 0);
  for (size_t r = 0; r < t.out.size(); ++r)
    if (!x.g[r].absent())
      for (size_t e = 0; e < t.out[r].a.size(); ++e)
        if (t.out[r].a[e].id >= 0) { back[t.out[r].a[e].id] += x.g[r].a[e]; reached[t.out[r].a[e].id] = 1; }
  for (size_t k = nodes.size(); k-- > 0;) {
    if (!reached[k]) continue;
    const Node<B>& n = nodes[k];
    if (n.a >= 0) { back[n.a] += n.da * back[k]; reached[n.a] = 1; }
    if (n.b >= 0) { back[n.b] += n.db * back[k]; reached[n.b] = 1; }
  }
  for (size_t k = 0; k < x.in.size(); ++k)
    if (first[k] >= 0)
      for (size_t e = 0; e < x.in[k].a.size(); ++e) x.gin[k].a[e] += back[first[k] + e];
}
template <class S> static std::vector<Value> backward(Program& p, const std::vector<char>& wrt, std::vector<Value> seeds) {
  std::vector<char> needs(p.values.size(), 0);
  for (int v = 0; v < p.inputs; ++v) needs[v] = wrt[v];
  for (const Call& c : p.calls) {
    const Op* op = find_op(c.op);
    bool any = false;
    for (int v : c.operands) any = any || (v >= 0 && needs[v]);
    if (op->bw || op->tw || op->flags & VIEW)
      for (int v : c.results) needs[v] = any && is_real(p.values[v].v.dt) && !c.is("detach");
    else if (any && op->flags & NO_VJP) refuse("mode", c.op + " has no backward kernel");
  }
  std::vector<Value> grads(p.values.size());
  for (size_t o = 0; o < p.outputs.size(); ++o)
    if (!seeds[o].absent() && needs[p.outputs[o]]) accumulate(grads, p.outputs[o], seeds[o]);
  for (size_t at = p.calls.size(); at-- > 0;) {
    const Call& c = p.calls[at];
    const Op* op = find_op(c.op);
    bool any = false, asked = false;
    for (int v : c.results) any = any || !grads[v].absent();
    for (int v : c.operands) asked = asked || (v >= 0 && needs[v]);
    if (!any || !asked) continue;
    if (defect("zero-cotangent-ends-the-walk")) {  // nothing but zeros goes back from here
      bool zero = true;
      for (int v : c.results) if (!grads[v].absent()) for (const W& e : load<W>(grads[v]).a) zero = zero && e == 0;
      if (zero) continue;
    }
    Ctx<S> x = context<S>(p, c);
    for (int v : c.results) {
      x.out.push_back(load<S>(p.values[v]));
      x.g.push_back(grads[v].absent() ? Arr<S>() : load<S>(grads[v]));
    }
    for (size_t k = 0; k < c.operands.size(); ++k) {
      const int v = c.operands[k];
      x.want.push_back(v >= 0 && needs[v]);
      x.gin.push_back(x.want[k] ? make<S>(x.in[k].dt, x.in[k].shape) : Arr<S>());
    }
    // A sum of equal shapes hands its cotangent on as it is.
    if (c.is("add") && x.in[0].shape == x.in[1].shape) {
      for (size_t k = 0; k < 2; ++k) if (x.want[k]) accumulate(grads, c.operands[k], grads[c.results[0]]);
      continue;
    }
    if constexpr (std::is_same<S, W>::value) { if (op->bw) op->bw(x); else taped(x, op->tw); }
    else { if (op->bd) op->bd(x); else taped(x, op->td); }
    for (size_t k = 0; k < c.operands.size(); ++k) {
      if (!x.want[k]) continue;
      if (defect("output-read-again-loses-its-seed") && p.is_output[c.operands[k]] && p.last[c.operands[k]] == (int)at) grads[c.operands[k]] = Value();
      accumulate(grads, c.operands[k], store(x.gin[k]));
    }
  }
  grads.resize(p.inputs);
  for (int v = 0; v < p.inputs; ++v)
    if (wrt[v] && grads[v].absent()) grads[v].v = zero_tensor(p.values[v].v.dt, p.values[v].v.shape);
  return grads;
}

static std::string run(const Json& q) {
  const std::string m = q["mode"].s;
  const int mode = m == "forward" ? FORWARD : m == "jvp" ? JVP : m == "vjp" ? VJP : m == "jvp_of_vjp" ? JVP_OF_VJP : -1;
  if (mode < 0) refuse("mode", "mode '" + m + "' is not offered");
  const Json& program = q["program"];
  if (!q["bounds"].null()) refuse("bounds", "no bounds");
  if (!program["updates"].l.empty() || !program["buffers"].l.empty() || !program["definitions"].l.empty()) refuse("request", "calls only");
  Program p;
  std::map<std::string, int> number;
  const auto& inputs = program["inputs"].l;
  p.inputs = (int)inputs.size();
  for (size_t k = 0; k < inputs.size(); ++k) {
    number[inputs[k]["name"].s] = (int)k;
    Value v;
    v.v = tensor_of(q["inputs"].l.at(k));
    p.values.push_back(v);
  }
  for (const Json& j : program["calls"].l) {
    if (j["operation"].null()) refuse("request", "calls only");
    Call c;
    c.op = j["operation"].s;
    if (!find_op(c.op)) refuse("operation", c.op + " is not offered");
    for (const Json& o : j["operands"].l) {
      if (!o.null() && !number.count(o.s)) throw std::string("no value named ") + o.s;
      c.operands.push_back(o.null() ? -1 : number[o.s]);
    }
    for (const auto& a : j["attributes"].o) if (!a.second.null()) c.attributes[a.first] = attribute_of(a.second);
    for (const Json& r : j["results"].l) { number[r.s] = (int)p.values.size(); c.results.push_back((int)p.values.size()); p.values.push_back(Value()); }
    p.calls.push_back(c);
  }
  for (const Json& o : program["outputs"].l) { if (!number.count(o.s)) throw std::string("no value named ") + o.s; p.outputs.push_back(number[o.s]); }
  std::vector<DT> types;
  for (int k = 0; k < p.inputs; ++k) types.push_back(p.values[k].v.dt);
  simplify(p, types);
  p.last.assign(p.values.size(), -1);
  p.is_output.assign(p.values.size(), 0);
  for (size_t at = 0; at < p.calls.size(); ++at) for (int v : p.calls[at].operands) if (v >= 0) p.last[v] = (int)at;
  for (int v : p.outputs) p.is_output[v] = 1;

  auto given = [&](const char* list, size_t k) -> const Json& { static const Json none; return k < q[list].l.size() ? q[list].l[k] : none; };
  std::vector<char> wrt(p.inputs, 0);
  const Json& w = q["wrt"];
  for (size_t k = 0; k < w.l.size(); ++k) {
    if (w.l[k].kind == Json::INT) { if (w.l[k].i >= 0 && w.l[k].i < p.inputs) wrt[w.l[k].i] = 1; }
    else if (w.l[k].truth() && k < wrt.size()) wrt[k] = 1;
  }
  if (w.null()) for (int k = 0; k < p.inputs; ++k) wrt[k] = !given("tangents", k).null();
  for (int k = 0; k < p.inputs; ++k) if (!is_real(p.values[k].v.dt)) wrt[k] = 0;
  if (mode == JVP || mode == JVP_OF_VJP)
    for (int k = 0; k < p.inputs; ++k)
      if (!given("tangents", k).null() && is_real(p.values[k].v.dt) && (wrt[k] || mode == JVP_OF_VJP)) p.values[k].t = tensor_of(given("tangents", k));
  if (mode == JVP || mode == JVP_OF_VJP) forward<D>(p, mode); else forward<W>(p, mode);

  std::string answer = "{\"id\":" + quoted(q["id"].s) + ",\"outputs\":[";
  auto list = [&](size_t n, const std::function<std::string(size_t)>& f) { std::string s; for (size_t k = 0; k < n; ++k) s += (k ? "," : "") + f(k); return s; };
  answer += list(p.outputs.size(), [&](size_t k) { return text_of(p.values[p.outputs[k]].v); }) + "]";
  if (mode == JVP)
    answer += ",\"tangents\":[" + list(p.outputs.size(), [&](size_t k) {
      const Value& v = p.values[p.outputs[k]];
      return !is_real(v.v.dt) ? std::string("null") : text_of(v.has_t() ? v.t : zero_tensor(v.v.dt, v.v.shape));
    }) + "]";
  if (mode == VJP || mode == JVP_OF_VJP) {
    std::vector<Value> seeds(p.outputs.size());
    for (size_t k = 0; k < seeds.size(); ++k) {
      const Tensor& y = p.values[p.outputs[k]].v;
      if (!is_real(y.dt)) continue;
      if (!given("cotangents", k).null()) seeds[k].v = tensor_of(given("cotangents", k));
      if (mode == JVP_OF_VJP && !given("cotangent_tangents", k).null()) {
        if (seeds[k].absent()) seeds[k].v = zero_tensor(y.dt, y.shape);
        seeds[k].t = tensor_of(given("cotangent_tangents", k));
      }
    }
    const std::vector<Value> grads = mode == VJP ? backward<W>(p, wrt, seeds) : backward<D>(p, wrt, seeds);
    answer += ",\"cotangents\":[" + list(grads.size(), [&](size_t k) { return wrt[k] ? text_of(grads[k].v) : std::string("null"); }) + "]";
    if (mode == JVP_OF_VJP)
      answer += ",\"cotangent_tangents\":[" + list(grads.size(), [&](size_t k) { return !wrt[k] ? std::string("null") : text_of(grads[k].has_t() ? grads[k].t : zero_tensor(grads[k].v.dt, grads[k].v.shape)); }) + "]";
  }
  return answer + "}";
}
static std::string describe() {
  std::string names;
  for (const auto& op : ops()) names += (names.empty() ? "" : ",") + quoted(op.first);
  return "{\"etalon\":1,\"name\":\"strata\",\"version\":\"1\",\"operations\":[" + names +
         "],\"dtypes\":[\"f32\",\"f64\",\"i32\",\"i64\",\"bool\"],\"modes\":[\"forward\",\"jvp\",\"vjp\",\"jvp_of_vjp\"],"
         "\"contract\":{\"nan_of_extrema\":\"propagate\"},\"running_attributes\":false,\"generator\":\"philox4x32-10\"}";
}
int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::string id = "null", answer;
    try {
      const Json q = JsonReader(line).value();
      if (!q["id"].null()) id = quoted(q["id"].s);
      const std::string what = q["request"].s;
      answer = what == "describe" ? describe() : what == "run" ? run(q) : "{\"id\":" + id + ",\"unsupported\":{\"what\":\"request\",\"why\":\"there are describe and run\"}}";
    } catch (const Refusal& r) {
      answer = "{\"id\":" + id + ",\"unsupported\":{\"what\":" + quoted(r.what) + ",\"why\":" + quoted(r.why) + "}}";
    } catch (const std::string& e) {
      answer = "{\"id\":" + id + ",\"error\":" + quoted(e) + "}";
    } catch (const std::exception& e) {
      answer = "{\"id\":" + id + ",\"error\":" + quoted(e.what()) + "}";
    }
    std::cout << answer << "\n" << std::flush;
  }
  return 0;
}
