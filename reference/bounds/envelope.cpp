// From a system to the envelopes of its outputs: one pass, then further passes with open decisions forced.
#include "reference/bounds/envelope.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/bounds/evaluator.hpp"
#include "reference/bounds/host_element.hpp"
#include "reference/bounds/roundings.hpp"
#include "reference/bounds/some_elements.hpp"
#include "reference/interruptible.hpp"
#include "spec/error.hpp"

namespace etalon::reference {
namespace bounds {
namespace {

using Wanted = std::vector<std::vector<std::size_t>>;  // per output, row-major positions

constexpr std::size_t sweep_budget = std::size_t{1} << 27U;  // edges over all sweeps of one pass
constexpr std::size_t branch_budget = std::size_t{1} << 26U; // steps over all passes with forced decisions
constexpr std::size_t most_decisions = 10;                   // of one component, on any branch
constexpr std::size_t most_branches = 1024;

struct Place {
  std::size_t output = 0;
  std::size_t element = 0;
};

/// Elements that hang on common decisions, and what is still to be tried.
struct Component {
  std::vector<Place> places;
  std::vector<Forced> pending;  ///< deepest last and tried first, so that one that is too deep is found in few passes
  std::vector<std::vector<Admitted>> branches;
  bool given_up = false;
};

/// The elements' values as doubles, and intervals, of one pass.
template <class R>
class Reading {
 public:
  Reading(const spec::System& system, const std::vector<std::uint8_t>& roundings, Evaluator<R>& evaluator)
      : system_(system), roundings_(roundings), evaluator_(evaluator) {}

  [[nodiscard]] Admitted interval(const Place& at, std::size_t& interval_only_count) {
    if (interruptible_ != nullptr) interruptible_->ask_in_time();
    const spec::TensorId t = system_.outputs[at.output];
    const DType dtype = system_[t].dtype;
    if (kind_of(dtype) != Kind::real) {
      const std::int64_t n = integer(at);
      const auto x = static_cast<double>(n);
      return {.lower = x, .upper = x, .exact = n};
    }
    const Value<R> v = evaluator_.real_at(t, at.element);
    const auto flags = static_cast<std::uint8_t>(v.flags & ~interval_only);
    if (v.may(interval_only)) return special(v, flags, Rounding::of(dtype));
    if (v.exact() && v.lower <= v.upper) return {v.lower, v.upper, flags};
    double error = v.local;
    double deviation = v.local;
    if (v.node != no_node) {
      const Error below = evaluator_.tape().error(v.node, sweep_budget);
      error = add_up(error, mul_up(std::fabs(v.coefficient), below.bound));
      deviation += std::fabs(v.coefficient) * below.deviation;
    }
    // The reference itself is rounded to a double where errors are taken.
    if (dtype == DType::f64) deviation += Wide<double>::unit * std::fabs(static_cast<double>(v.reference));
    if (!(2 * deviation < error)) deviation = std::numeric_limits<double>::infinity();
    if (!(error < std::numeric_limits<double>::infinity())) {
      ++interval_only_count;
      return {v.lower, v.upper, flags};
    }
    Admitted in{low_end(v.reference, error), high_end(v.reference, error), flags, deviation};
    // A box without a double inside has ends that are rounded inwards: it cuts nothing off.
    if (v.lower <= v.upper) {
      in.lower = std::max(v.lower, in.lower);
      in.upper = std::min(v.upper, in.upper);
    }
    if (roundings_[static_cast<std::size_t>(t)] > 1) admit_neighbours(in, v.reference, dtype);
    return in;
  }

  [[nodiscard]] std::int64_t integer(const Place& at) const {
    const Elements<R>& e = evaluator_.elements(system_.outputs[at.output]);
    return e.input != nullptr ? integer_element(*e.input, at.element) : e.integers[at.element];
  }

  [[nodiscard]] DecisionSet decisions(const Place& at) const {
    const Elements<R>& e = evaluator_.elements(system_.outputs[at.output]);
    return e.decisions.empty() ? 0 : e.decisions[at.element];
  }

