#include "conformance/interchange/onnx/verdict_graph.hpp"

#include <map>
#include <optional>
#include <utility>

#include "conformance/interchange/alternatives.hpp"
#include "conformance/interchange/onnx/write_model.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Grows by one alternative after the other, element by element, and by one box after the other; the last node is named `verdict`.
class Alternatives {
 public:
  std::string input(const std::string& name, HostTensor tensor) {
    graph_.inputs.emplace_back(name + of_way_, std::move(tensor));
    return graph_.inputs.back().first;
  }
  std::string node(const char* operation, std::vector<std::string> inputs, std::map<std::string, AttributeValue> attributes = {}) {
    const std::string name = "t" + std::to_string(graph_.nodes.size());
    graph_.nodes.push_back({name, operation, "", std::move(inputs), {name}, std::move(attributes)});
    return name;
  }
  /// lower <= y <= upper
  void box(const std::string& suffix, HostTensor lower, HostTensor upper) {
    const std::string below = node("LessOrEqual", {input("lower" + suffix, std::move(lower)), "y"});
    const std::string above = node("LessOrEqual", {"y", input("upper" + suffix, std::move(upper))});
    add(node("And", {below, above}));
  }
  void add(const std::string& alternative) { elements_ = elements_ ? node("Or", {*elements_, alternative}) : alternative; }

  /// What was added since is one of several boxes: it admits where all of its elements do.
  void end_of_way() {
    const std::int64_t truth = type_of(DType::boolean), number = type_of(DType::f32);
    const std::string numbers = node("Cast", {*elements_}, {{"to", number}});
    const std::string least = node("ReduceMin", {numbers}, {{"keepdims", std::int64_t{0}}});
    const std::string admits = node("Cast", {least}, {{"to", truth}});
    whole_ = whole_ ? node("Or", {*whole_, admits}) : admits;
    elements_.reset();
    of_way_ = "_" + std::to_string(++ways_);
  }

  [[nodiscard]] VerdictGraph finished(const Dims& dims) {
    if (!whole_) graph_.verdict = dims;
    graph_.nodes.back().outputs = {"verdict"};
    return std::move(graph_);
  }

 private:
  VerdictGraph graph_;
  std::optional<std::string> elements_, whole_;
  std::string of_way_;
  std::size_t ways_ = 1;
};

void add_way(Alternatives& all, const Way& way, DType dtype) {
  using Kind = interchange::Alternative::Kind;
  for (interchange::Alternative& one : interchange::alternatives_of(way, dtype)) {
    switch (one.kind) {
      case Kind::equal: all.add(all.node("Equal", {"y", all.input("expected", std::move(one.lower))})); break;
      case Kind::box: all.box(one.suffix, std::move(one.lower), std::move(one.upper)); break;
      case Kind::nan: all.add(all.node("And", {all.node("IsNaN", {"y"}), all.input("admits_nan", std::move(one.lower))})); break;
      case Kind::anything: all.add(all.input("admits_anything", std::move(one.lower))); break;
    }
  }
}

}  // namespace

VerdictGraph verdict_graph(std::span<const Way> ways, DType dtype) {
  Alternatives all;
  for (const Way& way : ways) {
    add_way(all, way, dtype);
    if (ways.size() > 1) all.end_of_way();
  }
  return all.finished(ways.front().lower.dims);
}

}  // namespace etalon::conformance::onnx
