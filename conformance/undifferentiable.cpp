#include "conformance/undifferentiable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/carried_seeds.hpp"
#include "conformance/flat_steps.hpp"
#include "conformance/values.hpp"
#include "spec/derivative/derivative.hpp"

namespace etalon::conformance {
namespace {

constexpr std::uint8_t no_number = reference::admits_nan | reference::admits_positive_infinity | reference::admits_negative_infinity;

[[nodiscard]] bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

[[nodiscard]] bool may(const reference::Envelope& e, std::size_t i, std::uint8_t what) { return (e.flags[i] & what) != 0; }

[[nodiscard]] bool is_ordinary(const HostTensor& t) {
  if (!is_real(t.dtype)) return true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    if (!std::isfinite(element(t, i))) return false;
  }
  return true;
}

[[nodiscard]] bool holds_nan(const HostTensor& t) {
  if (!is_real(t.dtype)) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    if (std::isnan(element(t, i))) return true;
  }
  return false;
}

void replace_nan(HostTensor& t, double by) {
  if (!is_real(t.dtype)) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    if (std::isnan(element(t, i))) set_element(t, i, by);
  }
}

class Search {
 public:
  Search(const spec::System& system, std::span<const HostTensor> inputs, const DerivativeLayout& layout,
         const reference::Envelopes& bounds, const spec::Contract& contract)
      : system_(system), inputs_(inputs), layout_(layout), bounds_(bounds), contract_(contract) {}

  /// Tangents stand beside their values, one for each real result; and where an operand is infinite the tangents that
  /// depend on it are such as well, however the value comes out.
  [[nodiscard]] Freedoms of_tangents() const {
    Freedoms freedoms(bounds_.outputs.size());
    std::size_t tangent = layout_.results;
    for (std::size_t r = 0; r < layout_.results; ++r) {
      const reference::Envelope& value = bounds_.outputs[r];
      if (!is_real(value.dtype)) continue;
      auto& of = freedoms[tangent++];
      for (std::size_t i = 0; i < value.flags.size(); ++i) of.push_back(beside(value, i));
    }
    const auto operands = inputs_.first(layout_.operands);
    std::vector<HostTensor> poisoned(operands.begin(), operands.end());
    for (const std::size_t w : layout_.wrt) poisoned.push_back(poisoned_tangent(inputs_[w]));
    mark_reached(freedoms, Freedom::no_number, poisoned);
    return freedoms;
  }

  [[nodiscard]] Freedoms of_cotangents() const {
    Freedoms freedoms(bounds_.outputs.size());
    for (std::size_t d = 0; d < layout_.wrt.size(); ++d) {
      const HostTensor& operand = inputs_[layout_.wrt[d]];
      auto& of = freedoms[layout_.results + d];
      // What does not depend on an operand that is NaN has no derivative by it either: that stays exact.
      for (std::size_t i = 0; i < static_cast<std::size_t>(operand.dims.count()); ++i)
        of.push_back(std::isinf(element(operand, i)) ? Freedom::no_number : Freedom::none);
    }
    for (const Freedom least : {Freedom::no_number, Freedom::all}) reach(freedoms, least);
    return freedoms;
  }

 private:
  [[nodiscard]] static Freedom beside(const reference::Envelope& value, std::size_t i) {
    if (may(value, i, reference::admits_nan)) return Freedom::all;
    return may(value, i, no_number) ? Freedom::no_number : Freedom::none;
  }

  [[nodiscard]] static HostTensor poisoned_tangent(const HostTensor& operand) {
    HostTensor seed(operand.dtype, operand.dims);
    for (std::size_t i = 0; i < static_cast<std::size_t>(operand.dims.count()); ++i)
      set_element(seed, i, std::isinf(element(operand, i)) ? std::numeric_limits<double>::quiet_NaN() : 1.0);
    return seed;
  }

