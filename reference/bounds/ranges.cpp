#include "reference/bounds/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "reference/bounds/envelope.hpp"
#include "reference/bounds/evaluator.hpp"
#include "reference/bounds/some_elements.hpp"
#include "spec/error.hpp"

namespace etalon::reference {
namespace bounds {
namespace {

/// A box as what is known of an input; the reference is the centre, from which errors reach least far.
std::optional<Envelope> known_of(const spec::TensorInfo& input, const std::optional<Box>& box) {
  if (!box) return std::nullopt;
  const auto count = static_cast<std::size_t>(input.dims.count());
  if (kind_of(input.dtype) != Kind::real) throw SpecViolation("ranges: input " + input.name + " is not real, and has a box");
  if (box->lower.size() != count || box->upper.size() != count) {
    throw SpecViolation("ranges: the box of input " + input.name + " has " + std::to_string(box->lower.size()) + " and " +
                        std::to_string(box->upper.size()) + " ends, expected " + std::to_string(count) + " of each");
  }
  Envelope known;
  known.dims = input.dims;
  known.dtype = input.dtype;
  known.lower = box->lower;
  known.upper = box->upper;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(std::isfinite(box->lower[i]) && std::isfinite(box->upper[i]) && box->lower[i] <= box->upper[i])) {
      throw SpecViolation("ranges: element " + std::to_string(i) + " of the box of input " + input.name + " is from " +
                          std::to_string(box->lower[i]) + " to " + std::to_string(box->upper[i]));
    }
    known.reference.push_back(box->lower[i] + (box->upper[i] - box->lower[i]) / 2);
  }
  return known;
}

void require_fitting(const spec::System& system, std::span<const HostTensor> inputs, std::size_t boxes) {
  if (inputs.size() != system.inputs.size() || boxes > inputs.size()) {
    throw SpecViolation("ranges: expected " + std::to_string(system.inputs.size()) + " inputs, found " + std::to_string(inputs.size()) +
                        " and " + std::to_string(boxes) + " boxes");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& want = system[system.inputs[i]];
    if (inputs[i].dtype == want.dtype && inputs[i].dims == want.dims) continue;
    throw SpecViolation("ranges: input " + want.name + " is " + std::string(name_of(want.dtype)) + to_string(want.dims) + ", found " +
                        std::string(name_of(inputs[i].dtype)) + to_string(inputs[i].dims));
  }
}

/// The elements that combinations name, each once.
std::vector<std::vector<std::size_t>> wanted_of(const spec::System& system, std::span<const Combination> combinations) {
  std::vector<std::vector<std::size_t>> wanted(system.outputs.size());
  for (const Combination& c : combinations) {
    for (const Term& t : c) {
      const bool known = t.output < wanted.size() && kind_of(system[system.outputs[t.output]].dtype) == Kind::real &&
                         t.element < static_cast<std::size_t>(system[system.outputs[t.output]].dims.count());
      if (!known) {
        throw SpecViolation("ranges: element " + std::to_string(t.element) + " of output " + std::to_string(t.output) +
                            " is no real element of the system");
      }
      wanted[t.output].push_back(t.element);
    }
  }
  for (auto& elements : wanted) {
    std::sort(elements.begin(), elements.end());
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  }
  return wanted;
}

template <class R>
class Ranging {
 public:
  Ranging(const spec::System& system, Evaluator<R>& evaluator, const std::vector<std::vector<std::size_t>>& wanted, Narrowing narrowing)
      : system_(system), evaluator_(evaluator), wanted_(wanted), narrowing_(narrowing) {}

