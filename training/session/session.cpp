#include "training/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "training/step.hpp"

namespace etalon::training {

Session::Session(spec::Backend& backend, State state, DType real)
    : target_(Target::backend(backend)), state_(std::move(state)), real_(real), core_(std::make_shared<SessionCore>()) {
  reset();
}

void Session::reset() {
  if (core_->record) core_->record->close();
  core_->record = std::make_shared<Record>(target_, state_, real_);
}

void Session::seed(std::uint64_t seed) {
  state_.store().write(names::seed, HostTensor::of<std::int64_t>({}, {static_cast<std::int64_t>(seed)}));
  reset();
}

Recorded Session::checked(const std::string& name, const spec::ValueType& type) {
  const std::string& owner = state_.parameters().owner(name);
  const spec::ValueType found = state_.store().type_of(owner);
  if (!(found == type)) throw SpecViolation(fmt::format("session: `{}` is {}, expected {}", name, to_string(found), to_string(type)));
  return {core_, owner};
}

Noise<Handles> Session::noise() {
  using Integer = Handle<std::int64_t, Shape<>>;
  return {Integer(Recorded(core_, names::seed)), Integer(Recorded(core_, names::count))};
}

Traced Session::require_own(const Recorded& value) const {
  if (value.core() != core_) throw SpecViolation("session: the value is of another session");
  return value.traced();
}

HostTensor Session::captured(const std::string& name) {
  std::vector<std::string> known = core_->record->captures();
  if (std::find(known.begin(), known.end(), name) != known.end()) return core_->record->captured(name);
  for (const auto& [key, value] : captures_) {
    if (key == name) return value;
    known.push_back(key);
  }
  throw SpecViolation(unknown_name("capture", name, known));
}

Outcome Session::step(double rate) {
  Record& record = *core_->record;
  const Optimization& optimization = state_.optimization();
  if (optimization.entries().empty()) throw SpecViolation("step: no parameter is trained; the state was made without an optimizer");
  if (optimization.loss_scaling()) throw SpecViolation("step: the state was made with a scaled loss, expected one without in a session");
  std::map<std::string, Traced> values;
  std::vector<Traced> wrt;
  for (const auto& entry : optimization.entries()) wrt.push_back(values.emplace(entry.name, record.entry(entry.name)).first->second);
  const std::vector<Traced> gradients = record.gradients(wrt);
  const std::optional<Traced> loss = record.loss();
  const HostTensor number = real_ == DType::f64 ? HostTensor::of<double>({}, {rate}) : HostTensor::of<float>({}, {static_cast<float>(rate)});
  const Traced lr = record.input(names::rate, number, false);
  write_updates(record.tracer(), optimization, values, gradients, record.entry(names::count), loss,
                [&](const Traced&) { return lr; });
  std::vector<Traced> looked_at;
  if (loss) looked_at.push_back(*loss);
  Outcome outcome;
  try {
    outcome = record.run_updates(looked_at, guard_);
  } catch (const Unsupported& e) {
    outcome = {Outcome::Status::failed, e.what()};
  }
  if (loss && outcome.status != Outcome::Status::failed) {
    outcome.outputs.emplace_back(names::loss, record.value(*loss));
    outcome.not_finite = outcome.not_finite ? outcome.not_finite : first_not_finite(loss->name(), outcome.outputs.back().second);
  }
  if (outcome.not_finite) {
    outcome.status = Outcome::Status::not_finite;
    outcome.why = to_text(*outcome.not_finite);
  }
  captures_ = outcome.captures;
  reset();
  return outcome;
}

}  // namespace etalon::training