 private:
  [[nodiscard]] static Admitted special(const Value<R>& v, std::uint8_t flags, const Rounding& format) {
    Admitted i{v.lower, v.upper, flags};
    if (!v.may(admits_finite)) return i;
    // What is beyond the format everywhere cannot be finite once it is stored.
    if (v.lower >= format.overflow || v.upper <= -format.overflow) i.flags = static_cast<std::uint8_t>(flags & ~admits_finite);
    // An end that is not a number (its own arithmetic overflowed) says nothing.
    if (!(i.lower >= -format.omega)) i.lower = -format.omega;
    if (!(i.upper <= format.omega)) i.upper = format.omega;
    return i;
  }
  /// Where the text rounds more than once, a faithful answer is one whatever the arrangement.
  static void admit_neighbours(Admitted& in, R reference, DType dtype) {
    const Neighbours next = neighbours(reference, dtype);
    in.lower = std::min(in.lower, next.lower);
    in.upper = std::max(in.upper, next.upper);
  }
  static double low_end(double r, double e) { return sub_down(r, e); }
  static double high_end(double r, double e) { return add_up(r, e); }
  // No double that is not below r - e is below its rounding.
  static double low_end(Quad r, double e) { return Wide<Quad>::around(r - static_cast<Quad>(e)).upper; }
  static double high_end(Quad r, double e) { return Wide<Quad>::around(r + static_cast<Quad>(e)).lower; }

  const spec::System& system_;
  const std::vector<std::uint8_t>& roundings_;
  Evaluator<R>& evaluator_;
  Interruptible* interruptible_ = Interruptible::innermost();
};

template <class R>
class Derivation {
 public:
  Derivation(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract,
             std::span<const Envelope* const> within, const Wanted* wanted)
      : system_(inline_single_uses(system)), roundings_(roundings_of_texts(system_)), inputs_(inputs),
        within_(within),
        contract_(contract) {
    if (wanted != nullptr) restrict(*wanted);
    plan_ = plan(system_);
  }

  Envelopes run() {
    Evaluator<R> evaluator(system_, plan_, inputs_, contract_, decisions_, sets_, within_);
    evaluator.run();
    fill(evaluator);
    find_components(evaluator);
    try_branches(evaluator);
    for (std::size_t c = 0; c < components_.size(); ++c) record(c);
    for (std::size_t o = 0; o < result_.outputs.size(); ++o) mark_vacuous(o);
    return std::move(result_);
  }

 private:
  /// To these elements of the outputs, which keep the roundings of their texts.
  void restrict(const Wanted& wanted) {
    spec::System some = with_some_elements(system_, wanted);
    roundings_.resize(some.tensors.size());
    for (std::size_t o = 0; o < some.outputs.size(); ++o)
      roundings_[static_cast<std::size_t>(some.outputs[o])] = roundings_[static_cast<std::size_t>(system_.outputs[o])];
    system_ = std::move(some);
  }

  void fill(Evaluator<R>& pass) {
    Reading<R> reading(system_, roundings_, pass);
    scales_.resize(system_.outputs.size());
    for (std::size_t o = 0; o < system_.outputs.size(); ++o) {
      const spec::TensorId t = system_.outputs[o];
      Envelope e;
      e.dims = system_[t].dims;
      e.dtype = system_[t].dtype;
      const auto count = static_cast<std::size_t>(e.dims.count());
      const bool real = kind_of(e.dtype) == Kind::real;
      for (std::size_t i = 0; i < count; ++i) {
        const Admitted in = reading.interval({o, i}, result_.interval_only);
        e.lower.push_back(in.lower);
        e.upper.push_back(in.upper);
        e.flags.push_back(in.flags);
        e.deviation.push_back(in.deviation);
        if (real) {
          const Value<R> v = pass.real_at(t, i);
          e.reference.push_back(static_cast<double>(v.reference));
          scales_[o].push_back(v.scale);
        } else {
          e.exact.push_back(reading.integer({o, i}));
          e.reference.push_back(in.lower);
        }
      }
      result_.outputs.push_back(std::move(e));
    }
    result_.nodes = pass.tape().size();
  }

  void give_up(const Place& at) { result_.outputs[at.output].flags[at.element] |= undecided | given_up; }

