#include "compiled/runtime/body.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "spec/error.hpp"

namespace etalon::compiled {

using spec::Input;
using spec::System;

namespace {

/// Reading through a pointer to mutable bytes is what kernels do; they write only to updated inputs.
std::byte* bytes_of(const HostTensor& value) { return const_cast<std::byte*>(value.bytes.data()); }

std::size_t bytes_of(const spec::TensorInfo& t) { return static_cast<std::size_t>(t.dims.count()) * size_of(t.dtype); }

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

/// The unit for what the store holds. Who updates a parameter first decides how it lies; until then who reads it does.
const Unit& unit_on(Units& units, std::span<Store::Entry* const> entries, bool on_host) {
  const std::vector<std::optional<Panels>>& liked = units.first().panels();
  bool other = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Store::Entry* entry = entries[i];
    if (entry == nullptr) continue;
    const bool writes = units.kept()[i].output.has_value();
    const bool decides = !entry->settled && (writes || (liked[i] && !entry->panels));
    if (decides) Store::lay_out(*entry, liked[i]);
    // Entries that are only read are left alone: others may read them at the same time.
    if (writes) entry->settled = true;
    if (writes && on_host) entry->newest = Store::Newest::host;
    other = other || !(entry->panels == liked[i]);
  }
  if (!other) return units.first();
  std::vector<std::optional<Panels>> found = liked;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] != nullptr) found[i] = entries[i]->panels;
  }
  return units.laid_out(found);
}

void require_value(const Input& input, const Store::Entry& entry) {
  if (!entry.written) throw SpecViolation(fmt::format("run: `{}` has no value yet", input.name));
}

}  // namespace

Executable::Body::Body(std::shared_ptr<Units> units)
    : captures(units->task().captured.size()), units_(std::move(units)), device_(units_->device()), on_host_(device_->is_host()),
      report_(units_->first().report()), staging_(device_) {
  for (const Captured& c : task().captured) {
    // An output that is captured is kept a second time.
    if (c.output < task().outputs) report_.output_bytes += bytes_of(task().system[task().system.outputs[c.output]]);
  }
  report_.arena_bytes = units_->first().arena_bytes();
}

/// A unit on this memory.
Replay& Executable::Body::on(const Unit& unit) {
  if (unit.arena_bytes() > arena_.size()) {
    arena_ = Buffer();
    arena_ = Buffer(device_, unit.arena_bytes());
    report_.arena_bytes = arena_.size();
  }
  const auto found = std::ranges::find(replays_, &unit, &Made::unit);
  if (found != replays_.end()) return *found->replay;
  replays_.push_back({&unit, unit.module().replay()});
  report_.stack_bytes = std::max(report_.stack_bytes, unit.report().stack_bytes);
  return *replays_.back().replay;
}

std::vector<Store::Entry*> Executable::Body::kept_entries(Store& store) const {
  std::vector<Store::Entry*> entries;
  for (const KeptInput& k : units_->kept()) entries.push_back(store.find(task().inputs[k.input].name));
  return entries;
}

void Executable::Body::step(std::span<const InputSource> sources, std::span<Store::Entry* const> kept, std::vector<HostTensor>* results) {
  if (on_host_) place_on_host(sources);
  else check_values(sources);
  const Unit& unit = unit_on(*units_, kept, on_host_);
  if (on_host_) step_on_host(unit, results != nullptr ? *results : unasked_);
  else step_elsewhere(unit, sources, kept, results);
  has_run = true;
}

/// What is on the host stays where it is, however it lies. Small programs have many inputs and are over soon.
void Executable::Body::place_on_host(std::span<const InputSource> sources) {
  const std::vector<Input>& inputs = task().inputs;
  inputs_.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Store::Entry* entry = sources[i].entry;
    if (entry == nullptr) {
      inputs_[i] = bytes_of(*sources[i].tensor);
    } else if (entry->written && entry->newest != Store::Newest::device) {
      inputs_[i] = entry->buffer.data();
    } else {
      require_value(inputs[i], *entry);
      inputs_[i] = Store::on_device(*entry, device_);
    }
    if (inputs[i].range) require_range(inputs[i], inputs_[i]);
  }
}

