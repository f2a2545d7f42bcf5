/// \file
/// Protocol 1 on standard input and output.
#include <iostream>
#include <string>

#include "call.hpp"
#include "compiler.hpp"
#include "wire.hpp"

namespace weft {
namespace {

Json description() {
  Json operations = Json::array();
  for (const auto& [name, how] : lowerings()) operations.push_back(name);
  return {{"etalon", 1},
          {"name", "weft"},
          {"version", "2026.11"},
          {"operations", operations},
          {"dtypes", {"f32", "f64", "i32", "i64", "bool"}},
          {"modes", {"forward", "jvp", "vjp", "jvp_of_vjp"}},
          {"contract", {{"name", "weft"}, {"nan_of_extrema", "propagate"}}},
          {"rejects", false}};
}

bool given(const Json& object, const char* name) { return object.is_object() && object.contains(name) && !object[name].is_null(); }

void read_seeds(const Json& request, const char* name, std::size_t count, Seeds& q) {
  q.there.assign(count, false);
  if (!given(request, name)) return;
  for (std::size_t i = 0; i < count && i < request[name].size(); ++i) {
    const Json& t = request[name][i];
    if (t.is_null()) continue;
    q.there[i] = true;
    q.given.push_back(decoded(t));
  }
}

void read_marks(const Json& request, Question& q) {
  q.wrt.assign(q.inputs.size(), false);
  if (!given(request, "wrt")) {
    for (std::size_t i = 0; i < q.wrt.size(); ++i) q.wrt[i] = q.tangents.there[i];
    return;
  }
  const Json& wrt = request["wrt"];
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i].is_boolean()) {
      q.wrt[i] = wrt[i].get<bool>();
    } else {
      q.wrt.at(wrt[i].get<std::size_t>()) = true;
    }
  }
}

Json answered(const Json& request) {
  Question q;
  q.mode = request.at("mode").get<std::string>();
  if (q.mode != "forward" && q.mode != "jvp" && q.mode != "vjp" && q.mode != "jvp_of_vjp") throw Unsupported("mode", q.mode + " is not offered");
  const Json& program = request.at("program");
  for (const char* more : {"updates", "buffers", "definitions"}) {
    if (given(program, more) && !program[more].empty())
      throw Unsupported("request", std::string(more) + " are not offered");
  }
  if (given(request, "bounds")) throw Unsupported("bounds", "there are none");
  q.program = &program;
  for (const Json& t : request.at("inputs")) q.inputs.push_back(decoded(t));
  const std::size_t outputs = program.at("outputs").size();
  read_seeds(q.mode == "jvp" || q.mode == "jvp_of_vjp" ? request : Json(), "tangents", q.inputs.size(), q.tangents);
  read_seeds(q.mode == "vjp" || q.mode == "jvp_of_vjp" ? request : Json(), "cotangents", outputs, q.cotangents);
  read_seeds(q.mode == "jvp_of_vjp" ? request : Json(), "cotangent_tangents", outputs, q.cotangent_tangents);
  read_marks(request, q);
  const std::shared_ptr<const Compiled> how = compiled(q);
  std::vector<Tensor> all = q.inputs;
  for (const Seeds* s : {&q.tangents, &q.cotangents, &q.cotangent_tangents}) all.insert(all.end(), s->given.begin(), s->given.end());
  const std::vector<Tensor> found = executed(how->plan, all);
  Json answer;
  answer["outputs"] = Json::array();
  for (std::size_t i = 0; i < how->outputs; ++i) answer["outputs"].push_back(encoded(found[i]));
  if (q.mode == "forward") return answer;
  Json& further = answer[q.mode == "jvp" ? "tangents" : "cotangents"] = Json::array();
  std::size_t next = how->outputs;
  for (const bool there : how->further) further.push_back(there ? encoded(found[next++]) : Json());
  if (q.mode != "jvp_of_vjp") return answer;
  Json& last = answer["cotangent_tangents"] = Json::array();
  for (const bool there : how->last) last.push_back(there ? encoded(found[next++]) : Json());
  return answer;
}

Json reply(const std::string& line) {
  Json id;
  try {
    const Json request = Json::parse(line);
    const auto what = request.value("request", std::string());
    if (what == "describe") return description();
    if (given(request, "id")) id = request["id"];
    Json answer = what == "run" ? answered(request) : throw Unsupported("request", what + " is not offered");
    answer["id"] = id;
    return answer;
  } catch (const Unsupported& gap) {
    return {{"id", id}, {"unsupported", {{"what", gap.what_is}, {"why", gap.what()}}}};
  } catch (const std::exception& failure) {
    return {{"id", id}, {"error", failure.what()}};
  }
}

}  // namespace
}  // namespace weft

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) std::cout << weft::reply(line).dump() << '\n' << std::flush;
  return 0;
}
