#include "compiled/runtime/executable.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "compiled/runtime/unit.hpp"
#include "compiled/task.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::compiled {

using spec::Input;
using spec::Role;
using spec::System;

struct Executable::Body {
  CompileOptions options;
  std::shared_ptr<Jit> jit;
  std::vector<Input> inputs;
  std::size_t outputs = 0;                          ///< of the program, captured values and those of updates not counted
  std::vector<Captured> captured;
  std::vector<HostTensor> captures;                 ///< what the last run left: one per captured value
  bool has_run = false;
  std::vector<PlanOptions::Update> updates;
  System system;                                    ///< before the passes
  Kept kept;                                        ///< parameters, which a store may hold in panels
  std::unique_ptr<Unit> unit;                       ///< with updates, for parameters as it likes them best
  std::vector<std::unique_ptr<Unit>> others;        ///< the same for parameters as some store holds them
  std::map<std::pair<bool, std::vector<std::size_t>>, std::unique_ptr<Unit>> derivatives;  ///< (vjp, wrt)
  std::unique_ptr<Unit> pure;                       ///< without updates
  std::shared_ptr<Buffer> arena = std::make_shared<Buffer>();  ///< of all units
  Report report;

  /// The first outputs of the system alone.
  [[nodiscard]] System with_outputs(std::size_t count) const {
    System s = system;
    s.outputs.resize(count);
    return s;
  }

  [[nodiscard]] std::size_t outputs_and_captures() const { return system.outputs.size() - updates.size(); }

  std::unique_ptr<Unit> made_of(System s, const std::vector<PlanOptions::Update>& written = {}, const Kept& in_panels = {}) {
    auto made = std::make_unique<Unit>(std::move(s), options, jit, arena, written, in_panels);
    if (!unit) report = made->report();
    report.arena_bytes = arena->size();
    report.stack_bytes = std::max(report.stack_bytes, made->report().stack_bytes);
    return made;
  }

  /// For parameters that lie so, one layout per kept input.
  Unit& unit_for(const std::vector<std::optional<Panels>>& panels) {
    if (unit->panels() == panels) return *unit;
    const auto made = std::find_if(others.begin(), others.end(), [&](const auto& other) { return other->panels() == panels; });
    if (made != others.end()) return **made;
    others.push_back(made_of(system, updates, Kept{kept.inputs, panels}));
    return *others.back();
  }

  [[nodiscard]] bool lies_in_panels() const {
    return std::any_of(unit->panels().begin(), unit->panels().end(), [](const auto& panels) { return panels.has_value(); });
  }

  Unit& without_writes() {
    if (updates.empty() && !lies_in_panels()) return *unit;
    if (!pure) pure = made_of(with_outputs(outputs_and_captures()));
    return *pure;
  }

  Unit& derivative(bool reverse, const std::vector<std::size_t>& wrt) {
    std::unique_ptr<Unit>& made = derivatives[{reverse, wrt}];
    if (!made) {
      System primal = with_outputs(outputs);
      primal.wishes.clear();  // they are about runs
      System derived = reverse ? spec::vjp(primal, wrt) : spec::jvp(primal, wrt);
      made = made_of(std::move(derived));
    }
    return *made;
  }
};

