#include "training/optimizer.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "spec/error.hpp"
#include "spec/library/library.hpp"

namespace etalon::training {

namespace {

/// x - x is 0 for every number and NaN for what is none.
constexpr std::string_view kept_text = R"(finite_or_kept(value[...], old[...], guard) -> y[...]
  y[...] = if guard - guard == 0 then value[...] else old[...]
)";
constexpr std::string_view kept_count_text = R"(finite_or_kept_count(value[...] : int, old[...] : int, guard) -> y[...] : int
  y[...] = if guard - guard == 0 then value[...] else old[...]
)";

/// The operands between the gradient and the step count, of which each has a result.
std::size_t state_count(const spec::Definition& d) {
  const bool has_lr = d.attribute_named("lr") >= 0;
  const std::size_t state = d.result_count - 1U;
  const std::size_t rest = d.operand_count - std::min<std::size_t>(d.operand_count, 2 + state);
  const bool counts = rest == 1 && d.operands[d.operand_count - 1].range == spec::Range::integer;
  if (has_lr && d.operand_count >= 2 + state && (rest == 0 || counts)) return state;
  throw SpecViolation(fmt::format("optimizer: {} is no optimizer, expected (p, g, state, t) {{lr}} -> (p, state)", d.name));
}

std::vector<StateTensor> state_of(const std::string& name, const Parameter& parameter, const Optimizer& optimizer) {
  const spec::Definition& d = spec::definition_named(optimizer.operation);
  std::vector<StateTensor> state;
  std::set<std::string> known;
  for (std::size_t i = 2; i < 2 + state_count(d); ++i) {
    const std::string part(d.at(d.operands[i].name));
    known.insert(part);
    const auto first = optimizer.first.find(part);
    state.push_back({name + "." + part, parameter.dtype, d.operands[i].axes < 0 ? Dims{} : parameter.dims,
                     first == optimizer.first.end() ? 0 : first->second});
  }
  for (const auto& [part, value] : optimizer.first) {
    if (known.count(part) == 0) {
      throw SpecViolation(fmt::format("optimizer: {} keeps {}, got a first value of {}", optimizer.operation, fmt::join(known, ", "), part));
    }
  }
  return state;
}

std::size_t group_of(const std::string& name, const std::vector<Group>& groups) {
  std::vector<std::string> patterns;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (matches(groups[g].pattern, name)) return g;
    patterns.push_back(groups[g].pattern);
  }
  throw SpecViolation(fmt::format("optimizer: `{}` is in no group; the patterns are {}", name, fmt::join(patterns, ", ")));
}

/// The updates of what an operation keeps, and its factor.
Traced factor_of(const GradientOperation& step, spec::Tracer& tracer, const std::vector<Traced>& gradients,
                 const Optimization::Inputs& inputs) {
  const spec::Library library = spec::Library().with(step.text);
  std::vector<spec::TracedOperand> operands(gradients.begin(), gradients.end());
  std::vector<Traced> kept;
  for (const StateTensor& part : step.kept) kept.push_back(tracer.parameter(part.name, part.dtype, part.dims));
  operands.insert(operands.end(), kept.begin(), kept.end());
  if (library.named(step.operation).operand_count > 1 + kept.size()) operands.emplace_back(inputs.count);
  const std::vector<Traced> results = spec::trace_call(library, step.operation, operands, std::array{gradients.size()},
                                                       step.attributes, SourceLine::current());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Traced& value = results.at(1 + i);
    tracer.assign(kept[i], inputs.guard ? finite_or_kept(value, kept[i], *inputs.guard) : value);
  }
  return results.at(0);
}

std::vector<Traced> prepared_by(const GradientOperation& step, spec::Tracer& tracer, std::vector<Traced> gradients,
                                const Optimization::Inputs& inputs) {
  if (!step.text.empty()) {
    const Traced factor = factor_of(step, tracer, gradients, inputs);
    for (Traced& gradient : gradients) gradient = gradient * factor;
    return gradients;
  }
  const std::vector<spec::TracedOperand> operands(gradients.begin(), gradients.end());
  if (spec::definition_named(step.operation).operands[0].pack) {
    return tracer.call(step.operation, operands, step.attributes, std::array{operands.size()});
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = tracer.call(step.operation, std::span(&operands[i], 1), step.attributes)[0];
  }
  return gradients;
}

}  // namespace

