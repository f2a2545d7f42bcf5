#include "training/target.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "spec/error.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/wishes.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

namespace {

using Made = std::variant<compiled::Executable, spec::Backend*>;

std::size_t bytes_of(const spec::ValueType& t) { return static_cast<std::size_t>(t.dims.count()) * size_of(t.dtype); }

/// The value of an input, as compiled::Executable finds it.
HostTensor value_of(const spec::Input& input, const compiled::Store& store, const Named& given) {
  if (input.value) return *input.value;
  const auto at = given.find(input.name);
  if (at == given.end() && !store.contains(input.name)) throw SpecViolation(fmt::format("run: input `{}` is missing", input.name));
  if (at == given.end() && !store.has_value(input.name)) throw SpecViolation(fmt::format("run: `{}` has no value yet", input.name));
  HostTensor value = at == given.end() ? store.read(input.name) : at->second;
  const spec::ValueType want{input.dtype, input.dims}, got{value.dtype, value.dims};
  if (!(want == got)) throw SpecViolation(fmt::format("run: input `{}` is {}, got {}", input.name, to_string(want), to_string(got)));
  if (input.range && input.dtype == DType::i64) {
    const std::int64_t n = value.view<std::int64_t>()[0];
    if (n < input.range->first || n > input.range->second) {
      throw SpecViolation(fmt::format("run: index `{}` is {}, its range is {}..{}", input.name, n, input.range->first, input.range->second));
    }
  }
  return value;
}

void check_given(const spec::Program& program, const Named& given) {
  for (const auto& [name, value] : given) {
    const auto at = std::find_if(program.inputs.begin(), program.inputs.end(), [&n = name](const spec::Input& i) { return i.name == n; });
    if (at == program.inputs.end()) throw SpecViolation(fmt::format("run: the program has no input `{}`", name));
    if (at->role == spec::Role::parameter || at->role == spec::Role::constant) {
      throw SpecViolation(fmt::format("run: `{}` is a {} and is not given at a run", name,
                                      at->role == spec::Role::parameter ? "parameter" : "constant"));
    }
  }
}

/// The program as a backend is asked it: captured values and those of updates are further outputs, each once.
spec::Program asked_of_backend(const spec::Program& given, const std::vector<spec::Update>& updates) {
  spec::Program program = spec::with_captures(given);
  for (const spec::Update& u : updates) {
    if (std::find(program.outputs.begin(), program.outputs.end(), u.value) == program.outputs.end()) program.outputs.push_back(u.value);
  }
  program.updates.clear();
  return program;
}

/// The position of an output.
std::size_t position_of(const spec::Program& program, const std::string& output) {
  return static_cast<std::size_t>(std::find(program.outputs.begin(), program.outputs.end(), output) - program.outputs.begin());
}

}  // namespace

Target Target::cpu(compiled::CompileOptions options) { return Target(std::move(options)); }
Target Target::on(std::shared_ptr<compiled::Device> device, compiled::CompileOptions options) {
  options.device = std::move(device);
  return Target(std::move(options));
}
Target Target::backend(spec::Backend& backend) { return Target(&backend); }

std::string Target::name() const {
  if (const auto* backend = std::get_if<spec::Backend*>(&where_)) return (*backend)->describe().name;
  const std::shared_ptr<compiled::Device>& device = std::get<compiled::CompileOptions>(where_).device;
  return device == nullptr || device->is_host() ? "cpu" : std::string(device->name());
}

Prepared::Prepared(const spec::Program& program, const Target& target)
    : program_(spec::has_open_extents(program) ? spec::with_extents(program) : program),
      made_([&]() -> Made {
        if (const auto* options = std::get_if<compiled::CompileOptions>(&target.where_)) return compiled::compile(program_, *options);
        spec::verify(program_);
        return std::get<spec::Backend*>(target.where_);
      }()),
      target_(target.name()),
      captures_(spec::captures(program_)) {}

void Prepared::declare(compiled::Store& store) const {
  for (const spec::Input& input : program_.inputs) {
    if (!input.value) store.declare(input.name, input.dtype, input.dims);
  }
}

Values Prepared::named(std::vector<HostTensor> outputs, const compiled::Executable& executable) const {
  Values values;
  for (std::size_t i = 0; i < outputs.size(); ++i) values.outputs.emplace_back(program_.outputs[i], std::move(outputs[i]));
  for (const std::string& name : captures_) values.captures.emplace_back(name, executable.captured(name));
  return values;
}

