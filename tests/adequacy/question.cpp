#include "tests/adequacy/question.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "conformance/admit_schemas.hpp"
#include "conformance/along_tangents.hpp"
#include "reference/bounds/host_element.hpp"
#include "spec/error.hpp"

namespace etalon::adequacy {
namespace {

using conformance::Case;
using reference::Envelope;
using reference::Envelopes;
using reference::Selection;
using spec::Mode;

std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

// The operands, then a direction per operand or result that has one: zero where none is given.
std::vector<HostTensor> inputs_of(const Case& c, const spec::Instance& instance) {
  std::vector<HostTensor> all = present(c);
  if (c.mode == Mode::jvp) {
    for (const std::size_t i : marked(c.wrt))
      all.push_back(c.tangents[i] ? *c.tangents[i] : HostTensor(all[i].dtype, all[i].dims));
  } else if (c.mode == Mode::vjp) {
    for (std::size_t r = 0; r < instance.results.size(); ++r) {
      const spec::ValueType& type = instance.results[r];
      if (kind_of(type.dtype) == Kind::real)
        all.push_back(c.cotangents[r] ? *c.cotangents[r] : HostTensor(type.dtype, type.dims));
    }
  }
  return all;
}

// Whether no branch of the envelope has the element's value.
bool is_outside(const HostTensor& t, const Envelope& e, std::size_t i) {
  if (kind_of(t.dtype) != Kind::real) return reference::bounds::integer_element(t, i) != e.exact[i];
  const double x = reference::bounds::real_element(t, i);
  const auto admits = [&](std::uint8_t what) { return (e.flags[i] & what) != 0; };
  if (std::isnan(x)) return !admits(reference::admits_nan);
  if (std::isinf(x)) return !admits(x > 0 ? reference::admits_positive_infinity : reference::admits_negative_infinity);
  return !admits(reference::admits_finite) || x < e.lower[i] || x > e.upper[i];
}

// What is decided by the meaning is decided by every schema that does not give up.
void keep_outside(Selection& selection, const std::vector<HostTensor>& answer, const Envelopes& meaning,
                  const Envelopes& by) {
  for (std::size_t o = 0; o < selection.size() && o < by.outputs.size(); ++o) {
    for (std::size_t i = 0; i < selection[o].size(); ++i) {
      if (!selection[o][i]) continue;
      const bool open = (meaning.outputs[o].flags[i] & reference::undecided) != 0 || (reference::decided(by.outputs[o].flags[i]) & reference::undecided) != 0;
      selection[o][i] = !open && is_outside(answer[o], by.outputs[o], i);
    }
  }
}

// A schema may have fewer outputs than the meaning.
void free(Envelopes& bounds, const conformance::Freedoms& freedoms) {
  for (std::size_t o = 0; o < freedoms.size() && o < bounds.outputs.size(); ++o) admit(bounds.outputs[o], freedoms[o]);
}

Selection everything(const std::vector<HostTensor>& answer) {
  Selection all;
  for (const HostTensor& t : answer) all.emplace_back(static_cast<std::size_t>(t.dims.count()), true);
  return all;
}

Selection first_of(const Selection& selection) {
  Selection one;
  bool found = false;
  for (const std::vector<bool>& elements : selection) {
    auto& to = one.emplace_back(elements.size(), false);
    for (std::size_t i = 0; i < elements.size() && !found; ++i) found = to[i] = elements[i];
  }
  return one;
}

bool any_of_both(const Selection& a, const Selection& b) {
  for (std::size_t o = 0; o < a.size(); ++o) {
    for (std::size_t i = 0; i < a[o].size(); ++i) {
      if (a[o][i] && b[o][i]) return true;
    }
  }
  return false;
}

}  // namespace

Question::Question(Case c, const spec::Contract& contract)
    : case_(std::move(c)),
      contract_(contract),
      instance_(instance_of(case_)),
      system_(system_of(case_, instance_)),
      inputs_(inputs_of(case_, instance_)),
      answers_(system_, inputs_) {}

std::vector<Change> Question::changes(const Wanted& wanted) const {
  return changes_of(case_, instance_, system_, wanted);
}

// A defect of a derivative leaves the values as they are.
void Question::keep_values(Tensors& answer) {
  if (case_.mode == Mode::forward) return;
  for (std::size_t r = 0; r < instance_.results.size(); ++r) answer[r] = answers_.sound()[r];
}

const Envelopes& Question::bounds() {
  if (!bounds_) bounds_ = reference::envelopes(system_, inputs_, contract_);
  return *bounds_;
}

const conformance::Freedoms& Question::freedoms() {
  if (!freedoms_) {
    const conformance::DerivativeLayout layout{case_.mode, instance_.results.size(), present(case_).size(),
                                               marked(case_.wrt)};
    freedoms_ = where_undifferentiable(system_, inputs_, layout, bounds(), contract_);
  }
  return *freedoms_;
}

const Envelopes& Question::freed() {
  if (!freed_) {
    freed_ = bounds();
    free(*freed_, freedoms());
  }
  return *freed_;
}

const std::vector<conformance::Schema>& Question::schemas() {
  if (!schemas_) schemas_ = other_schemas(case_, case_.mode);
  return *schemas_;
}

// The schemas, and then each of them along one tangent after the other.
const Envelopes& Question::freed_schema(std::size_t k) {
  while (freed_schemas_.size() <= k) {
    const std::size_t n = freed_schemas_.size(), whole = n % schemas().size();
    const conformance::Schema& schema = schemas()[whole];
    if (n == whole) {
      freed_schemas_.push_back(reference::envelopes(schema.system, schema.inputs, contract_));
    } else {
      freed_schemas_.push_back(has_directions(schema) ? along_directions(schema, freed_schemas_[whole], contract_)
                                                      : freed_schemas_[whole]);
    }
    free(freed_schemas_.back(), freedoms());
  }
  return freed_schemas_[k];
}

// The elements that neither the meaning nor any schema admits, whatever the others are.
Selection Question::outside_all(const Tensors& answer) {
  Selection left = everything(answer);
  keep_outside(left, answer, bounds(), bounds());
  if (reference::any_of(left)) keep_outside(left, answer, freed(), freed());
  for (std::size_t k = 0; reference::any_of(left) && k < 2 * schemas().size(); ++k)
    keep_outside(left, answer, freed(), freed_schema(k));
  return left;
}

bool Question::is_convicted_as_a_whole(const Change& change) {
  auto got = answers_.exact(change, reference::everything(system_));
  if (!got) return false;
  keep_values(*got);
  Envelopes bounds = this->bounds();
  if (reference::judge(*got, bounds).passed()) return false;
  admit_schemas(bounds, *got, schemas(), freedoms(), contract_);
  return !reference::judge(*got, bounds).passed();
}

std::string Question::why_equivalent(const Change& change) {
  const spec::TensorId changed = change.equation     ? system_.equations[change.equation->first].target
                                 : change.accumulate ? system_.equations[change.accumulate->first].target
                                 : change.numbers    ? change.numbers->first
                                                     : -1;
  const std::size_t first = case_.mode == Mode::forward ? 0 : instance_.results.size();
  if (changed >= 0 && !answers_.is_needed(changed, first)) return "nothing that is asked for depends on it";
  return change.prove ? change.prove() : "";
}

// Beside what is no finite number freedoms admit what they do.
bool Question::is_finite() const {
  return std::all_of(inputs_.begin(), inputs_.end(), [](const HostTensor& t) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      if (kind_of(t.dtype) == Kind::real && !std::isfinite(reference::bounds::real_element(t, i))) return false;
    }
    return true;
  });
}

