#include "compiled/runtime/executable.hpp"

#include <utility>

#include <fmt/format.h>

#include "compiled/runtime/body.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::compiled {

using spec::Input;
using spec::System;

namespace {

Executable make(Task task, const CompileOptions& options) {
  auto body = std::make_shared<Executable::Body>(std::make_shared<Units>(std::move(task), options));
  body->prepare();
  return Executable(std::move(body));
}

/// What a derivative's system gives: outputs, and behind them a result for each mark that is set.
Derivatives sorted(std::vector<HostTensor> all, std::size_t outputs, const std::vector<bool>& marks) {
  Derivatives result;
  std::size_t next = outputs;
  for (const bool mark : marks) result.results.push_back(mark ? std::optional(std::move(all[next++])) : std::nullopt);
  all.resize(outputs);
  result.outputs = std::move(all);
  return result;
}

}  // namespace

Executable::Executable(const Executable& other) : body_(std::make_shared<Body>(other.body_->shared_units())) {}

Executable& Executable::operator=(const Executable& other) {
  if (this != &other) body_ = std::make_shared<Body>(other.body_->shared_units());
  return *this;
}

void Executable::declare(Store& store) const {
  for (const Input& input : body_->task().inputs) {
    if (!input.value) store.declare(input.name, input.dtype, input.dims);
  }
}

std::vector<HostTensor> Executable::run(Store& store, const Named& given) const {
  std::vector<HostTensor> outputs;
  run_into(outputs, store, given);
  return outputs;
}

void Executable::run_into(std::vector<HostTensor>& outputs, Store& store, const Named& given) const {
  body_->step(sources_of(body_->task().inputs, store, given), body_->kept_entries(store), &outputs);
}

struct Bound::Run {
  std::shared_ptr<Executable::Body> body;
  std::vector<InputSource> sources;      ///< per input
  std::vector<Store::Entry*> kept;  ///< per kept input
};

Bound Executable::bind(Store& store, const Named& given) const {
  std::vector<InputSource> sources = sources_of(body_->task().inputs, store, given);
  return Bound(std::make_shared<Bound::Run>(Bound::Run{body_, std::move(sources), body_->kept_entries(store)}));
}

void Bound::run_into(std::vector<HostTensor>& outputs) const { run_->body->step(run_->sources, run_->kept, &outputs); }

void Bound::run() const { run_->body->step(run_->sources, run_->kept, nullptr); }

std::vector<HostTensor> Executable::run(std::span<const HostTensor> inputs) const {
  std::vector<HostTensor> all = body_->evaluate(body_->units().without_writes(), sources_of(body_->task().inputs, inputs));
  for (std::size_t c = 0; c < body_->task().captured.size(); ++c) body_->captures[c] = all[body_->task().captured[c].output];
  body_->has_run = true;
  all.resize(body_->task().outputs);
  return all;
}

Derivatives Executable::jvp(std::span<const HostTensor> inputs,
                            std::span<const std::optional<HostTensor>> tangents) const {
  std::vector<InputSource> sources = sources_of(body_->task().inputs, inputs);
  if (tangents.size() != body_->task().inputs.size()) {
    throw SpecViolation(fmt::format("jvp: {} tangents expected, {} given", body_->task().inputs.size(), tangents.size()));
  }
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i]) continue;
    require_bytes(body_->task().inputs[i], *tangents[i]);
    wrt.push_back(i);
    sources.push_back({&*tangents[i]});
  }
  std::vector<HostTensor> all = body_->evaluate(body_->units().derivative(false, wrt), sources);
  std::vector<bool> real;
  for (std::size_t i = 0; i < body_->task().outputs; ++i) real.push_back(kind_of(all[i].dtype) == Kind::real);
  return sorted(std::move(all), body_->task().outputs, real);
}

Derivatives Executable::vjp(std::span<const HostTensor> inputs, const std::vector<bool>& wrt,
                            std::span<const std::optional<HostTensor>> cotangents) const {
  std::vector<InputSource> sources = sources_of(body_->task().inputs, inputs);
  if (wrt.size() != body_->task().inputs.size() || cotangents.size() != body_->task().outputs) {
    throw SpecViolation("vjp: one mark per input and one cotangent per output expected");
  }
  std::vector<HostTensor> zeros;
  zeros.reserve(body_->task().outputs);
  for (std::size_t i = 0; i < body_->task().outputs; ++i) {
    const spec::TensorInfo& info = body_->task().system[body_->task().system.outputs[i]];
    if (kind_of(info.dtype) != Kind::real) continue;
    Input expected;
    expected.name = info.name + "~";
    expected.dtype = info.dtype;
    expected.dims = info.dims;
    if (cotangents[i]) require_bytes(expected, *cotangents[i]);
    if (!cotangents[i]) zeros.emplace_back(info.dtype, info.dims);
    sources.push_back({cotangents[i] ? &*cotangents[i] : &zeros.back()});
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (!wrt[i]) continue;
    if (kind_of(body_->task().inputs[i].dtype) != Kind::real) {
      throw SpecViolation(fmt::format("vjp: input `{}` is not real", body_->task().inputs[i].name));
    }
    positions.push_back(i);
  }
  return sorted(body_->evaluate(body_->units().derivative(true, positions), sources), body_->task().outputs, wrt);
}

std::vector<std::string> Executable::captures() const {
  std::vector<std::string> names;
  for (const Captured& c : body_->task().captured) names.push_back(c.name);
  return names;
}

const HostTensor& Executable::captured(const std::string& name) const {
  for (std::size_t c = 0; c < body_->task().captured.size(); ++c) {
    if (body_->task().captured[c].name != name) continue;
    if (!body_->has_run) throw SpecViolation(fmt::format("capture {}: there was no run yet, or the last one failed", name));
    return body_->captures[c];
  }
  throw SpecViolation(unknown_name("capture", name, captures()));
}

const Report& Executable::report() const { return body_->report(); }
const System& Executable::system() const { return body_->units().first().system(); }

Executable compile(const spec::Program& program, const CompileOptions& options) { return make(task_of(program), options); }

Executable compile_system(const System& system, const CompileOptions& options) { return make(task_of(system), options); }

}  // namespace etalon::compiled
