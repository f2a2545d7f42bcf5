#include "training/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"
#include "spec/value_type.hpp"
#include "training/step.hpp"

namespace etalon::training {

namespace {

HostTensor filled(const StateTensor& t) {
  HostTensor value(t.dtype, t.dims);
  const auto fill = [&](auto view) { std::fill(view.begin(), view.end(), static_cast<typename decltype(view)::value_type>(t.first)); };
  if (t.dtype == DType::f32) fill(value.view<float>());
  else if (t.dtype == DType::f64) fill(value.view<double>());
  else if (t.first != 0) throw SpecViolation(fmt::format("optimizer: `{}` is {} and starts at {}, expected 0", t.name, name_of(t.dtype), t.first));
  return value;
}

bool has(Part part, Part wanted) { return part == wanted || part == Part::all; }

}  // namespace

State::State(Parameters parameters, Optimization optimization, std::uint64_t seed)
    : parameters_(std::move(parameters)), optimization_(std::move(optimization)), seed_(seed), store_(std::make_shared<compiled::Store>()) {
  for (const auto& [name, parameter] : parameters_.entries()) store_->declare(name, parameter.dtype, parameter.dims);
  for (const StateTensor& t : optimization_.kept()) store_->declare(t.name, t.dtype, t.dims);
  store_->declare(names::count, DType::i64, {});
  store_->declare(names::seed, DType::i64, {});
  write_first(Part::all, false);
}

void State::write_first(Part part, bool missing_is_error) {
  if (has(part, Part::parameters)) {
    Named values;
    const auto& entries = parameters_.entries();
    const bool complete = std::all_of(entries.begin(), entries.end(), [](const auto& e) { return e.second.initialiser.has_value(); });
    if (complete || missing_is_error) {
      values = parameters_.first_values(seed_);
    } else {
      // A stand-in keeps the positions of the others, and with them their draws.
      Parameters with_stand_ins = parameters_;
      for (const auto& [name, parameter] : entries) {
        if (parameter.initialiser) continue;
        Parameter stand_in = parameter;
        stand_in.initialiser = Initialiser{};
        with_stand_ins.replace(name, stand_in);
      }
      values = with_stand_ins.first_values(seed_);
    }
    for (const auto& [name, parameter] : entries) {
      if (parameter.initialiser) store_->write(name, values.at(name));
    }
  }
  if (has(part, Part::optimizer)) {
    for (const StateTensor& t : optimization_.kept()) store_->write(t.name, filled(t));
    store_->write(names::count, HostTensor(DType::i64, {}));
    store_->write(names::seed, HostTensor::of<std::int64_t>({}, {static_cast<std::int64_t>(seed_)}));
  }
}

void State::reset(Part part) { write_first(part, true); }

void State::reset(Part part, std::uint64_t seed) {
  seed_ = seed;
  write_first(part, true);
}

std::vector<std::string> State::names_of(Part part) const {
  std::vector<std::string> all;
  if (has(part, Part::parameters)) all = parameters_.names();
  if (has(part, Part::optimizer)) {
    for (const StateTensor& t : optimization_.kept()) all.push_back(t.name);
    all.emplace_back(names::count);
    all.emplace_back(names::seed);
  }
  return all;
}

void State::upload(const Named& values, Upload mode, Part part) {
  const std::vector<std::string> known = names_of(part);
  std::map<std::string, const HostTensor*> writes;
  for (const auto& [name, value] : values) {
    const std::string owner = parameters_.contains(name) ? parameters_.owner(name) : name;
    if (std::find(known.begin(), known.end(), owner) == known.end())
      throw SpecViolation("upload: " + unknown_name("entry", as_quoted(name), known));
    const spec::ValueType want = store_->type_of(owner), got{value.dtype, value.dims};
    if (!(want == got)) throw SpecViolation(fmt::format("upload: `{}` is {}, got {}", name, to_string(want), to_string(got)));
    const auto [at, fresh] = writes.emplace(owner, &value);
    if (!fresh && !(*at->second == value)) {
      throw SpecViolation(fmt::format("upload: `{}` and `{}` are one parameter, got two values", owner, name));
    }
  }
  for (const std::string& name : known) {
    if (mode == Upload::strict && writes.count(name) == 0) {
      throw SpecViolation(fmt::format("upload: `{}` is missing; a partial upload may leave names out", name));
    }
  }
  for (const auto& [name, value] : writes) store_->write(name, *value);
}

Named State::download(Part part) const {
  Named values;
  for (const std::string& name : names_of(part)) values.emplace(name, store_->read(name));
  return values;
}

void State::replace(const std::string& parameter, const HostTensor& value) {
  upload({{parameters_.owner(parameter), value}}, Upload::partial);
}

HostTensor State::value(const std::string& parameter) const { return store_->read(parameters_.owner(parameter)); }

}  // namespace etalon::training
