#include <algorithm>
#include <cmath>
#include <map>

#include "reference/bounds/envelope.hpp"
#include "reference/bounds/host_element.hpp"
#include "reference/bounds/interval.hpp"

namespace etalon::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// error/bound, above 1 exactly when the value is not admissible.
double ratio(double got, const Admitted& in, double reference) {
  if (std::isnan(got)) return (in.flags & admits_nan) != 0 ? 0 : infinity;
  if (std::isinf(got)) {
    const auto wanted = got > 0 ? admits_positive_infinity : admits_negative_infinity;
    return (in.flags & wanted) != 0 ? 0 : infinity;
  }
  if ((in.flags & admits_finite) == 0) return infinity;
  const bool inside = got >= in.lower && got <= in.upper;
  const double centre = reference >= in.lower && reference <= in.upper ? reference : in.lower / 2 + in.upper / 2;
  const double error = std::fabs(got - centre);
  const double bound = got > centre ? in.upper - centre : centre - in.lower;
  if (inside) return bound > 0 ? std::min(1.0, error / bound) : 0;
  return bound > 0 && bound < infinity ? std::max(bounds::up(1), error / bound) : infinity;
}

class Judgement {
 public:
  Judgement(std::span<const HostTensor> got, std::span<const Envelope* const> envelopes)
      : got_(got), envelopes_(envelopes) {}

  Verdict run() {
    for (std::size_t o = 0; o < envelopes_.size(); ++o) elements(o);
    components();
    return std::move(verdict_);
  }

 private:
  [[nodiscard]] bool real(std::size_t o) const { return kind_of(got_[o].dtype) == Kind::real; }

  /// Integers are compared as such: not every one of them is a double.
  [[nodiscard]] double ratio_of(std::size_t o, std::size_t i, const Admitted& in) const {
    if (real(o)) return ratio(bounds::real_element(got_[o], i), in, envelopes_[o]->reference[i]);
    return bounds::integer_element(got_[o], i) == in.exact ? 0 : infinity;
  }

  void elements(std::size_t o) {
    const Envelope& e = *envelopes_[o];
    if (got_[o].dtype != e.dtype || !(got_[o].dims == e.dims)) {
      verdict_.message = "expected " + std::string(name_of(e.dtype)) + to_string(e.dims) + ", found " +
                         std::string(name_of(got_[o].dtype)) + to_string(got_[o].dims);
      return;
    }
    std::vector<std::uint8_t> joint(e.flags.size(), 0);
    for (const Alternatives& a : e.alternatives) {
      for (const std::size_t i : a.elements) joint[i] = 1;
    }
    for (std::size_t i = 0; i < e.flags.size(); ++i) {
      if ((e.flags[i] & undecided) != 0) {
        ++verdict_.undecided;
        continue;
      }
      ++verdict_.comparisons;
      if (joint[i] != 0) continue;
      if (real(o) && i < e.deviation.size() && e.deviation[i] > 0 && e.deviation[i] < infinity) {
        const double over = (bounds::real_element(got_[o], i) - e.reference[i]) / e.deviation[i];
        if (std::isfinite(over)) verdict_.statistic.add({1, over * over});
      }
      const Admitted in{.lower = e.lower[i], .upper = e.upper[i], .flags = e.flags[i], .exact = real(o) ? 0 : e.exact[i]};
      count(o, i, ratio_of(o, i, in), in);
    }
  }

  void count(std::size_t o, std::size_t i, double r, const Admitted& in) {
    verdict_.worst_ratio = std::max(verdict_.worst_ratio, r);
    if (r <= 1) return;
    ++verdict_.offenders;
    if (verdict_.output < o || (verdict_.output == o && verdict_.first_offender <= i)) return;
    verdict_.output = o;
    verdict_.first_offender = i;
    verdict_.expected = in;
  }

  /// A component is right when one branch explains all of its elements; else its best branch says what is wrong.
  void components() {
    std::map<std::size_t, std::vector<std::pair<std::size_t, const Alternatives*>>> parts;
    for (std::size_t o = 0; o < envelopes_.size(); ++o) {
      for (const Alternatives& a : envelopes_[o]->alternatives) parts[a.component].emplace_back(o, &a);
    }
    if (!verdict_.message.empty()) return;
    for (const auto& [component, members] : parts) {
      std::size_t best = 0;
      double best_worst = infinity;
      for (std::size_t b = 0; b < members[0].second->branches.size(); ++b) {
        const double worst = worst_of(members, b);
        if (worst < best_worst) {
          best_worst = worst;
          best = b;
        }
      }
      for (const auto& [o, a] : members) {
        for (std::size_t k = 0; k < a->elements.size(); ++k) {
          const std::size_t i = a->elements[k];
          if ((envelopes_[o]->flags[i] & undecided) != 0) continue;
          count(o, i, ratio_of(o, i, a->branches[best][k]), a->branches[best][k]);
        }
      }
    }
  }

  [[nodiscard]] double worst_of(const std::vector<std::pair<std::size_t, const Alternatives*>>& members,
                                std::size_t branch) const {
    double worst = 0;
    for (const auto& [o, a] : members) {
      for (std::size_t k = 0; k < a->elements.size(); ++k) {
        const std::size_t i = a->elements[k];
        if ((envelopes_[o]->flags[i] & undecided) != 0) continue;
        worst = std::max(worst, ratio_of(o, i, a->branches[branch][k]));
      }
    }
    return worst;
  }

  std::span<const HostTensor> got_;
  std::span<const Envelope* const> envelopes_;
  Verdict verdict_;
};

}  // namespace

Verdict judge(const HostTensor& got, const Envelope& envelope) {
  const Envelope* const one = &envelope;
  return Judgement({&got, 1}, {&one, 1}).run();
}

Verdict judge(std::span<const HostTensor> got, const Envelopes& all) {
  if (got.size() != all.outputs.size()) {
    Verdict v;
    v.message = "expected " + std::to_string(all.outputs.size()) + " outputs, found " + std::to_string(got.size());
    return v;
  }
  std::vector<const Envelope*> envelopes;
  for (const Envelope& e : all.outputs) envelopes.push_back(&e);
  return Judgement(got, envelopes).run();
}

}  // namespace etalon::reference