void Executable::Body::check_values(std::span<const InputSource> sources) const {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const InputSource& s = sources[i];
    const Input& input = task().inputs[i];
    if (s.entry != nullptr) require_value(input, *s.entry);
    if (input.range) require_range(input, s.tensor != nullptr ? bytes_of(*s.tensor) : Store::on_host(*s.entry));
  }
}

void Executable::Body::step_on_host(const Unit& unit, std::vector<HostTensor>& results) {
  const System& system = unit.system();
  remake(system, task().outputs, results, outputs_);
  for (std::size_t c = 0; c < captures.size(); ++c) {
    const std::size_t o = task().captured[c].output;
    if (o >= task().outputs) outputs_[o] = fitted(system[system.outputs[o]], captures[c]);
  }
  (void)on(unit).run({inputs_, outputs_, arena_.data()});
  for (std::size_t c = 0; c < captures.size(); ++c) {
    if (task().captured[c].output < task().outputs) captures[c] = results[task().captured[c].output];
  }
}

void Executable::Body::step_elsewhere(const Unit& unit, std::span<const InputSource> sources, std::span<Store::Entry* const> kept,
                                      std::vector<HostTensor>* results) {
  has_run = false;
  run_elsewhere(unit, sources);
  if (results != nullptr) {
    results->resize(task().outputs);
    for (std::size_t o = 0; o < task().outputs; ++o) fetch(unit, o, (*results)[o]);
  }
  for (std::size_t c = 0; c < captures.size(); ++c) fetch(unit, task().captured[c].output, captures[c]);
  // Nothing fails any more: the new values are the store's, and their old memory is for the next ones.
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const std::optional<std::size_t> output = units_->kept()[k].output;
    if (!output || outputs_[*output] == nullptr) continue;
    std::swap(kept[k]->remote, staging_.output(*output, kept[k]->buffer.size()));
    kept[k]->newest = Store::Newest::device;
  }
}

std::vector<HostTensor> Executable::Body::evaluate(const Unit& unit, std::span<const InputSource> sources) {
  const System& system = unit.system();
  std::vector<HostTensor> results;
  if (on_host_) {
    inputs_.clear();
    for (const InputSource& s : sources) inputs_.push_back(bytes_of(*s.tensor));
    remake(system, system.outputs.size(), results, outputs_);
    (void)on(unit).run({inputs_, outputs_, arena_.data()});
    return results;
  }
  run_elsewhere(unit, sources);
  results.resize(system.outputs.size());
  for (std::size_t o = 0; o < results.size(); ++o) fetch(unit, o, results[o]);
  return results;
}

/// Leaves all outputs in the staging memory.
void Executable::Body::run_elsewhere(const Unit& unit, std::span<const InputSource> sources) {
  const System& system = unit.system();
  Replay& replay = on(unit);
  inputs_.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const InputSource& s = sources[i];
    const std::string& name = system[system.inputs[i]].name;
    inputs_.push_back(s.tensor == nullptr ? Store::on_device(*s.entry, device_) : naming("run: `" + name + "`", [&] {
      return staging_.input(i, s.tensor->bytes, s.constant);
    }));
  }
  outputs_.clear();
  for (std::size_t o = 0; o < system.outputs.size(); ++o) {
    const spec::TensorInfo& t = system[system.outputs[o]];
    naming("run: `" + t.name + "`", [&] { outputs_.push_back(staging_.output(o, bytes_of(t)).data()); });
  }
  naming("run", [&] { device_->wait(replay.run({inputs_, outputs_, arena_.data()})); });
}

/// An output of the last run.
void Executable::Body::fetch(const Unit& unit, std::size_t output, HostTensor& to) {
  const spec::TensorInfo& t = unit.system()[unit.system().outputs[output]];
  std::byte* at = fitted(t, to);
  if (to.bytes.empty()) return;
  naming("run: `" + t.name + "`", [&] { device_->download({at, to.bytes.size()}, outputs_[output]); });
}

}  // namespace etalon::compiled
