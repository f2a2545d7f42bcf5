#include "tests/adequacy/question.hpp"

#include <utility>

#include "conformance/admit_schemas.hpp"
#include "spec/error.hpp"
#include "tests/adequacy/answers.hpp"
#include "tests/adequacy/changes.hpp"

namespace etalon::adequacy {
namespace {

using conformance::Case;
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

}  // namespace

Question::Question(Case c, const spec::Contract& contract)
    : case_(std::move(c)),
      contract_(contract),
      instance_(instance_of(case_)),
      system_(system_of(case_, instance_)),
      inputs_(inputs_of(case_, instance_)) {}

std::vector<Change> Question::changes() const { return changes_of(case_, instance_, system_); }

Question::Tensors& Question::sound(bool exact) {
  std::optional<Tensors>& kept = exact ? sound_exact_ : sound_quick_;
  if (!kept) kept = answer(system_, inputs_, exact ? Precision::exact : Precision::quick);
  if (!kept) throw SpecViolation("no precision decides the sound answer");
  return *kept;
}

// A defect of a derivative leaves the values as they are.
void Question::keep_values(Tensors& answer, Tensors& sound) const {
  if (case_.mode == Mode::forward) return;
  for (std::size_t r = 0; r < instance_.results.size(); ++r) answer[r] = sound[r];
}

bool Question::convicts(const Tensors& answer) {
  if (!bounds_) bounds_ = reference::envelopes(system_, inputs_, contract_);
  return !reference::judge(answer, *bounds_).passed();
}

Effect Question::effect(const Change& change) {
  std::optional<Tensors> got;
  try {
    got = answer(system_, inputs_, Precision::quick, change);
  } catch (const SpecViolation&) {
    return Effect::killed;  // it has no answer here, and the definition has
  }
  if (!got) return Effect::none;
  keep_values(*got, sound(false));
  if (*got == sound(false)) return Effect::none;
  if (!convicts(*got)) return Effect::admitted;
  got = answer(system_, inputs_, Precision::exact, change);
  if (!got) return Effect::admitted;
  if (case_.mode != Mode::forward) keep_values(*got, sound(true));
  if (!convicts(*got)) return Effect::admitted;
  if (!freedoms_) {
    const conformance::DerivativeLayout layout{case_.mode, instance_.results.size(), present(case_).size(),
                                               marked(case_.wrt)};
    freedoms_ = where_undifferentiable(system_, inputs_, layout, *bounds_, contract_);
  }
  if (!schemas_) schemas_ = other_schemas(case_, case_.mode);
  reference::Envelopes bounds = *bounds_;
  admit_schemas(bounds, *got, *schemas_, *freedoms_, contract_);
  return reference::judge(*got, bounds).passed() ? Effect::admitted : Effect::killed;
}

}  // namespace etalon::adequacy