bool Question::is_identical(const Change& change) const {
  const auto all = reference::everything(system_);
  const auto other = answers_.exact(change, all, Stored::binary64);
  const std::size_t first = case_.mode == Mode::forward ? 0 : instance_.results.size();
  const auto right = other ? answers_.exact({}, all, Stored::binary64) : std::nullopt;
  return right && std::equal(right->begin() + static_cast<std::ptrdiff_t>(first), right->end(),
                             other->begin() + static_cast<std::ptrdiff_t>(first));
}

// Nothing where it reads beyond a tensor, or divides an integer by 0.
std::optional<std::optional<Question::Tensors>> Question::quick(const Change& change) {
  try {
    return answers_.quick(change);
  } catch (const SpecViolation&) {
    return std::nullopt;
  } catch (const InternalError&) {
    return std::nullopt;
  }
}

// Between integers of 64 bits and narrow numbers doubles round twice themselves.
Effect Question::effect_of_rounding(const Change& change) {
  const Selection all = reference::everything(system_);
  const auto sound = answers_.exact({}, all);
  auto other = sound ? answers_.exact(change, all) : std::nullopt;
  if (!other || *other == *sound) return Effect::none;
  return reference::any_of(outside_all(*other)) ? Effect::killed : Effect::admitted;
}

Effect Question::effect(Change& change) {
  if (change.sort == Sort::twice) return effect_of_rounding(change);
  auto defined = quick(change);
  if (!defined && change.equation) {
    hold_inside(change, system_);
    defined = quick(change);
  }
  if (!defined) return Effect::undefined;
  const std::optional<Tensors>& answer = *defined;
  return answer ? effect_of(*answer, change) : Effect::none;
}

Effect Question::effect_of(Tensors answer, const Change& change) {
  keep_values(answer);
  if (answer == answers_.sound()) return change.system ? Effect::none : Effect::unseen;
  if (reference::judge(answer, bounds()).passed()) return Effect::admitted;
  const Selection suspects = outside_all(answer);
  if (!reference::any_of(suspects)) return is_convicted_as_a_whole(change) ? Effect::killed : Effect::admitted;
  // Doubles only suspect: what convicts is exact.
  for (const Selection& asked : {first_of(suspects), suspects}) {
    const auto exact = answers_.exact(change, asked);
    if (exact && any_of_both(outside_all(*exact), asked)) return Effect::killed;
  }
  return Effect::admitted;
}

}  // namespace etalon::adequacy