  [[nodiscard]] OutputRange of(const Combination& combination) {
    Interval by_boxes;
    Interval reference;
    std::vector<Edge> edges;
    double local = 0;
    for (const Term& t : combination) {
      const std::vector<std::size_t>& elements = wanted_[t.output];
      const auto at = static_cast<std::size_t>(std::lower_bound(elements.begin(), elements.end(), t.element) - elements.begin());
      const Elements<R>& e = evaluator_.elements(system_.outputs[t.output]);
      const Value<R> v = evaluator_.real_at(system_.outputs[t.output], at);
      if (!v.ordinary() || (!e.decisions.empty() && e.decisions[at] != 0)) return {-infinity, infinity};
      by_boxes = by_boxes + just(t.factor) * v;
      reference = reference + just(t.factor) * Wide<R>::around(v.reference);
      local = add_up(local, mul_up(std::fabs(t.factor), v.local));
      if (v.node != no_node) edges.push_back({v.node, just(t.factor) * just(v.coefficient)});
    }
    const Interval all = narrowed(by_boxes, widened(reference, local), edges);
    return {all.lower, all.upper};
  }

 private:
  /// By the errors of the nodes that the combination hangs on.
  [[nodiscard]] Interval narrowed(Interval box, const Interval& around, const std::vector<Edge>& edges) {
    if (narrowing_ == Narrowing::intervals) return box;
    Tape& tape = evaluator_.tape();
    constexpr std::size_t without_limit = std::numeric_limits<std::size_t>::max();
    const NodeId root = tape.open(0);
    for (const Edge& e : edges) tape.edge(e);
    const auto take = [&](const Interval& error) {
      const Interval other = around + error;
      if (other.lower > box.lower) box.lower = other.lower;
      if (other.upper < box.upper) box.upper = other.upper;
    };
    if (narrowing_ != Narrowing::lines) {
      const double error = tape.error(root, without_limit).bound;
      take({-error, error});
    }
    if (narrowing_ != Narrowing::sweep) take(tape.error_by_lines(root, without_limit));
    // The value is in each of them.
    if (!(box.lower <= box.upper)) throw InternalError("ranges: what is known of a value in two ways has nothing in common");
    return box;
  }

  const spec::System& system_;
  Evaluator<R>& evaluator_;
  const std::vector<std::vector<std::size_t>>& wanted_;
  Narrowing narrowing_;
};

template <class R>
std::vector<OutputRange> ranges_in(const spec::System& system, std::span<const HostTensor> inputs, std::span<const Envelope* const> within,
                             const spec::Contract& contract, std::span<const Combination> combinations, Narrowing narrowing) {
  const auto wanted = wanted_of(system, combinations);
  const spec::System some = with_some_elements(inline_single_uses(system), wanted);
  const Plan planned = plan(some);
  Decisions decisions;
  DecisionSets sets;
  Evaluator<R> evaluator(some, planned, inputs, contract, decisions, sets, within);
  evaluator.over_boxes(narrowing);
  evaluator.run();
  Ranging<R> ranging(some, evaluator, wanted, narrowing);
  std::vector<OutputRange> all;
  for (const Combination& c : combinations) all.push_back(ranging.of(c));
  return all;
}

}  // namespace
}  // namespace bounds

std::vector<OutputRange> ranges(const spec::System& system, std::span<const HostTensor> inputs, std::span<const std::optional<Box>> boxes,
                          const spec::Contract& contract, std::span<const Combination> combinations, bounds::Narrowing narrowing) {
  bounds::require_fitting(system, inputs, boxes.size());
  std::vector<std::optional<Envelope>> known;
  for (std::size_t i = 0; i < boxes.size(); ++i) known.push_back(bounds::known_of(system[system.inputs[i]], boxes[i]));
  std::vector<const Envelope*> within;
  for (const auto& k : known) within.push_back(k ? &*k : nullptr);
  const bool wide = std::any_of(system.tensors.begin(), system.tensors.end(), [](const auto& t) { return t.dtype == DType::f64; });
  if (wide) return bounds::ranges_in<bounds::Quad>(system, inputs, within, contract, combinations, narrowing);
  return bounds::ranges_in<double>(system, inputs, within, contract, combinations, narrowing);
}

}  // namespace etalon::reference
