#include "training/model/parameters.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "compiled/runtime/executable.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/nearest.hpp"
#include "spec/program/trace.hpp"
#include "spec/value_type.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

std::string type_of(const Parameter& p) { return spec::to_string({p.dtype, p.dims}); }

bool same_type(const Parameter& a, const Parameter& b) { return a.dtype == b.dtype && a.dims == b.dims; }

/// The call that makes one parameter's first value.
spec::Traced drawn(spec::Tracer& tracer, const std::string& name, const Parameter& parameter, const spec::Traced& seed,
                   const spec::Traced& position) {
  if (!parameter.initialiser) {
    throw SpecViolation(fmt::format("model: `{}` has no initialiser, expected an operation such as zeros, or a value uploaded", name));
  }
  const spec::Definition& definition = spec::definition_named(parameter.initialiser->operation);
  spec::Attributes attributes = parameter.initialiser->attributes;
  if (definition.attribute_named("shape") < 0) {
    throw SpecViolation(fmt::format("model: `{}` starts by {}, expected an operation with an attribute shape", name, definition.name));
  }
  attributes["shape"] = std::vector<std::int64_t>(parameter.dims.begin(), parameter.dims.end());
  if (definition.attribute_named("dtype") >= 0) attributes["dtype"] = std::string(name_of(parameter.dtype));
  std::vector<spec::TracedOperand> operands;
  if (definition.operand_count > 0) {
    operands = {seed, position};
    attributes["stream"] = static_cast<std::int64_t>(Stream::initialise);
  }
  return tracer.call(parameter.initialiser->operation, operands, attributes).front();
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; }

void Parameters::add(const std::string& name, const Parameter& parameter) {
  if (owners_.count(name) != 0) throw SpecViolation(fmt::format("model: `{}` is named a second time; each parameter is named once", name));
  for (const auto& [first, other] : entries_) {
    if (!parameter.tie || other.tie != parameter.tie) continue;
    if (!same_type(other, parameter)) {
      throw SpecViolation(fmt::format("model: `{}` is tied to `{}`, which is {}, got {}", name, first, type_of(other), type_of(parameter)));
    }
    owners_.emplace(name, first);
    return;
  }
  owners_.emplace(name, name);
  entries_.emplace_back(name, parameter);
}

void Parameters::replace(std::string_view name, const Parameter& parameter) {
  Parameter& old = entry(name);
  if (!same_type(old, parameter)) {
    throw SpecViolation(fmt::format("model: `{}` is {}, its replacement is {}; another type is another model", name, type_of(old), type_of(parameter)));
  }
  const auto tie = old.tie;
  old = parameter;
  old.tie = tie;
}

void Parameters::freeze(const std::string& pattern, bool frozen) {
  for (const std::string& name : matching(pattern)) entry(name).frozen = frozen;
}

std::vector<std::string> Parameters::names() const {
  std::vector<std::string> all;
  for (const auto& [name, parameter] : entries_) all.push_back(name);
  return all;
}

const std::string& Parameters::owner(std::string_view name) const {
  const auto it = owners_.find(name);
  if (it != owners_.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [path, owner] : owners_) known.push_back(path);
  throw SpecViolation(unknown_name("parameter", name, known));
}

bool Parameters::contains(std::string_view name) const { return owners_.find(name) != owners_.end(); }

Parameter& Parameters::entry(std::string_view name) {
  const std::string& wanted = owner(name);
  for (auto& [path, parameter] : entries_) {
    if (path == wanted) return parameter;
  }
  throw InternalError("model: no entry " + wanted);
}

const Parameter& Parameters::at(std::string_view name) const { return const_cast<Parameters&>(*this).entry(name); }

std::vector<std::string> Parameters::matching(const std::string& pattern) const {
  std::vector<std::string> found;
  for (const auto& [name, parameter] : entries_) {
    if (matches(pattern, name)) found.push_back(name);
  }
  if (!found.empty()) return found;
  throw SpecViolation(fmt::format("model: no parameter matches '{}'; there are {}", pattern, fmt::join(names(), ", ")));
}

Named Parameters::first_values(std::uint64_t seed) const {
  spec::Tracer tracer;
  const auto scalar = [&](const std::string& name, std::uint64_t value) {
    return tracer.constant(name, HostTensor::of(Dims{}, std::vector<std::int64_t>{static_cast<std::int64_t>(value)}));
  };
  const spec::Traced key = scalar("seed", seed);
  std::uint64_t position = 0;
  for (const auto& [name, parameter] : entries_) {
    const std::string number = std::to_string(position);
    const spec::Traced own = parameter.seed ? scalar("seed" + number, *parameter.seed) : key;
    tracer.output(drawn(tracer, name, parameter, own, scalar("position" + number, position)));
    ++position;
  }
  if (entries_.empty()) return {};
  std::vector<HostTensor> drawn_values = compiled::compile(tracer.finish()).run(std::span<const HostTensor>{});
  Named values;
  for (std::size_t i = 0; i < entries_.size(); ++i) values.emplace(entries_[i].first, std::move(drawn_values[i]));
  return values;
}

}  // namespace etalon::training
