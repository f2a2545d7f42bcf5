// Protocol 1: one request per line in, one answer per line out.
#include <array>
#include <cstring>
#include <iostream>
#include "lower.h"

using namespace adze;

namespace {

std::vector<unsigned char> decode(const std::string& s) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const std::array<int, 256> value = [] {
    std::array<int, 256> v{};
    v.fill(-1);
    for (int k = 0; k < 64; ++k) v[(unsigned char)alphabet[k]] = k;
    return v;
  }();
  std::vector<unsigned char> out;
  unsigned buffer = 0;
  int bits = 0;
  for (unsigned char ch : s) {
    if (value[ch] < 0) break;
    buffer = buffer << 6 | unsigned(value[ch]);
    if ((bits += 6) >= 8) out.push_back((unsigned char)(buffer >> (bits -= 8) & 255));
  }
  return out;
}

std::string encode(const std::vector<unsigned char>& d) {
  static const char* a = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string s;
  for (std::size_t k = 0; k < d.size(); k += 3) {
    const unsigned n = unsigned(d[k]) << 16 | (k + 1 < d.size() ? d[k + 1] << 8 : 0) | (k + 2 < d.size() ? d[k + 2] : 0);
    s += a[n >> 18 & 63];
    s += a[n >> 12 & 63];
    s += k + 1 < d.size() ? a[n >> 6 & 63] : '=';
    s += k + 2 < d.size() ? a[n & 63] : '=';
  }
  return s;
}

std::size_t width(DT t) { return t == DT::Bool ? 1 : t == DT::F64 || t == DT::I64 ? 8 : 4; }

template <class X> X loaded(const unsigned char* p) { X x; std::memcpy(&x, p, sizeof x); return x; }

Real element(const unsigned char* p, DT t) {
  switch (t) {
    case DT::F32: return loaded<float>(p);
    case DT::F64: return loaded<double>(p);
    case DT::I32: return loaded<std::int32_t>(p);
    case DT::I64: return Real(loaded<I>(p));
    default: return *p != 0;
  }
}

json written(const std::vector<Real>& r, DT t, const Shape& shape) {
  std::vector<unsigned char> d;
  auto put = [&](auto x) { const auto* p = reinterpret_cast<const unsigned char*>(&x); d.insert(d.end(), p, p + sizeof x); };
  for (Real x : r) {
    switch (t) {
      case DT::F32: put(float(x)); break;
      case DT::F64: put(double(x)); break;
      case DT::I32: put(std::int32_t(I(x))); break;
      case DT::I64: put(I(x)); break;
      default: d.push_back(x != 0);
    }
  }
  static const char* names[] = {"f32", "f64", "i32", "i64", "bool"};
  return {{"dtype", names[int(t)]}, {"shape", shape}, {"data", encode(d)}};
}

struct Inputs {
  std::vector<std::vector<Real>> buffers;
  std::vector<View> views;

  T add(const json& j) {
    const DT t = dtype_of(j.at("dtype").get<std::string>());
    const Shape shape = j.at("shape").get<Shape>();
    const std::vector<unsigned char> bytes = decode(j.at("data").get<std::string>());
    const I held = I(bytes.size() / width(t));
    std::vector<Real> b(std::size_t(std::max<I>(held, 1)));
    for (I k = 0; k < held; ++k) b[k] = element(&bytes[k * width(t)], t);
    Shape strides = dense_strides(shape);
    I offset = j.contains("offset") && !j["offset"].is_null() ? j["offset"].get<I>() : 0;
    if (j.contains("strides") && !j["strides"].is_null()) {
      const Shape given = j["strides"].get<Shape>();
      const bool dense = given == strides;
      if (bug("offset_lost_for_dense_strides") && dense) offset = 0;
      // Row padding: the last axis is contiguous, an outer step is longer than dense.
      bool padded = given.size() > 1 && given.back() == 1 && given[0] > strides[0];
      for (std::size_t k = 0; k < given.size(); ++k) padded = padded && given[k] >= strides[k];
      if (!padded || !bug("row_padding_taken_as_dense")) strides = given;
    }
    I low = offset, high = offset;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] == 0) { low = 0; high = -1; break; }
      (strides[k] < 0 ? low : high) += strides[k] * (shape[k] - 1);
    }
    if (high >= low && (low < 0 || high >= held)) throw std::runtime_error("an element lies outside of the buffer");
    Attr a;
    a.axis = I(views.size());
    buffers.push_back(std::move(b));
    views.push_back({buffers.back().data() + (high < low ? 0 : offset), strides});
    return {current->emit(Op::Input, {}, t, shape, a)};
  }
};

const Table& table() {
  static const Table t = [] {
    Table r;
    lower_elementwise(r); lower_shape(r); lower_reduce(r); lower_windows(r);
    lower_norm(r); lower_loss(r); lower_cells(r); lower_optimizers(r);
    return r;
  }();
  return t;
}

void build(const json& program, std::map<std::string, T>& values) {
  static const json nothing = json::object();
  for (const json& call : program.at("calls")) {
    if (!call.contains("operation")) throw Unsupported("request", "calls of operations only");
    Call c;
    c.name = call["operation"].get<std::string>();
    auto it = table().find(c.name);
    if (it == table().end()) throw Unsupported("operation", c.name + " is not offered");
    for (const json& o : call.at("operands")) {
      if (o.is_null()) { c.x.push_back({}); continue; }
      auto v = values.find(o.get<std::string>());
      if (v == values.end()) throw Rejected("no such value");
      c.x.push_back(v->second);
    }
    c.attributes = call.contains("attributes") ? &call["attributes"] : &nothing;
    c.values = &values;
    for (std::size_t k = c.x.size(); k-- > 0;) if (c.x[k] && is_real(c.x[k].dt())) c.dt = c.x[k].dt();
    const std::vector<T> results = it->second(c);
    std::size_t k = 0;
    for (const json& name : call.at("results")) {
      if (k >= results.size()) throw Rejected("another number of results");
      T y = results[k++];
      if (y.dt() == DT::Wide) y = store(y, c.dt);
      if (!name.is_null()) values[name.get<std::string>()] = y;
    }
  }
}

