#include "conformance/interchange/onnx/verdict_graph.hpp"

#include <optional>

#include "conformance/interchange/alternatives.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Grows by one alternative after the other; the last join is named `verdict`.
class Alternatives {
 public:
  std::string input(const std::string& name, HostTensor tensor) {
    graph_.inputs.emplace_back(name, std::move(tensor));
    return name;
  }
  std::string node(const char* operation, std::vector<std::string> inputs) {
    const std::string name = "t" + std::to_string(graph_.nodes.size());
    graph_.nodes.push_back({name, operation, "", std::move(inputs), {name}, {}});
    return name;
  }
  /// lower <= y <= upper
  void box(const std::string& suffix, HostTensor lower, HostTensor upper) {
    const std::string below = node("LessOrEqual", {input("lower" + suffix, std::move(lower)), "y"});
    const std::string above = node("LessOrEqual", {"y", input("upper" + suffix, std::move(upper))});
    add(node("And", {below, above}));
  }
  void add(const std::string& alternative) { all_ = all_ ? node("Or", {*all_, alternative}) : alternative; }

  [[nodiscard]] VerdictGraph finished() {
    graph_.nodes.back().outputs = {"verdict"};
    return std::move(graph_);
  }

 private:
  VerdictGraph graph_;
  std::optional<std::string> all_;
};

}  // namespace

VerdictGraph verdict_graph(const Way& way, DType dtype) {
  using interchange::Alternative;
  Alternatives all;
  for (Alternative& one : interchange::alternatives_of(way, dtype)) {
    switch (one.kind) {
      case Alternative::Kind::equal: all.add(all.node("Equal", {"y", all.input("expected", std::move(one.lower))})); break;
      case Alternative::Kind::box: all.box(one.suffix, std::move(one.lower), std::move(one.upper)); break;
      case Alternative::Kind::nan:
        all.add(all.node("And", {all.node("IsNaN", {"y"}), all.input("admits_nan", std::move(one.lower))}));
        break;
      case Alternative::Kind::anything: all.add(all.input("admits_anything", std::move(one.lower))); break;
    }
  }
  return all.finished();
}

}  // namespace etalon::conformance::onnx
