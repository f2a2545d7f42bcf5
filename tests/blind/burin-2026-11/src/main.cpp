// One process, one JSON line per request: the program is compiled to a graph, its derivatives are appended, all of it
// is optimised and run.
#include <iostream>

#include "wire.h"

namespace {

struct Request {
  Graph graph;
  std::map<std::string, V> values;
  std::vector<V> params;
  std::vector<Given> given;
  std::map<N, Operand> operands;

  V parameter(const Json& t) {
    given.push_back(decode(t));
    const Given& x = given.back();
    return graph.make(Op::param, x.dt, x.shape, {});
  }
};

std::vector<V> lower_call(Request& r, const Json& c) {
  if (!c.contains("operation")) throw Unsupported("request", "only calls of operations are offered");
  Call call;
  call.name = c.at("operation");
  auto row = table().find(call.name);
  if (row == table().end()) throw Unsupported("operation", call.name + " is not offered");
  for (const Json& o : c.at("operands")) call.x.push_back(o.is_null() ? V() : r.values.at(o.get<std::string>()));
  call.a = attributes_of(c.value("attributes", Json::object()));
  std::vector<V> y = row->second(call);
  for (V& v : y) v = store(v, v.dt());
  return y;
}

std::vector<V> listed(Request& r, const Json& q, const char* field, std::size_t count) {
  std::vector<V> v(count);
  if (!q.contains(field) || q[field].is_null()) return v;
  for (std::size_t i = 0; i < count && i < q[field].size(); ++i) if (!q[field][i].is_null()) v[i] = r.parameter(q[field][i]);
  return v;
}

std::vector<bool> marked(const Json& q, const Request& r) {
  std::vector<bool> m(r.params.size(), false);
  if (q.contains("wrt") && !q["wrt"].is_null()) {
    const Json& w = q["wrt"];
    bool flags = !w.empty() && w[0].is_boolean();
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (!flags) m.at(w[i].get<std::size_t>()) = true;
      else if (w[i].get<bool>()) m.at(i) = true;
    }
  } else if (q.contains("tangents") && !q["tangents"].is_null()) {
    for (std::size_t i = 0; i < q["tangents"].size(); ++i) m.at(i) = !q["tangents"][i].is_null();
  }
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = m[i] && is_real(r.params[i].dt());
  return m;
}

Json run(const Json& q) {
  std::string mode = q.value("mode", "forward");
  if (mode != "forward" && mode != "jvp" && mode != "vjp") throw Unsupported("mode", mode + " is not offered");
  const Json& program = q.at("program");
  for (const char* field : {"buffers", "updates", "definitions"}) {
    if (program.contains(field) && !program[field].empty()) throw Unsupported("request", std::string(field) + " are not offered");
  }
  Request r;
  g = &r.graph;
  std::size_t count = program.at("inputs").size();
  for (std::size_t i = 0; i < count; ++i) {
    r.params.push_back(r.parameter(q.at("inputs").at(i)));
    r.values[program["inputs"][i].at("name")] = r.params.back();
  }
  for (const Json& c : program.at("calls")) {
    std::vector<V> y = lower_call(r, c);
    const Json& names = c.at("results");
    if (names.size() != y.size()) throw std::runtime_error("another number of results");
    for (std::size_t i = 0; i < y.size(); ++i) r.values[names[i]] = y[i];
  }
  std::vector<V> outputs, derived;
  for (const Json& o : program.at("outputs")) outputs.push_back(r.values.at(o.get<std::string>()));
  const char* list = mode == "jvp" ? "tangents" : "cotangents";
  std::vector<bool> wrt = mode == "forward" ? std::vector<bool>() : marked(q, r);
  if (mode == "jvp") {
    std::vector<V> t = listed(r, q, list, count);
    for (std::size_t i = 0; i < count; ++i) if (!wrt[i]) t[i] = V();
    derived = append_jvp(outputs, r.params, t);
  } else if (mode == "vjp") {
    std::vector<V> w = r.params;
    for (std::size_t i = 0; i < count; ++i) if (!wrt[i]) w[i] = V();
    derived = append_vjp(outputs, listed(r, q, list, outputs.size()), w);
  }
  for (V& v : derived) if (v) v = store(v, v.dt());
  std::size_t k = 0;
  std::map<N, Operand> operands;
  for (auto& n : r.graph.nodes) {
    if (n->op != Op::param) continue;
    const Given& x = r.given[k++];
    operands[n.get()] = {&x.data, x.stride, x.offset};
  }
  std::vector<N> roots;
  for (V v : outputs) roots.push_back(v.n);
  for (V v : derived) if (v) roots.push_back(v.n);
  roots = optimise(roots);
  auto found = execute(roots, operands);
  Json answer = {{"outputs", Json::array()}};
  k = 0;
  for (; k < outputs.size(); ++k) answer["outputs"].push_back(encode(found[k], roots[k]->dt, roots[k]->shape));
  if (mode != "forward") {
    answer[list] = Json::array();
    for (V v : derived) {
      if (!v) { answer[list].push_back(nullptr); continue; }
      answer[list].push_back(encode(found[k], roots[k]->dt, roots[k]->shape));
      ++k;
    }
  }
  return answer;
}

Json description() {
  Json names = Json::array();
  for (auto& [name, row] : table()) names.push_back(name);
  return {{"etalon", 1}, {"name", "burin"}, {"version", "1"}, {"operations", names},
          {"dtypes", {"f32", "f64", "i32", "i64", "bool"}}, {"modes", {"forward", "jvp", "vjp"}},
          {"rejects", false}, {"layouts", true}, {"running_attributes", false}, {"fuses", true},
          {"contract", {{"name", "burin"}, {"nan_of_extrema", "propagate"}}}};
}

Json answer(const std::string& line) {
  Json id = nullptr;
  try {
    Json q = Json::parse(line);
    if (q.contains("id")) id = q["id"];
    if (q.value("request", "") == "describe") return description();
    if (q.value("request", "") != "run") return {{"id", id}, {"unsupported", {{"what", "request"}, {"why", "not offered"}}}};
    Json a = run(q);
    a["id"] = id;
    return a;
  } catch (const Unsupported& u) {
    return {{"id", id}, {"unsupported", {{"what", u.what_}, {"why", u.what()}}}};
  } catch (const std::exception& e) {
    return {{"id", id}, {"error", e.what()}};
  }
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) std::cout << answer(line).dump() << "\n" << std::flush;
}