  /// Seeds that are NaN beside such values: what they reach is a derivative of one. A comparison with NaN chooses one of
  /// two branches and might as well have chosen the other: infinities in place of NaN choose each.
  void reach(Freedoms& freedoms, Freedom least) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto operands = inputs_.first(layout_.operands);
    reach(freedoms, least, {operands.begin(), operands.end()});
    if (!std::any_of(operands.begin(), operands.end(), holds_nan)) return;
    for (const double instead : {infinity, -infinity}) {
      std::vector<HostTensor> chosen(operands.begin(), operands.end());
      for (HostTensor& t : chosen) replace_nan(t, instead);
      reach(freedoms, least, std::move(chosen));
    }
  }

  void reach(Freedoms& freedoms, Freedom least, std::vector<HostTensor> operands) const {
    for (std::size_t r = 0; r < layout_.results; ++r) {
      const reference::Envelope& value = bounds_.outputs[r];
      if (!is_real(value.dtype)) continue;
      HostTensor seed(value.dtype, value.dims);
      for (std::size_t i = 0; i < value.flags.size(); ++i)
        set_element(seed, i, beside(value, i) >= least ? std::numeric_limits<double>::quiet_NaN() : 1.0);
      operands.push_back(std::move(seed));
    }
    mark_reached(freedoms, least, operands);
  }

  /// Raises the freedom of the derivatives that are NaN where these seeds are.
  void mark_reached(Freedoms& freedoms, Freedom least, std::vector<HostTensor> poisoned) const {
    // Tangents of a second derivative stand behind the seeds of the first.
    poisoned.insert(poisoned.end(), inputs_.begin() + static_cast<std::ptrdiff_t>(poisoned.size()), inputs_.end());
    const reference::Envelopes reached = reference::envelopes(system_, poisoned, contract_);
    for (std::size_t d = layout_.results; d < freedoms.size(); ++d) {
      for (std::size_t i = 0; i < freedoms[d].size(); ++i) {
        if (may(reached.outputs[d], i, reference::admits_nan)) freedoms[d][i] = std::max(freedoms[d][i], least);
      }
    }
  }

  const spec::System& system_;
  std::span<const HostTensor> inputs_;
  const DerivativeLayout& layout_;
  const reference::Envelopes& bounds_;
  const spec::Contract& contract_;
};

[[nodiscard]] bool all_ordinary(std::span<const HostTensor> inputs, const DerivativeLayout& layout,
                                const reference::Envelopes& bounds) {
  for (std::size_t i = 0; i < layout.operands; ++i) {
    if (!is_ordinary(inputs[i])) return false;
  }
  for (std::size_t r = 0; r < layout.results; ++r) {
    const auto& flags = bounds.outputs[r].flags;
    if (std::any_of(flags.begin(), flags.end(), [](std::uint8_t f) { return (f & no_number) != 0; })) return false;
  }
  return true;
}

/// Raises the freedom of derivatives that would be no number if steps had a slope.
void mark_zero_slopes(Freedoms& freedoms, const spec::System& system, std::span<const HostTensor> inputs,
                      const DerivativeLayout& layout, const spec::Contract& contract) {
  if (layout.mode != spec::Mode::jvp && layout.mode != spec::Mode::vjp) return;
  const auto primal = with_sloping_steps(system, layout.operands, layout.results);
  if (!primal) return;
  const spec::System sloping = layout.mode == spec::Mode::jvp ? spec::jvp(*primal, layout.wrt) : spec::vjp(*primal, layout.wrt);
  const reference::Envelopes steep = reference::envelopes(sloping, inputs, contract);
  freedoms.resize(steep.outputs.size());
  for (std::size_t d = layout.results; d < freedoms.size(); ++d) {
    const reference::Envelope& e = steep.outputs[d];
    freedoms[d].resize(e.flags.size(), Freedom::none);
    for (std::size_t i = 0; i < e.flags.size(); ++i) {
      if (may(e, i, no_number)) freedoms[d][i] = std::max(freedoms[d][i], Freedom::zero_slope);
    }
  }
}

/// The seeds, each 0, or NaN where it is no number or is that of a value that may be none; empty where none is.
[[nodiscard]] std::vector<HostTensor> marked_seeds(std::span<const HostTensor> inputs, const DerivativeLayout& layout, const reference::Envelopes& bounds) {
  std::vector<HostTensor> seeds(inputs.begin() + static_cast<std::ptrdiff_t>(layout.operands), inputs.end());
  bool any = false;
  std::size_t result = 0;
  for (HostTensor& seed : seeds) {
    while (layout.mode == spec::Mode::vjp && result < layout.results && !is_real(bounds.outputs[result].dtype)) ++result;
    const bool of_value = layout.mode == spec::Mode::vjp && result < layout.results;
    for (std::size_t i = 0; i < static_cast<std::size_t>(seed.dims.count()); ++i) {
      const bool lost = !std::isfinite(element(seed, i)) || (of_value && may(bounds.outputs[result], i, no_number));
      set_element(seed, i, lost ? std::numeric_limits<double>::quiet_NaN() : 0.0);
      any = any || lost;
    }
    ++result;
  }
  return any ? seeds : std::vector<HostTensor>{};
}