Values Prepared::run(compiled::Store& store, const Named& given) const {
  if (const auto* executable = std::get_if<compiled::Executable>(&made_)) return named(executable->run(store, given), *executable);
  return ask(*std::get<spec::Backend*>(made_), store, given);
}

std::optional<compiled::Bound> Prepared::bind(compiled::Store& store, const Named& given) const {
  const auto* executable = std::get_if<compiled::Executable>(&made_);
  return executable == nullptr ? std::nullopt : std::optional(executable->bind(store, given));
}

Values Prepared::run(const compiled::Bound& bound) const {
  std::vector<HostTensor> outputs;
  bound.run_into(outputs);
  return named(std::move(outputs), std::get<compiled::Executable>(made_));
}

Values Prepared::ask(spec::Backend& backend, compiled::Store& store, const Named& given) const {
  check_given(program_, given);
  const std::vector<spec::Update> updates = spec::all_updates(program_);
  spec::Request request;
  request.id = "run";
  request.program = asked_of_backend(program_, updates);
  for (const spec::Input& input : program_.inputs) request.inputs.push_back(value_of(input, store, given));
  spec::Answer answer = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) throw Unsupported(target_ + ": " + refusal->why);
  const std::vector<HostTensor>& all = std::get<spec::Numbers>(answer).outputs;
  for (const spec::Update& u : updates) store.write(u.parameter, all[position_of(request.program, u.value)]);
  Values values;
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) values.outputs.emplace_back(program_.outputs[i], all[i]);
  for (const std::string& name : captures_) values.captures.emplace_back(name, all[position_of(request.program, name)]);
  return values;
}

std::optional<spec::Making> Prepared::making() const {
  if (const auto* executable = std::get_if<compiled::Executable>(&made_)) {
    const compiled::Report& made = executable->report();
    return spec::Making{made.kernels, made.arena_bytes + made.stack_bytes, made.passes_seconds + made.codegen_seconds, made.cached};
  }
  return std::get<spec::Backend*>(made_)->making(asked_of_backend(program_, spec::all_updates(program_)));
}

RoutineReport Prepared::report() const {
  RoutineReport r;
  r.target = target_;
  for (const spec::Input& input : program_.inputs) {
    if (input.role == spec::Role::parameter) r.bound_bytes += bytes_of({input.dtype, input.dims});
    else if (!input.value) r.given_bytes += bytes_of({input.dtype, input.dims});
  }
  const std::map<std::string, spec::ValueType> types = spec::types_of(program_);
  for (const std::string& name : spec::with_captures(program_).outputs) r.output_bytes += bytes_of(types.at(name));
  const std::optional<spec::Making> made = making();
  if (!made) return r;
  r.kernels = made->kernels;
  r.arena_bytes = made->intermediate_bytes;
  r.compile_seconds = made->compile_seconds;
  r.cached = made->cached;
  r.peak_bytes = made->intermediate_bytes + r.bound_bytes + r.given_bytes + r.output_bytes;
  return r;
}

std::string to_text(const RoutineReport& r) {
  const auto said = [](const std::optional<std::size_t>& n) { return n ? std::to_string(*n) : "not reported"; };
  const std::string seconds = r.compile_seconds ? fmt::format("{:.3f} s{}", *r.compile_seconds, r.cached ? ", from the cache" : "") : "not reported";
  return fmt::format(
      "target       {}\nkernels      {}\nbytes        {} at the peak: {} intermediate, {} bound, {} given, {} of outputs\n"
      "compiled in  {}\n",
      r.target, said(r.kernels), said(r.peak_bytes), said(r.arena_bytes), r.bound_bytes, r.given_bytes, r.output_bytes, seconds);
}

std::string to_json(const RoutineReport& r) {
  using Json = nlohmann::ordered_json;
  const auto said = [](const auto& n) { return n ? Json(*n) : Json(nullptr); };
  return Json{{"kind", "routine"},
              {"target", r.target},
              {"kernels", said(r.kernels)},
              {"arena_bytes", said(r.arena_bytes)},
              {"bound_bytes", r.bound_bytes},
              {"given_bytes", r.given_bytes},
              {"output_bytes", r.output_bytes},
              {"peak_bytes", said(r.peak_bytes)},
              {"compile_seconds", said(r.compile_seconds)},
              {"cached", r.cached}}
      .dump();
}

}  // namespace etalon::training