  void find_components(Evaluator<R>& pass) {
    const Reading<R> reading(system_, roundings_, pass);
    std::vector<DecisionId> parent(decisions_.size());
    std::iota(parent.begin(), parent.end(), DecisionId{0});
    const auto root = [&](DecisionId d) {
      while (parent[d] != d) d = parent[d] = parent[parent[d]];
      return d;
    };
    std::vector<std::pair<Place, DecisionId>> hanging;
    for (std::size_t o = 0; o < result_.outputs.size(); ++o) {
      for (std::size_t i = 0; i < result_.outputs[o].flags.size(); ++i) {
        const DecisionSet set = reading.decisions({o, i});
        if (set == 0) continue;
        if (set == DecisionSets::too_many) {
          give_up({o, i});
          continue;
        }
        const auto& members = sets_.members(set);
        for (const DecisionId d : members) parent[root(d)] = root(members[0]);
        hanging.push_back({{o, i}, members[0]});
      }
    }
    std::map<DecisionId, std::size_t> index;
    for (const auto& [place, d] : hanging) {
      const auto [at, fresh] = index.try_emplace(root(d), components_.size());
      if (fresh) components_.push_back({{}, {Forced{}}, {}, false});
      components_[at->second].places.push_back(place);
    }
    result_.open_decisions = decisions_.size();
  }

  /// Runs passes, each with one pending assignment of every component, until none is left.
  void try_branches(Evaluator<R>& evaluator) {
    const std::size_t steps_per_pass = evaluator.steps() + 1;
    for (std::size_t passes = 0;; ++passes) {
      Forced forced;
      bool any = false;
      for (Component& c : components_) {
        if (passes * steps_per_pass > branch_budget || c.branches.size() >= most_branches) c.given_up = !c.pending.empty() || c.given_up;
        if (c.given_up) c.pending.clear();
        if (c.pending.empty()) continue;
        any = true;
        forced.insert(c.pending.back().begin(), c.pending.back().end());
      }
      if (!any) return;
      evaluator.run_again(forced);
      Reading<R> reading(system_, roundings_, evaluator);
      for (Component& c : components_) {
        if (!c.pending.empty()) advance(c, reading);
      }
    }
  }

  /// Takes the pass as a branch when it left nothing open; otherwise splits on the first open decision.
  void advance(Component& c, Reading<R>& reading) {
    const Forced forced = std::move(c.pending.back());
    c.pending.pop_back();
    for (const Place& at : c.places) {
      const DecisionSet set = reading.decisions(at);
      if (set == DecisionSets::too_many) {
        c.given_up = true;
        return;
      }
      for (const DecisionId d : sets_.members(set)) {
        if (forced.count(d) != 0) continue;
        if (forced.size() >= most_decisions) {
          c.given_up = true;
          return;
        }
        for (const std::int64_t a : decisions_.answers(d)) {
          Forced child = forced;
          child[d] = a;
          c.pending.push_back(std::move(child));
        }
        return;
      }
    }
    std::vector<Admitted> branch;
    for (const Place& at : c.places) branch.push_back(reading.interval(at, result_.interval_only));
    c.branches.push_back(std::move(branch));
  }

  void record(std::size_t index) {
    const Component& c = components_[index];
    if (c.given_up || c.branches.empty()) {
      for (const Place& at : c.places) give_up(at);
      return;
    }
    std::vector<Alternatives> parts(result_.outputs.size());
    for (std::size_t i = 0; i < c.places.size(); ++i) {
      const auto [output, element] = c.places[i];
      Alternatives& part = parts[output];
      part.component = index;
      part.branches.resize(c.branches.size());
      part.elements.push_back(element);
      Envelope& e = result_.outputs[output];
      Admitted hull = c.branches[0][i];
      for (std::size_t b = 0; b < c.branches.size(); ++b) {
        const Admitted& in = c.branches[b][i];
        part.branches[b].push_back(in);
        if ((hull.flags & admits_finite) == 0) hull = {in.lower, in.upper, static_cast<std::uint8_t>(hull.flags | in.flags)};
        else if ((in.flags & admits_finite) != 0) {
          hull.lower = std::min(hull.lower, in.lower);
          hull.upper = std::max(hull.upper, in.upper);
        }
        hull.flags |= in.flags;
      }
      e.lower[element] = hull.lower;
      e.upper[element] = hull.upper;
      e.flags[element] = hull.flags;
    }
    for (std::size_t o = 0; o < parts.size(); ++o) {
      if (!parts[o].elements.empty()) result_.outputs[o].alternatives.push_back(std::move(parts[o]));
    }
  }

