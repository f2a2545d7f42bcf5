#include "spec/program/trace_state.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/name.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

template <class Change>
void rename_in(Call& call, const Change& change) {
  for (auto& operand : call.operands) {
    if (operand) change(*operand);
  }
  for (auto& [attribute, value] : call.attributes) {
    if (auto* runtime = std::get_if<ValueName>(&value)) change(runtime->name);
  }
  for (std::string& result : call.results) change(result);
}

template <class Change>
void rename_in(Differentiate& step, const Change& change) {
  for (auto* list : {&step.of, &step.wrt, &step.results}) {
    for (std::string& name : *list) change(name);
  }
  for (auto& seed : step.seeds) {
    if (seed) change(*seed);
  }
}

template <class Change>
void rename_in(Assign& step, const Change& change) {
  change(step.buffer);
  for (std::string* text : {&step.places, &step.value}) *text = with_values(*text, change);
}

}  // namespace

void TraceState::define(const Library& with, std::string_view name) {
  for (const std::string& text : with.texts_for(name)) {
    auto& own = program_.definitions;
    if (std::find(own.begin(), own.end(), text) != own.end()) continue;
    library_ = library_.with(text);
    own.push_back(text);
  }
}

std::size_t TraceState::add_value(const std::string& name, const ValueType& type) {
  check_name(name);
  types_.emplace(name, type);
  names_.push_back(name);
  since_.push_back(program_.steps.size());
  return names_.size() - 1;
}

std::size_t TraceState::add_buffer(Buffer buffer) {
  const std::size_t id = add_value(buffer.name, {buffer.dtype, buffer.dims});
  program_.buffers.push_back(std::move(buffer));
  return id;
}

std::size_t TraceState::add_input(Input input) {
  const std::size_t id = add_value(input.name, {input.dtype, input.dims});
  has_open_extents_ = has_open_extents_ || !input.open.empty();
  program_.inputs.push_back(std::move(input));
  return id;
}

void TraceState::settle(const Call* next) {
  if (!has_open_extents_) return;
  Program all = program_;
  if (next != nullptr) all.steps.emplace_back(*next);
  for (auto& [name, type] : types_so_far(all)) {
    const auto known = types_.find(name);
    if (known != types_.end()) known->second = type;
  }
}

std::size_t TraceState::constant(HostTensor value, SourceLine line) {
  std::string key = std::string(name_of(value.dtype)) + to_string(value.dims);
  key.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  const auto known = constants_.find(key);
  if (known != constants_.end() && anonymous_.count(names_[known->second]) != 0) return known->second;
  const std::string name = numbered("c");
  anonymous_.insert(name);
  Input input{name, value.dtype, value.dims, Role::constant, std::nullopt, std::nullopt, source(line)};
  input.value = std::move(value);
  const std::size_t id = add_input(std::move(input));
  constants_.insert_or_assign(std::move(key), id);
  return id;
}

std::string TraceState::numbered(const std::string& stem) {
  for (int& n = counters_[stem];;) {
    std::string name = stem + std::to_string(++n);
    if (types_.count(name) == 0) return name;
  }
}

std::string TraceState::free_name(const std::string& wanted) const {
  std::string name = wanted;
  for (int n = 2; types_.count(name) != 0; ++n) name = wanted + "." + std::to_string(n);
  return name;
}

void TraceState::rename(std::size_t id, const std::string& name) {
  const std::string old = names_.at(id);
  if (old == name) return;
  check_name(name);
  types_.emplace(name, types_.at(old));
  types_.erase(old);
  anonymous_.erase(old);
  names_[id] = name;
  const auto change = [&](std::string& s) {
    if (s == old) s = name;
  };
  for (Input& input : program_.inputs) change(input.name);
  for (Buffer& buffer : program_.buffers) change(buffer.name);
  // The step that makes a value may be there before the value is added.
  const std::size_t first = since_[id] > 0 ? since_[id] - 1 : 0;
  for (std::size_t i = first; i < program_.steps.size(); ++i) std::visit([&](auto& s) { rename_in(s, change); }, program_.steps[i]);
  for (std::string& output : program_.outputs) change(output);
  for (Update& update : program_.updates) change(update.parameter), change(update.value);
  for (Wish& wish : program_.wishes) change(wish.value);
}

void TraceState::ask(std::size_t id, Asked asked, SourceLine line) {
  auto& wishes = program_.wishes;
  const bool known = std::any_of(wishes.begin(), wishes.end(), [&](const Wish& w) { return w.asked == asked && w.value == names_.at(id); });
  if (!known) wishes.push_back({asked, names_.at(id), source(line)});
}

void TraceState::capture(std::size_t id, const std::string& name, SourceLine line) {
  const std::string old = names_.at(id);
  const auto& inputs = program_.inputs;
  if (old != name && std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.name == old; }))
    throw SpecViolation(fmt::format("named: {} comes from outside and keeps its name, found '{}'; at {}", old, as_quoted(name), position(source(line))));
  if (old != name) rename(id, free_name(name));
  ask(id, Asked::capture, line);
}

void TraceState::check_name(const std::string& name) const {
  if (!is_value_name(name))
    throw SpecViolation("trace: a name is letters, digits, _ and ., and starts with a letter, found '" + as_quoted(name) + "'");
  if (types_.count(name) != 0) throw SpecViolation("trace: " + name + " is named a second time; each value is named once");
}

}  // namespace etalon::spec