/// Raises the freedom of derivatives that a seed which is no number reaches in a branch that is not taken.
void mark_carried_seeds(Freedoms& freedoms, const spec::System& system, std::span<const HostTensor> inputs,
                        const DerivativeLayout& layout, const reference::Envelopes& bounds, const spec::Contract& contract) {
  if (layout.mode != spec::Mode::jvp && layout.mode != spec::Mode::vjp) return;
  const std::vector<HostTensor> seeds = marked_seeds(inputs, layout, bounds);
  const auto carried = seeds.empty() ? std::nullopt : with_carried_seeds(system, layout.operands, layout.results);
  if (!carried) return;
  std::vector<HostTensor> all(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(layout.operands));
  all.insert(all.end(), seeds.begin(), seeds.end());
  const reference::Envelopes reached = reference::envelopes(*carried, all, contract);
  freedoms.resize(layout.results + reached.outputs.size());
  for (std::size_t d = 0; d < reached.outputs.size(); ++d) {
    const reference::Envelope& e = reached.outputs[d];
    std::vector<Freedom>& of = freedoms[layout.results + d];
    of.resize(e.flags.size(), Freedom::none);
    for (std::size_t i = 0; i < e.flags.size(); ++i) {
      if (may(e, i, reference::admits_nan)) of[i] = std::max(of[i], Freedom::zero_slope);
    }
  }
}

}  // namespace

DerivativeLayout layout_of(const spec::Request& request) {
  DerivativeLayout layout{request.mode, request.program.outputs.size(), request.inputs.size(), {}};
  for (std::size_t i = 0; i < request.wrt.size(); ++i) {
    if (request.wrt[i]) layout.wrt.push_back(i);
  }
  return layout;
}

Freedoms where_undifferentiable(const spec::System& system, std::span<const HostTensor> inputs, const DerivativeLayout& layout,
                                const reference::Envelopes& bounds, const spec::Contract& contract) {
  if (layout.mode == spec::Mode::forward) return {};
  Freedoms freedoms;
  if (!all_ordinary(inputs, layout, bounds)) {
    const Search search(system, inputs, layout, bounds, contract);
    freedoms = layout.mode == spec::Mode::jvp ? search.of_tangents() : search.of_cotangents();
  }
  mark_zero_slopes(freedoms, system, inputs, layout, contract);
  mark_carried_seeds(freedoms, system, inputs, layout, bounds, contract);
  return freedoms;
}

namespace {

/// What hangs on decisions may be NaN in each branch of theirs.
void admit_nan_in_branches(reference::Envelope& envelope, std::span<const Freedom> freedoms) {
  for (reference::Alternatives& a : envelope.alternatives) {
    for (std::size_t k = 0; k < a.elements.size(); ++k) {
      if (a.elements[k] >= freedoms.size()) continue;
      const Freedom freedom = freedoms[a.elements[k]];
      if (freedom != Freedom::zero_slope && freedom != Freedom::no_number) continue;
      for (auto& branch : a.branches) branch[k].flags |= reference::admits_nan;
    }
  }
}

}  // namespace

void admit(reference::Envelope& envelope, std::span<const Freedom> freedoms) {
  admit_nan_in_branches(envelope, freedoms);
  for (std::size_t i = 0; i < freedoms.size() && i < envelope.flags.size(); ++i) {
    if (freedoms[i] == Freedom::all) envelope.flags[i] |= reference::undecided;
    if (freedoms[i] == Freedom::zero_slope) envelope.flags[i] |= reference::admits_nan;
    if (freedoms[i] != Freedom::no_number) continue;
    // A derivative that the equations give as NaN alone is 0·∞: other orders of the same rules leave that product out.
    constexpr auto values = static_cast<std::uint8_t>(no_number | reference::admits_finite);
    const int follows = envelope.flags[i] & values;
    if (follows == reference::admits_nan) envelope.flags[i] |= reference::undecided;
    // Of an infinity that is all that follows the sign is known.
    const bool up = follows == reference::admits_positive_infinity, down = follows == reference::admits_negative_infinity;
    const bool finite = may(envelope, i, reference::admits_finite);
    envelope.flags[i] |= reference::admits_nan | reference::admits_finite;
    if (!down) envelope.flags[i] |= reference::admits_positive_infinity;
    if (!up) envelope.flags[i] |= reference::admits_negative_infinity;
    envelope.lower[i] = finite ? std::min(envelope.lower[i], 0.0) : 0;
    envelope.upper[i] = finite ? std::max(envelope.upper[i], 0.0) : 0;
  }
}

void admit(reference::Envelopes& bounds, const Freedoms& freedoms) {
  for (std::size_t o = 0; o < freedoms.size(); ++o) admit(bounds.outputs[o], freedoms[o]);
}

}  // namespace etalon::conformance
