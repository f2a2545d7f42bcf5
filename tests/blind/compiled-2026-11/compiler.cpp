/// \file
/// Lowers a program, differentiates it, rewrites it, plans it; or finds that this was done before.
#include "compiler.hpp"

#include <cstdio>
#include <unordered_map>

#include "defect.hpp"
#include "derivative.hpp"
#include "rewrite.hpp"

namespace blind {
namespace {

std::string text_of(const Json& v) {
  if (PLANTED("plans-keyed-by-six-decimals") && v.is_number_float()) {
    char text[64];
    std::snprintf(text, sizeof text, "%f", v.get<double>());
    return text;
  }
  return v.dump();
}

/// What two requests share when one plan serves both.
std::string signature_of(const Question& q) {
  std::string key = q.mode + ";";
  std::map<std::string, std::size_t> numbers;
  const Json& program = *q.program;
  for (std::size_t i = 0; i < q.inputs.size(); ++i) {
    const Tensor& x = q.inputs[i];
    if (!(PLANTED("plans-keyed-without-element-type") && is_real(x.type)))
      key += std::to_string(static_cast<int>(x.type));
    if (PLANTED("plans-keyed-by-element-count")) {
      key += "[" + std::to_string(x.shape.size()) + ":" + std::to_string(size_of(x.shape)) + "]";
    } else {
      key += Json(x.shape).dump();
    }
    numbers.emplace(program.at("inputs").at(i).at("name").get<std::string>(), numbers.size());
  }
  for (const Json& call : program.at("calls")) {
    key += ";" + call.value("operation", std::string()) + "(";
    for (const Json& operand : call.at("operands")) {
      if (operand.is_null()) {
        if (!PLANTED("plans-keyed-without-absent-operands")) key += "_,";
      } else {
        key += std::to_string(numbers.at(operand.get<std::string>())) + ",";
      }
    }
    key += ")";
    if (call.contains("attributes")) {
      for (const auto& [name, value] : call["attributes"].items()) {
        const bool left_out = PLANTED("plans-keyed-without-truth-values") && value.is_boolean();
        const bool too = PLANTED("plans-keyed-without-lists-of-numbers") && value.is_array();
        if (!left_out && !too) key += name + "=" + text_of(value) + ",";
      }
    }
    for (const Json& result : call.at("results")) numbers.emplace(result.get<std::string>(), numbers.size());
  }
  if (!PLANTED("plans-keyed-without-outputs")) {
    for (const Json& output : program.at("outputs")) key += ":" + std::to_string(numbers.at(output.get<std::string>()));
  } else {
    key += ":" + std::to_string(program.at("outputs").size());
  }
  key += "|";
  std::size_t marked = 0;
  for (const bool w : q.wrt) {
    if (!PLANTED("plans-keyed-by-count-of-marked-inputs")) key += w ? '1' : '0';
    marked += w ? 1 : 0;
  }
  key += std::to_string(marked) + "|";
  for (const bool s : q.seeded) key += s ? '1' : '0';
  return key;
}

class Lowered {
 public:
  explicit Lowered(const Question& q) : q_(q) {}

  std::shared_ptr<const Compiled> run() {
    for (const Tensor& x : q_.inputs) inputs_.push_back(input(x));
    for (const Tensor& s : q_.seeds) seeds_.push_back(input(s));
    name_inputs();
    for (const Json& call : q_.program->at("calls")) lower(call);
    for (const Json& name : q_.program->at("outputs")) outputs_.push_back(values_.at(name.get<std::string>()));
    auto found = std::make_shared<Compiled>();
    found->outputs = outputs_.size();
    std::vector<int> ids;
    for (const V y : outputs_) ids.push_back(y.id);
    for (const V d : derivatives()) {
      found->further.push_back(static_cast<bool>(d));
      if (d) ids.push_back(d.id);
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

  void name_inputs() {
    for (std::size_t i = 0; i < q_.inputs.size(); ++i) {
      const Tensor& x = q_.inputs[i];
      V v = inputs_[i];
      const bool known = PLANTED("step-count-compiled-into-the-plan") && is_integer(x.type) && x.shape.empty();
      if (known) v = constant(g_, x.type, x.data[0]);
      values_.emplace(q_.program->at("inputs").at(i).at("name").get<std::string>(), v);
    }
  }

  void lower(const Json& call) {
    if (!call.contains("operation")) throw Unsupported("request", "only calls are offered");
    const auto name = call.at("operation").get<std::string>();
    const auto how = lowerings().find(name);
    if (how == lowerings().end()) throw Unsupported("operation", name + " is not offered");
    std::vector<V> operands;
    for (const Json& o : call.at("operands")) operands.push_back(o.is_null() ? V{} : values_.at(o.get<std::string>()));
    static const Json none = Json::object();
    const Call c(g_, call.contains("attributes") ? call["attributes"] : none, std::move(operands), values_);
    const Results found = how->second(c);
    const Json& names = call.at("results");
    if (names.size() != found.size()) throw std::runtime_error(name + " has another number of results");
    for (std::size_t k = 0; k < found.size(); ++k) values_[names[k].get<std::string>()] = store(found[k]);
  }

  /// Tangents of the outputs, or cotangents of the inputs; zero where nothing moves, none where nothing can.
  std::vector<V> derivatives() {
    std::vector<V> found;
    if (q_.mode == "forward") return found;
    std::size_t next = 0;
    if (q_.mode == "jvp") {
      std::map<int, V> seeds;
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (!q_.seeded[i]) continue;
        const V seed = seeds_[next++];
        if (q_.wrt[i]) seeds.emplace(inputs_[i].id, seed);
      }
      const std::vector<V> moves = tangents(g_, outputs_, seeds);
      for (std::size_t i = 0; i < outputs_.size(); ++i) found.push_back(finished(outputs_[i], moves[i], true));
      return found;
    }
    std::vector<V> seeds;
    for (const bool s : q_.seeded) seeds.push_back(s ? seeds_[next++] : V{});
    seeds.resize(outputs_.size());
    const std::vector<V> back = cotangents(g_, outputs_, seeds, inputs_);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      found.push_back(finished(inputs_[i], back[i] ? back[i] + 0 : V{}, q_.wrt[i]));
    return found;
  }

  V finished(V x, V d, bool wanted) {
    if (!wanted || !is_real(x.type())) return {};
    return store(d ? d : constant(g_, x.type(), 0, x.shape()));
  }

  const Question& q_;
  Graph g_;
  std::vector<V> inputs_, seeds_, outputs_;
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

}  // namespace blind