Traced finite_or_kept(const Traced& value, const Traced& old, const Traced& guard) {
  const std::array<spec::TracedOperand, 3> operands{value, old, guard};
  const bool real = kind_of(value.dtype()) == Kind::real;
  return spec::trace_call(spec::Library().with(real ? kept_text : kept_count_text), real ? "finite_or_kept" : "finite_or_kept_count",
                          operands, {}, {}, SourceLine::current())[0];
}

Optimization::Optimization(const Parameters& parameters, std::vector<Group> groups, std::vector<GradientOperation> before,
                           const std::optional<LossScaling>& loss_scaling)
    : groups_(std::move(groups)), before_(std::move(before)), loss_scaling_(loss_scaling) {
  std::set<std::size_t> used;
  for (const auto& [name, parameter] : parameters.entries()) {
    if (parameter.frozen) continue;
    const std::size_t group = group_of(name, groups_);
    used.insert(group);
    entries_.push_back({name, parameter, group, state_of(name, parameter, groups_[group].optimizer)});
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (used.count(g) != 0) continue;
    throw SpecViolation(fmt::format("optimizer: no trained parameter belongs to the group '{}'; there are {}", groups_[g].pattern,
                                    fmt::join(parameters.names(), ", ")));
  }
  if (!loss_scaling_) return;
  require_sound(*loss_scaling_);
  for (const Entry& entry : entries_) {
    if (entry.parameter.dtype == DType::f32) continue;
    throw SpecViolation(fmt::format("loss scaling: `{}` is {}, expected f32", entry.name, name_of(entry.parameter.dtype)));
  }
}

std::vector<StateTensor> Optimization::kept() const {
  std::vector<StateTensor> all;
  for (const Entry& entry : entries_) all.insert(all.end(), entry.state.begin(), entry.state.end());
  for (const GradientOperation& step : before_) all.insert(all.end(), step.kept.begin(), step.kept.end());
  if (loss_scaling_) {
    all.push_back({names::loss_scale, DType::f32, {}, loss_scaling_->first});
    all.push_back({names::good_steps, DType::i64, {}, 0});
  }
  return all;
}

std::vector<Traced> Optimization::prepared(spec::Tracer& tracer, const Inputs& inputs) const {
  std::vector<Traced> gradients = inputs.gradients;
  for (const GradientOperation& step : before_) {
    const auto label = tracer.section(step.operation);
    gradients = prepared_by(step, tracer, gradients, inputs);
  }
  return gradients;
}

void Optimization::write(spec::Tracer& tracer, const Inputs& inputs) const {
  const std::vector<Traced> gradients = prepared(tracer, inputs);
  for (std::size_t i = 0; i < entries_.size(); ++i) update(tracer, entries_[i], gradients.at(i), inputs);
}

/// The results of an optimizer are the new parameter, then the new state in order.
void Optimization::update(spec::Tracer& tracer, const Entry& entry, const Traced& gradient, const Inputs& inputs) const {
  const Group& group = groups_[entry.group];
  const spec::Definition& d = spec::definition_named(group.optimizer.operation);
  const auto label = tracer.section(entry.name + " " + group.optimizer.operation);
  std::vector<Traced> written{inputs.values.at(entry.name)};
  std::vector<spec::TracedOperand> operands{written[0], gradient};
  for (const StateTensor& part : entry.state) {
    written.push_back(tracer.parameter(part.name, part.dtype, part.dims));
    operands.emplace_back(written.back());
  }
  if (d.operand_count > operands.size()) operands.emplace_back(inputs.count);
  spec::Attributes attributes = group.optimizer.attributes;
  const Traced rate = group.rate == 1 ? inputs.rate : inputs.rate * group.rate;
  attributes["lr"] = spec::ValueName{rate.name()};
  if (d.attribute_named("weight_decay") >= 0) attributes["weight_decay"] = entry.parameter.decays ? group.optimizer.weight_decay : 0.0;
  const std::vector<Traced> results = tracer.call(group.optimizer.operation, operands, attributes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    tracer.assign(written[i], inputs.guard ? finite_or_kept(results[i], written[i], *inputs.guard) : results[i]);
  }
}

}  // namespace etalon::training
