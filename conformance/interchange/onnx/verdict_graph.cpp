#include "conformance/interchange/onnx/verdict_graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "conformance/interchange/onnx/write_model.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

[[nodiscard]] HostTensor filled(const Way& way, DType dtype, double number) {
  HostTensor tensor(dtype, way.lower.dims);
  for (std::size_t i = 0; i < way.admits.size(); ++i) set_element(tensor, i, number);
  return tensor;
}

[[nodiscard]] bool any_admits(const Way& way, std::uint8_t flag) {
  return std::any_of(way.admits.begin(), way.admits.end(), [&](std::uint8_t admits) { return (admits & flag) != 0; });
}

/// 1 where the flag stands.
[[nodiscard]] HostTensor mask(const Way& way, std::uint8_t flag) {
  HostTensor tensor(DType::boolean, way.lower.dims);
  for (std::size_t i = 0; i < way.admits.size(); ++i)
    tensor.bytes[i] = std::byte{static_cast<unsigned char>((way.admits[i] & flag) != 0 ? 1 : 0)};
  return tensor;
}

/// A box of the elements with the flag; the others have an empty one, from inf to -inf.
void add_box(Alternatives& all, const Way& way, std::uint8_t flag, const std::string& suffix, const HostTensor& lower,
             const HostTensor& upper) {
  HostTensor low = lower, high = upper;
  for (std::size_t i = 0; i < way.admits.size(); ++i) {
    if ((way.admits[i] & flag) != 0) continue;
    set_element(low, i, infinity);
    set_element(high, i, -infinity);
  }
  all.box(suffix, std::move(low), std::move(high));
}

void add_way(Alternatives& all, const Way& way, DType dtype) {
  if (dtype == DType::boolean) return all.add(all.node("Equal", {"y", all.input("expected", way.lower)}));
  if (kind_of(dtype) == Kind::integer) return all.box("", way.lower, way.upper);
  add_box(all, way, reference::admits_finite, "", way.lower, way.upper);
  for (const auto& [flag, suffix, end] : {std::tuple(reference::admits_positive_infinity, "_inf", infinity),
                                          std::tuple(reference::admits_negative_infinity, "_minus_inf", -infinity)}) {
    if (any_admits(way, flag)) add_box(all, way, flag, suffix, filled(way, dtype, end), filled(way, dtype, end));
  }
  if (any_admits(way, reference::admits_nan))
    all.add(all.node("And", {all.node("IsNaN", {"y"}), all.input("admits_nan", mask(way, reference::admits_nan))}));
  if (any_admits(way, reference::undecided)) all.add(all.input("admits_anything", mask(way, reference::undecided)));
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
