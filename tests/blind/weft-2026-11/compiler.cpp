/// \file
/// Lowers a program, differentiates it, rewrites it, plans it; or finds that this was done before.
#include "compiler.hpp"

#include <unordered_map>

#include "defect.hpp"
#include "derivative.hpp"
#include "peephole.hpp"
#include "rewrite.hpp"

namespace weft {
namespace {

std::string marks(const std::vector<bool>& list) {
  std::string text = "|";
  for (const bool m : list) text += m ? '1' : '0';
  return text;
}

/// What two requests share when one plan serves both.
std::string signature_of(const Question& q) {
  std::string key = q.mode + ";";
  for (const Tensor& x : q.inputs) key += std::to_string(static_cast<int>(x.type)) + Json(x.shape).dump();
  const Json& program = *q.program;
  for (const char* part : {"inputs", "calls", "outputs"}) {
    if (std::string(part) == "inputs") {
      for (const Json& i : program.at(part)) key += i.at("name").get<std::string>() + ",";
    } else {
      key += program.at(part).dump();
    }
  }
  return key + marks(q.wrt) + marks(q.tangents.there) + marks(q.cotangents.there) + marks(q.cotangent_tangents.there);
}

class Lowered {
 public:
  explicit Lowered(const Question& q) : q_(q) { g_.composed = q.mode == "jvp" || q.mode == "jvp_of_vjp"; g_.reverse = q.mode == "vjp"; }

  std::shared_ptr<const Compiled> run() {
    for (const Tensor& x : q_.inputs) inputs_.push_back(input(x));
    for (const Seeds* s : {&q_.tangents, &q_.cotangents, &q_.cotangent_tangents}) {
      std::vector<V> list;
      std::size_t next = 0;
      for (const bool there : s->there) list.push_back(there ? input(s->given[next++]) : V{});
      seeds_.push_back(std::move(list));
    }
    for (std::size_t i = 0; i < q_.inputs.size(); ++i)
      values_.emplace(q_.program->at("inputs").at(i).at("name").get<std::string>(), inputs_[i]);
    for (const Json& call : q_.program->at("calls")) lower(call);
    for (const Json& name : q_.program->at("outputs")) outputs_.push_back(values_.at(name.get<std::string>()));
    auto found = std::make_shared<Compiled>();
    found->outputs = outputs_.size();
    std::vector<int> ids;
    for (const V y : outputs_) ids.push_back(y.id);
    const std::vector<V> first = q_.mode == "forward" ? std::vector<V>{} : q_.mode == "jvp" ? forward() : reverse();
    for (const V d : first) {
      found->further.push_back(static_cast<bool>(d));
      if (d) ids.push_back(d.id);
    }
    if (q_.mode == "jvp_of_vjp") {
      for (const V d : second(first)) {
        found->last.push_back(static_cast<bool>(d));
        if (d) ids.push_back(d.id);
      }
    }
    const Graph small = rewritten(g_, ids);
    found->plan = planned(small, ids);
    return found;
  }

 private:
  V input(const Tensor& x) {
    Node n;
    n.op = Op::input;
    n.type = x.type;
    n.shape = x.shape;
    return g_.add(std::move(n));
  }

  void lower(const Json& call) {
    if (!call.contains("operation")) throw Unsupported("request", "only calls are offered");
    const auto name = call.at("operation").get<std::string>();
    const auto how = lowerings().find(name);
    if (how == lowerings().end()) throw Unsupported("operation", name + " is not offered");
    std::vector<V> operands;
    for (const Json& o : call.at("operands")) operands.push_back(o.is_null() ? V{} : values_.at(o.get<std::string>()));
    static const Json none = Json::object();
    const Json& attributes = call.contains("attributes") ? call["attributes"] : none;
    const Json& names = call.at("results");
    if (const V same = peephole_.simpler(name, operands, attributes); same) {
      values_[names[0].get<std::string>()] = store(same);
      return;
    }
    const Call c(g_, attributes, operands, values_);
    const Results found = how->second(c);
    if (names.size() != found.size()) throw std::runtime_error(name + " has another number of results");
    for (std::size_t k = 0; k < found.size(); ++k) {
      // A result that is an operand keeps its node; others are rounded.
      const V y = values_[names[k].get<std::string>()] = store(found[k]);
      peephole_.note(y, name, operands, attributes, k);
    }
  }

  std::vector<V> forward() {
    std::map<int, V> seeds;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (seeds_[0][i] && q_.wrt[i]) seeds.emplace(inputs_[i].id, seeds_[0][i]);
    }
    std::vector<V> found;
    const std::vector<V> moves = tangents(g_, outputs_, seeds);
    for (std::size_t i = 0; i < outputs_.size(); ++i) found.push_back(finished(outputs_[i], moves[i], true));
    return found;
  }

  /// Seeds of the outputs; where one is missing and moves, it is a zero of its own.
  std::vector<V> reverse() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      V& s = seeds_[1][i];
      if (s) continue;
      if (!is_real(outputs_[i].type())) continue;
      const bool one = defect("missing-seed-of-a-scalar-is-one") && outputs_[i].shape().empty();
      if (one) s = constant(g_, outputs_[i].type(), 1, {});
      if (q_.mode == "jvp_of_vjp" && seeds_[2][i]) s = constant(g_, outputs_[i].type(), 0, outputs_[i].shape());
    }
    const std::vector<V> back = cotangents(g_, outputs_, seeds_[1], inputs_);
    std::vector<V> found;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      found.push_back(finished(inputs_[i], back[i] ? back[i] + 0 : V{}, q_.wrt[i]));
    return found;
  }

  std::vector<V> second(const std::vector<V>& first) {
    std::map<int, V> seeds;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (seeds_[0][i] && q_.wrt[i]) seeds.emplace(inputs_[i].id, seeds_[0][i]);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (seeds_[2][i] && seeds_[1][i]) seeds.emplace(seeds_[1][i].id, seeds_[2][i]);
    }
    std::vector<V> asked;
    for (const V d : first) {
      if (d) asked.push_back(d);
    }
    const std::vector<V> moves = tangents(g_, asked, seeds);
    std::vector<V> found;
    std::size_t next = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      found.push_back(first[i] ? finished(inputs_[i], moves[next], true) : V{});
      if (first[i]) ++next;
    }
    return found;
  }

  V finished(V x, V d, bool wanted) {
    if (!wanted || !is_real(x.type())) return {};
    return store(d ? d : constant(g_, x.type(), 0, x.shape()));
  }

  const Question& q_;
  Graph g_;
  Peephole peephole_;
  std::vector<V> inputs_, outputs_;
  std::vector<std::vector<V>> seeds_;  ///< tangents, cotangents, tangents of cotangents
  std::map<std::string, V> values_;
};

}  // namespace

std::shared_ptr<const Compiled> compiled(const Question& q) {
  static std::unordered_map<std::string, std::shared_ptr<const Compiled>> known;
  const std::string key = signature_of(q);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  if (known.size() >= 64) known.clear();
  return known[key] = Lowered(q).run();
}

}  // namespace weft