namespace {

std::string type_text(DType dtype, const Dims& dims) { return std::string(name_of(dtype)) + to_string(dims); }

void require_type(const Input& input, DType dtype, const Dims& dims) {
  if (input.dtype == dtype && input.dims == dims) return;
  throw SpecViolation(fmt::format("run: input `{}` is {}, got {}", input.name, type_text(input.dtype, input.dims),
                                  type_text(dtype, dims)));
}

void require_bytes(const Input& input, const HostTensor& value) {
  require_type(input, value.dtype, value.dims);
  const std::size_t bytes = static_cast<std::size_t>(value.dims.count()) * size_of(value.dtype);
  if (value.bytes.size() == bytes) return;
  throw SpecViolation(fmt::format("run: input `{}` takes {} bytes, got {}", input.name, bytes, value.bytes.size()));
}

void require_range(const Input& input, const std::byte* data) {
  if (!input.range || input.dims.rank != 0) return;
  std::int64_t value = 0;
  if (input.dtype == DType::i32) {
    std::int32_t narrow = 0;
    std::memcpy(&narrow, data, sizeof narrow);
    value = narrow;
  } else if (input.dtype == DType::i64) {
    std::memcpy(&value, data, sizeof value);
  } else {
    return;
  }
  if (value >= input.range->first && value <= input.range->second) return;
  throw SpecViolation(fmt::format("run: index `{}` is {}, its range is {}..{}", input.name, value, input.range->first,
                                  input.range->second));
}

/// Reading through a pointer to mutable bytes is what kernels do; they write only to updated inputs.
std::byte* bytes_of(const HostTensor& value) { return const_cast<std::byte*>(value.bytes.data()); }

/// Memory for the tensor: what is there, where it has the right type.
std::byte* fitted(const spec::TensorInfo& t, HostTensor& value) {
  if (value.dtype != t.dtype || !(value.dims == t.dims) || value.bytes.empty()) value = HostTensor(t.dtype, t.dims);
  return value.bytes.data();
}

/// The memory of the first `count` outputs of a system: what is there, as far as it has the right types. The others have none.
void remake(const System& system, std::size_t count, std::vector<HostTensor>& outputs, std::vector<std::byte*>& pointers) {
  pointers.assign(system.outputs.size(), nullptr);
  outputs.resize(count);
  for (std::size_t o = 0; o < count; ++o) pointers[o] = fitted(system[system.outputs[o]], outputs[o]);
}

/// Runs a unit with updates: into the program's outputs, and into what the body keeps of captured values.
void run_body(Executable::Body& body, Unit& unit, std::span<std::byte* const> inputs, std::vector<HostTensor>& outputs, std::vector<std::byte*>& pointers) {
  const System& system = unit.system();
  remake(system, body.outputs, outputs, pointers);
  for (std::size_t c = 0; c < body.captured.size(); ++c) {
    const std::size_t o = body.captured[c].output;
    if (o >= body.outputs) pointers[o] = fitted(system[system.outputs[o]], body.captures[c]);
  }
  unit.run(inputs, pointers);
  for (std::size_t c = 0; c < body.captured.size(); ++c) {
    if (body.captured[c].output < body.outputs) body.captures[c] = outputs[body.captured[c].output];
  }
  body.has_run = true;
}

std::vector<HostTensor> run_unit(Unit& unit, const std::vector<std::byte*>& inputs) {
  std::vector<HostTensor> outputs;
  std::vector<std::byte*> pointers;
  remake(unit.system(), unit.system().outputs.size(), outputs, pointers);
  unit.run(inputs, pointers);
  return outputs;
}

/// Memory of all inputs for a call with tensors in order.
std::vector<std::byte*> bind_inputs(const std::vector<Input>& inputs, std::span<const HostTensor> given) {
  const auto constants =
      static_cast<std::size_t>(std::count_if(inputs.begin(), inputs.end(), [](const Input& i) { return i.value.has_value(); }));
  const bool all = given.size() == inputs.size();
  if (!all && given.size() != inputs.size() - constants) {
    throw SpecViolation(fmt::format("run: {} inputs expected, {} given", inputs.size(), given.size()));
  }
  std::vector<std::byte*> pointers;
  std::size_t next = 0;
  for (const Input& input : inputs) {
    const HostTensor& value = !all && input.value ? *input.value : given[next++];
    require_bytes(input, value);
    require_range(input, value.bytes.data());
    pointers.push_back(bytes_of(value));
  }
  return pointers;
}


const Input& input_named(const std::vector<Input>& inputs, const std::string& name) {
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const Input& i) { return i.name == name; });
  if (it == inputs.end()) throw SpecViolation(fmt::format("run: the program has no input `{}`", name));
  return *it;
}

void check_given(const std::vector<Input>& inputs, const Executable::Named& given) {
  for (const auto& [name, value] : given) {
    const Input& input = input_named(inputs, name);
    if (input.role == Role::parameter || input.role == Role::constant) {
      throw SpecViolation(fmt::format("run: `{}` is a {} and is not given at a run", name,
                                      input.role == Role::parameter ? "parameter" : "constant"));
    }
    require_bytes(input, value);
  }
}

Store::Entry& entry_of(const Input& input, Store& store) {
  Store::Entry* entry = store.find(input.name);
  if (entry == nullptr) throw SpecViolation(fmt::format("run: input `{}` is missing", input.name));
  require_type(input, entry->dtype, entry->dims);
  return *entry;
}

std::byte* value_of(const Input& input, Store::Entry& entry) {
  if (!entry.written) throw SpecViolation(fmt::format("run: `{}` has no value yet", input.name));
  return entry.buffer.data();
}

/// Entries of the kept inputs, null for those that are not in the store.
std::vector<Store::Entry*> kept_entries(const Executable::Body& body, Store& store) {
  std::vector<Store::Entry*> entries;
  for (const KeptInput& k : body.kept.inputs) entries.push_back(store.find(body.inputs[k.input].name));
  return entries;
}

