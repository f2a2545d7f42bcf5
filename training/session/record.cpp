#include "training/session/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/program/trace_state.hpp"
#include "spec/program/wishes.hpp"
#include "spec/value_type.hpp"
#include "training/session/needed.hpp"

namespace etalon::training {

namespace {

HostTensor one(DType dtype) { return dtype == DType::f64 ? HostTensor::of<double>({}, {1}) : HostTensor::of<float>({}, {1}); }

}  // namespace

Record::Record(Target target, State state, DType real) : target_(std::move(target)), state_(std::move(state)), tracer_(real) {}

void Record::require_open(const std::string& name) const {
  if (!open_) throw SpecViolation(fmt::format("session: `{}` is of a record that a step or reset has ended", name));
}

Traced Record::entry(const std::string& name) {
  require_open(name);
  const auto known = entries_.find(name);
  if (known != entries_.end()) return known->second;
  const spec::ValueType type = state_.store().type_of(name);
  const Traced made = tracer_.parameter(name, type.dtype, type.dims);
  entries_.emplace(name, made);
  const bool trained = state_.parameters().contains(name) && !state_.parameters().at(name).frozen;
  if (trained) requiring_.push_back(made);
  return made;
}

Traced Record::input(const std::string& name, HostTensor value, bool requires_gradient) {
  require_open(name);
  const std::string own = name.empty() ? "given" + std::to_string(++unnamed_) : name;
  if (requires_gradient && kind_of(value.dtype) != Kind::real) {
    throw SpecViolation(fmt::format("session: `{}` is {} and has no gradient", own, name_of(value.dtype)));
  }
  const Traced made = tracer_.input(own, value.dtype, value.dims);
  if (requires_gradient) requiring_.push_back(made);
  given_.emplace(own, std::move(value));
  return made;
}

spec::Program Record::program(std::vector<std::string> outputs, bool updates) {
  spec::Program all = tracer_.finish();
  all.outputs = std::move(outputs);
  if (!updates) all.updates.clear();
  // To look at a value is no wish of the user's that could exclude another; what is captured is looked at by name, or at a step.
  std::erase_if(all.wishes, [&](const spec::Wish& w) {
    const bool looked_at = std::find(all.outputs.begin(), all.outputs.end(), w.value) != all.outputs.end();
    return w.asked == spec::Asked::capture ? !updates : w.asked == spec::Asked::inlined && looked_at;
  });
  return needed(std::move(all));
}

Named Record::given_to(const spec::Program& program) const {
  Named some;
  for (const spec::Input& input : program.inputs) {
    const auto at = given_.find(input.name);
    if (at != given_.end()) some.emplace(*at);
  }
  return some;
}

HostTensor Record::value(const Traced& of) { return value_named(of.name()); }

std::vector<std::string> Record::captures() const { return spec::captures(tracer_.finish()); }

HostTensor Record::captured(const std::string& name) {
  const std::vector<std::string> known = captures();
  if (std::find(known.begin(), known.end(), name) == known.end()) throw SpecViolation(unknown_name("capture", name, known));
  return value_named(name);
}

HostTensor Record::value_named(const std::string& name) {
  const auto known = values_.find(name);
  if (known != values_.end()) return known->second;
  require_open(name);
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  if (entries_.count(name) != 0) return state_.store().read(name);
  const spec::Program part = program({name}, false);
  return values_.emplace(name, std::move(Prepared(part, target_).run(state_.store(), given_to(part)).outputs[0].second)).first->second;
}

Outcome Record::run_updates(std::span<const Traced> looked_at, const Guard& guard) {
  std::vector<std::string> outputs;
  for (const Traced& value : looked_at) {
    if (std::find(outputs.begin(), outputs.end(), value.name()) == outputs.end()) outputs.push_back(value.name());
  }
  const spec::Program part = program(outputs, true);
  Guarding guarding(part, guard);
  guarding.remember(state_.store());
  Values values = Prepared(part, target_).run(state_.store(), given_to(part));
  for (const auto* list : {&values.outputs, &values.captures}) {
    for (const auto& [name, value] : *list) values_.insert_or_assign(name, value);
  }
  Outcome outcome;
  outcome.not_finite = guarding.check(values.outputs, values.captures, state_.store());
  if (outcome.not_finite) {
    outcome.status = Outcome::Status::not_finite;
    outcome.why = to_text(*outcome.not_finite);
  }
  outcome.captures = std::move(values.captures);
  return outcome;
}

void Record::backward(const Traced& of, std::optional<HostTensor> cotangent) {
  require_open(of.name());
  const spec::ValueType type = of.type();
  if (kind_of(type.dtype) != Kind::real) throw SpecViolation(fmt::format("backward: `{}` is {}, expected a real value", of.name(), to_string(type)));
  if (!cotangent) {
    if (type.dims.rank != 0) {
      throw SpecViolation(fmt::format("backward: `{}` is {}, expected a scalar, or a cotangent of that type", of.name(), to_string(type)));
    }
    cotangent = one(type.dtype);
  }
  const spec::ValueType got{cotangent->dtype, cotangent->dims};
  if (!(got == type)) throw SpecViolation(fmt::format("backward: `{}` is {}, its cotangent is {}", of.name(), to_string(type), to_string(got)));
  cotangents_.push_back(input("cotangent" + std::to_string(roots_.size() + 1), std::move(*cotangent), false));
  roots_.push_back(of);
  gradients_.clear();
}

std::vector<Traced> Record::gradients(std::span<const Traced> of) {
  if (roots_.empty()) throw SpecViolation("gradient: nothing was differentiated; call backward first");
  return spec::vjp(roots_, cotangents_, of);
}

Traced Record::gradient(const Traced& of) {
  const std::string name = of.name();
  if (const auto known = gradients_.find(name); known != gradients_.end()) return known->second;
  require_open(name);
  std::set<std::string> leaves;
  for (const Traced& leaf : requiring_) leaves.insert(leaf.name());
  if (leaves.count(name) != 0) {
    // Those of all leaves at once: a step asks for each of them.
    const std::vector<Traced> all = gradients(requiring_);
    for (std::size_t i = 0; i < all.size(); ++i) gradients_.emplace(requiring_[i].name(), all[i]);
    return gradients_.at(name);
  }
  if (dependent(of.state()->program(), leaves).count(name) == 0) {
    throw SpecViolation(fmt::format("gradient: `{}` requires none, expected a trained parameter, an input that says so, or what depends on one", name));
  }
  return gradients_.emplace(name, gradients(std::span(&of, 1))[0]).first->second;
}

std::optional<Traced> Record::loss() const {
  std::optional<Traced> sum;
  for (const Traced& root : roots_) {
    if (root.dims().rank != 0) return std::nullopt;
    sum = sum ? *sum + root : root;
  }
  return sum;
}

}  // namespace etalon::training