json run(const json& q) {
  Graph g;
  current = &g;
  Inputs in;
  const std::string mode = q.at("mode").get<std::string>();
  if (mode != "forward" && mode != "jvp" && mode != "vjp") throw Unsupported("mode", mode + " is not offered");
  const json& program = q.at("program");
  for (const char* key : {"updates", "buffers", "definitions"}) {
    if (program.contains(key) && !program[key].empty()) throw Unsupported("request", std::string(key) + " are not offered");
  }
  std::map<std::string, T> values;
  std::vector<T> inputs;
  const std::size_t n = program.at("inputs").size();
  for (std::size_t k = 0; k < n; ++k) {
    inputs.push_back(in.add(q.at("inputs").at(k)));
    values[program["inputs"][k].at("name").get<std::string>()] = inputs.back();
  }
  build(program, values);
  std::vector<T> outputs;
  for (const json& o : program.at("outputs")) outputs.push_back(values.at(o.get<std::string>()));

  auto listed = [&](const char* key, std::size_t k) -> const json* {
    if (!q.contains(key) || q[key].is_null() || k >= q[key].size() || q[key][k].is_null()) return nullptr;
    return &q[key][k];
  };
  std::vector<char> marked(n, 0);
  if (q.contains("wrt") && !q["wrt"].is_null()) {
    std::size_t k = 0;
    for (const json& w : q["wrt"]) {
      if (w.is_boolean()) marked.at(k) = w.get<bool>();
      else marked.at(w.get<std::size_t>()) = 1;
      ++k;
    }
  } else {
    for (std::size_t k = 0; k < n; ++k) marked[k] = listed("tangents", k) != nullptr;
  }
  std::vector<T> wrt, extra;
  for (std::size_t k = 0; k < n; ++k) {
    marked[k] = marked[k] && is_real(inputs[k].dt());
    if (marked[k]) wrt.push_back(inputs[k]);
  }
  if (mode == "jvp") {
    std::vector<T> tangents;
    for (std::size_t k = 0; k < n; ++k) {
      if (!marked[k]) continue;
      const json* t = listed("tangents", k);
      tangents.push_back(t ? in.add(*t) : store(K(0, inputs[k].shape()), inputs[k].dt()));
    }
    std::vector<T> reals;
    for (T y : outputs) if (is_real(y.dt())) reals.push_back(y);
    extra = push_forward(reals, wrt, tangents);
  } else if (mode == "vjp") {
    std::vector<T> seeds;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const json* t = listed("cotangents", k);
      seeds.push_back(t && is_real(outputs[k].dt()) ? in.add(*t) : T{});
    }
    extra = pull_back(outputs, seeds, wrt);
  }

  std::vector<int> asked;
  std::vector<Val> kinds;
  for (const std::vector<T>* l : {&outputs, &extra}) for (T y : *l) { asked.push_back(y.id); kinds.push_back(g.vals[y.id]); }
  simplify(g, asked);
  fuse(g, asked);
  std::vector<std::vector<Real>> found = execute(g, asked, in.views);
  std::size_t next = 0;
  auto take = [&] { const std::size_t k = next++; return written(found[k], kinds[k].dt, kinds[k].shape); };
  json answer{{"id", q.at("id")}, {"outputs", json::array()}};
  for (std::size_t k = 0; k < outputs.size(); ++k) answer["outputs"].push_back(take());
  if (mode == "jvp") {
    answer["tangents"] = json::array();
    for (T y : outputs) answer["tangents"].push_back(is_real(g.vals[y.id].dt) ? take() : json());
  } else if (mode == "vjp") {
    answer["cotangents"] = json::array();
    for (std::size_t k = 0; k < n; ++k) answer["cotangents"].push_back(marked[k] ? take() : json());
  }
  return answer;
}

json describe() {
  json names = json::array();
  for (const auto& [name, f] : table()) names.push_back(name);
  return {{"etalon", 1}, {"name", "adze"}, {"version", "1.0"}, {"operations", names},
          {"dtypes", {"f32", "f64", "i32", "i64", "bool"}}, {"modes", {"forward", "jvp", "vjp"}},
          {"contract", {{"name", "careful IEEE 754"}, {"nan_of_extrema", "propagate"}}},
          {"fuses", false}, {"rejects", false}, {"layouts", true}, {"running_attributes", true}, {"pipeline", 1}};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    json answer, id;
    try {
      const json q = json::parse(line);
      if (q.contains("id")) id = q["id"];
      const std::string what = q.at("request").get<std::string>();
      if (what == "describe") answer = describe();
      else if (what == "run") answer = run(q);
      else answer = {{"id", id}, {"unsupported", {{"what", "request"}, {"why", what + " is not offered"}}}};
    } catch (const Unsupported& e) {
      answer = {{"id", id}, {"unsupported", {{"what", e.what_}, {"why", e.what()}}}};
    } catch (const Rejected& e) {
      answer = {{"id", id}, {"rejected", e.what()}};
    } catch (const std::exception& e) {
      answer = {{"id", id}, {"error", e.what()}};
    }
    std::cout << answer.dump() << "\n" << std::flush;
  }
}