/// The unit for what the store holds. Who updates a parameter first decides how it lies; until then who reads it does.
Unit& unit_on(Executable::Body& body, std::span<Store::Entry* const> entries) {
  const std::vector<std::optional<Panels>>& liked = body.unit->panels();
  bool other = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Store::Entry* entry = entries[i];
    if (entry == nullptr) continue;
    const bool writes = body.kept.inputs[i].output.has_value();
    const bool decides = !entry->settled && (writes || (liked[i] && !entry->panels));
    if (decides) Store::lay_out(*entry, liked[i]);
    entry->settled = entry->settled || writes;
    other = other || !(entry->panels == liked[i]);
  }
  if (!other) return *body.unit;
  std::vector<std::optional<Panels>> found = liked;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] != nullptr) found[i] = entries[i]->panels;
  }
  return body.unit_for(found);
}

std::byte* locate(const Input& input, Store& store, const Executable::Named& given) {
  if (input.value) return bytes_of(*input.value);
  if (const auto it = given.find(input.name); it != given.end()) return bytes_of(it->second);
  return value_of(input, entry_of(input, store));
}

Executable make(Task task, const CompileOptions& options) {
  auto body = std::make_shared<Executable::Body>();
  body->options = options;
  if (!options.pool && options.threads > 1) body->options.pool = std::make_shared<ThreadPool>(options.threads);
  if (body->options.pool) body->options.threads = body->options.pool->threads();  // each has memory of its own
  body->jit = options.jit ? options.jit : std::make_shared<Jit>(VectorLevel::avx512, options.cache);
  body->inputs = std::move(task.inputs);
  body->outputs = task.outputs;
  body->captured = std::move(task.captured);
  body->captures.resize(body->captured.size());
  body->updates = std::move(task.updates);
  body->system = std::move(task.system);
  for (std::size_t i = 0; i < body->inputs.size(); ++i) {
    if (body->inputs[i].role != Role::parameter) continue;
    const auto update = std::find_if(body->updates.begin(), body->updates.end(), [&](const PlanOptions::Update& u) { return u.input == i; });
    body->kept.inputs.push_back({i, update == body->updates.end() ? std::nullopt : std::optional(update->output)});
  }
  body->unit = body->made_of(body->system, body->updates, body->kept);
  body->options.decisions.clear();  // derivatives are other systems
  for (const Captured& c : body->captured) {
    const spec::TensorInfo& t = body->system[body->system.outputs[c.output]];
    // An output that is captured is kept a second time.
    if (c.output < body->outputs) body->report.output_bytes += static_cast<std::size_t>(t.dims.count()) * size_of(t.dtype);
  }
  return Executable(std::move(body));
}

}  // namespace

void Executable::declare(Store& store) const {
  for (const Input& input : body_->inputs) {
    if (!input.value) store.declare(input.name, input.dtype, input.dims);
  }
}

std::vector<HostTensor> Executable::run(Store& store, const Named& given) const {
  std::vector<HostTensor> outputs;
  run_into(outputs, store, given);
  return outputs;
}

void Executable::run_into(std::vector<HostTensor>& outputs, Store& store, const Named& given) const {
  check_given(body_->inputs, given);
  std::vector<std::byte*> inputs;
  inputs.reserve(body_->inputs.size());
  for (const Input& input : body_->inputs) {
    inputs.push_back(locate(input, store, given));
    require_range(input, inputs.back());
  }
  std::vector<std::byte*> pointers;
  run_body(*body_, unit_on(*body_, kept_entries(*body_, store)), inputs, outputs, pointers);
}

struct Bound::Run {
  std::shared_ptr<Executable::Body> body;
  struct Source {
    Store::Entry* entry = nullptr;
    const HostTensor* tensor = nullptr;  ///< of a constant, and of what is given; else it is in the store
  };
  std::vector<Source> sources;  ///< per input
  std::vector<Store::Entry*> kept;  ///< per kept input
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

Bound Executable::bind(Store& store, const Named& given) const {
  check_given(body_->inputs, given);
  auto run = std::make_shared<Bound::Run>();
  run->body = body_;
  for (const Input& input : body_->inputs) {
    const auto at = given.find(input.name);
    if (input.value) run->sources.push_back({nullptr, &*input.value});
    else if (at != given.end()) run->sources.push_back({nullptr, &at->second});
    else run->sources.push_back({&entry_of(input, store), nullptr});
  }
  run->kept = kept_entries(*body_, store);
  run->inputs.resize(body_->inputs.size());
  return Bound(std::move(run));
}

void Bound::run_into(std::vector<HostTensor>& outputs) const {
  Executable::Body& body = *run_->body;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const Input& input = body.inputs[i];
    const Run::Source& source = run_->sources[i];
    run_->inputs[i] = source.tensor != nullptr ? bytes_of(*source.tensor) : value_of(input, *source.entry);
    require_range(input, run_->inputs[i]);
  }
  run_body(body, unit_on(body, run_->kept), run_->inputs, outputs, run_->outputs);
}