  /// An interval wider than everything that the element was made of says nothing.
  void mark_vacuous(std::size_t o) {
    Envelope& e = result_.outputs[o];
    if (kind_of(e.dtype) != Kind::real) return;
    // Beside infinities the interval alone counts: its centre serves where the reference lies outside.
    const auto centre = [&](std::size_t i) {
      const double r = e.reference[i];
      return r >= e.lower[i] && r <= e.upper[i] ? r : e.lower[i] / 2 + e.upper[i] / 2;
    };
    double largest = Rounding::of(e.dtype).tau;
    for (std::size_t i = 0; i < e.flags.size(); ++i) {
      if ((e.flags[i] & admits_finite) != 0) largest = std::max(largest, std::fabs(centre(i)));
    }
    for (std::size_t i = 0; i < e.flags.size(); ++i) {
      if ((e.flags[i] & admits_finite) == 0) continue;
      const double own = std::isfinite(scales_[o][i]) ? scales_[o][i] : 0;
      const double reach = std::max(e.upper[i] - centre(i), centre(i) - e.lower[i]);
      if (e.lower[i] != e.upper[i] && !(reach <= std::max(largest, own))) e.flags[i] |= undecided;
    }
  }

  spec::System system_;
  std::vector<std::uint8_t> roundings_;
  Plan plan_;
  std::span<const HostTensor> inputs_;
  std::span<const Envelope* const> within_;
  const spec::Contract& contract_;
  Decisions decisions_;
  DecisionSets sets_;
  std::vector<Component> components_;
  std::vector<std::vector<double>> scales_;
  Envelopes result_;
};

void check(const spec::System& system, std::span<const HostTensor> inputs, std::span<const Envelope* const> within) {
  if (inputs.size() != system.inputs.size()) {
    throw SpecViolation("bounds: expected " + std::to_string(system.inputs.size()) + " inputs, found " +
                        std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& want = system[system.inputs[i]];
    if (inputs[i].dtype != want.dtype || !(inputs[i].dims == want.dims)) {
      throw SpecViolation("bounds: input " + want.name + " is " + std::string(name_of(want.dtype)) +
                          to_string(want.dims) + ", found " + std::string(name_of(inputs[i].dtype)) +
                          to_string(inputs[i].dims));
    }
    const Envelope* box = i < within.size() ? within[i] : nullptr;
    if (box != nullptr && (box->dtype != want.dtype || !(box->dims == want.dims))) {
      throw InternalError("bounds: what is known of input " + want.name + " is of another type");
    }
  }
}

bool has_doubles(const spec::System& system) {
  return std::any_of(system.tensors.begin(), system.tensors.end(), [](const auto& t) { return t.dtype == DType::f64; });
}

/// Whether some input is an integer that no double is: made real, it would be rounded before it is rounded.
bool has_integers_beyond_doubles(std::span<const HostTensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const HostTensor& t) {
    if (t.dtype != DType::i64) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      const std::int64_t n = integer_element(t, i);
      if (!Wide<double>::is_integer(static_cast<double>(n), n)) return true;
    }
    return false;
  });
}

}  // namespace
}  // namespace bounds

namespace {

Envelopes derived(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract,
                  std::span<const Envelope* const> within, const std::vector<std::vector<std::size_t>>* wanted) {
  bounds::check(system, inputs, within);
  const bool wide = bounds::has_doubles(system) || bounds::has_integers_beyond_doubles(inputs);
  if (wide) return bounds::Derivation<bounds::Quad>(system, inputs, contract, within, wanted).run();
  return bounds::Derivation<double>(system, inputs, contract, within, wanted).run();
}

}  // namespace

Envelopes envelopes(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract,
                    std::span<const Envelope* const> within) {
  return derived(system, inputs, contract, within, nullptr);
}

Envelopes envelopes_of_elements(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract,
                                const std::vector<std::vector<std::size_t>>& wanted) {
  return derived(system, inputs, contract, {}, &wanted);
}

}  // namespace etalon::reference