std::vector<HostTensor> Executable::run(std::span<const HostTensor> inputs) const {
  const std::vector<std::byte*> pointers = bind_inputs(body_->inputs, inputs);
  std::vector<HostTensor> all = run_unit(body_->without_writes(), pointers);
  for (std::size_t c = 0; c < body_->captured.size(); ++c) body_->captures[c] = all[body_->captured[c].output];
  body_->has_run = true;
  all.resize(body_->outputs);
  return all;
}

Derivatives Executable::jvp(std::span<const HostTensor> inputs,
                            std::span<const std::optional<HostTensor>> tangents) const {
  std::vector<std::byte*> pointers = bind_inputs(body_->inputs, inputs);
  if (tangents.size() != body_->inputs.size()) {
    throw SpecViolation(fmt::format("jvp: {} tangents expected, {} given", body_->inputs.size(), tangents.size()));
  }
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i]) continue;
    require_bytes(body_->inputs[i], *tangents[i]);
    wrt.push_back(i);
    pointers.push_back(bytes_of(*tangents[i]));
  }
  Unit& unit = body_->derivative(false, wrt);
  std::vector<HostTensor> all = run_unit(unit, pointers);
  Derivatives result;
  std::size_t next = body_->outputs;
  for (std::size_t i = 0; i < body_->outputs; ++i) {
    const bool real = kind_of(all[i].dtype) == Kind::real;
    result.results.push_back(real ? std::optional(std::move(all[next++])) : std::nullopt);
  }
  all.resize(body_->outputs);
  result.outputs = std::move(all);
  return result;
}

Derivatives Executable::vjp(std::span<const HostTensor> inputs, const std::vector<bool>& wrt,
                            std::span<const std::optional<HostTensor>> cotangents) const {
  std::vector<std::byte*> pointers = bind_inputs(body_->inputs, inputs);
  if (wrt.size() != body_->inputs.size() || cotangents.size() != body_->outputs) {
    throw SpecViolation("vjp: one mark per input and one cotangent per output expected");
  }
  std::vector<HostTensor> zeros;
  zeros.reserve(body_->outputs);
  for (std::size_t i = 0; i < body_->outputs; ++i) {
    const spec::TensorInfo& info = body_->system[body_->system.outputs[i]];
    if (kind_of(info.dtype) != Kind::real) continue;
    Input expected;
    expected.name = info.name + "~";
    expected.dtype = info.dtype;
    expected.dims = info.dims;
    if (cotangents[i]) require_bytes(expected, *cotangents[i]);
    if (!cotangents[i]) zeros.emplace_back(info.dtype, info.dims);
    pointers.push_back(bytes_of(cotangents[i] ? *cotangents[i] : zeros.back()));
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (!wrt[i]) continue;
    if (kind_of(body_->inputs[i].dtype) != Kind::real) {
      throw SpecViolation(fmt::format("vjp: input `{}` is not real", body_->inputs[i].name));
    }
    positions.push_back(i);
  }
  std::vector<HostTensor> all = run_unit(body_->derivative(true, positions), pointers);
  Derivatives result;
  std::size_t next = body_->outputs;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    result.results.push_back(wrt[i] ? std::optional(std::move(all[next++])) : std::nullopt);
  }
  all.resize(body_->outputs);
  result.outputs = std::move(all);
  return result;
}

std::vector<std::string> Executable::captures() const {
  std::vector<std::string> names;
  for (const Captured& c : body_->captured) names.push_back(c.name);
  return names;
}

const HostTensor& Executable::captured(const std::string& name) const {
  for (std::size_t c = 0; c < body_->captured.size(); ++c) {
    if (body_->captured[c].name != name) continue;
    if (!body_->has_run) throw SpecViolation(fmt::format("capture {}: there was no run yet", name));
    return body_->captures[c];
  }
  throw SpecViolation(unknown_name("capture", name, captures()));
}

const Report& Executable::report() const { return body_->report; }
const System& Executable::system() const { return body_->unit->system(); }

Executable compile(const spec::Program& program, const CompileOptions& options) { return make(task_of(program), options); }

Executable compile_system(const System& system, const CompileOptions& options) { return make(task_of(system), options); }

}  // namespace etalon::compiled
