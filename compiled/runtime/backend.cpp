#include "compiled/runtime/backend.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/question.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using spec::Answer;
using spec::Refusal;
using spec::Request;
using spec::System;

namespace {

/// Programs whose code is kept, so that a case with other values does not compile again.
constexpr std::size_t kept_programs = 256;

/// A backend that makes each system into something that runs.
class SystemBackend final : public spec::Backend {
 public:
  SystemBackend(std::string name, spec::Contract contract, RunnerMaker make, std::size_t foresight = 0)
      : name_(std::move(name)), contract_(std::move(contract)), make_(std::move(make)), foresight_(foresight) {}

  [[nodiscard]] spec::Description describe() const override {
    using spec::Mode;
    spec::Description d;
    d.name = name_;
    d.version = "1";
    d.dtypes = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
    d.modes = {Mode::forward, Mode::jvp, Mode::vjp, Mode::jvp_of_vjp};
    d.contract = contract_;
    d.generator = "philox4x32-10";
    return d;
  }

  [[nodiscard]] Answer run(const Request& request) override {
    try {
      Question q = question_of(request);
      const Runner runner = made(q.system).run;
      return numbers_of(q, request.mode, runner(q.inputs));
    } catch (const SpecViolation& e) {
      return Refusal{Refusal::Kind::rejected, e.what(), {}};
    } catch (const Unsupported& e) {
      return Refusal{Refusal::Kind::unsupported, e.what(), "operation"};
    } catch (const std::exception& e) {
      return Refusal{Refusal::Kind::error, e.what(), {}};
    }
  }

  [[nodiscard]] std::size_t foresight() const override { return foresight_; }

  void expect(std::span<const Request> requests) override {
    for (const Request& request : requests) {
      try {
        (void)made(question_of(request).system);
      } catch (const std::exception&) {
        // Whoever asks it hears of it then.
      }
    }
  }

  [[nodiscard]] std::optional<spec::Making> making(const spec::Program& program) override {
    try {
      return made(outputs_of(program)).making;
    } catch (const SpecViolation&) {
      return std::nullopt;
    } catch (const Unsupported&) {
      return std::nullopt;
    }
  }

 private:
  struct Made {
    std::size_t hash;
    System system;
    Runnable runnable;
  };

  [[nodiscard]] const Runnable& made(const System& system) {
    const std::size_t hash = hash_of(system);
    for (const Made& one : made_) {
      if (one.hash == hash && same(one.system, system)) return one.runnable;
    }
    Runnable runnable = make_(system);
    if (made_.size() == kept_programs) made_.pop_front();
    made_.push_back({hash, system, std::move(runnable)});
    return made_.back().runnable;
  }

  std::string name_;
  spec::Contract contract_;
  RunnerMaker make_;
  std::size_t foresight_;
  std::deque<Made> made_;
};

RunnerMaker on_device(const CompileOptions& options, const std::optional<Drawing>& drawing = std::nullopt) {
  return [options, drawing](const System& system) -> Runnable {
    CompileOptions own = options;
    if (drawing) own.decisions = drawn_decisions(system, options, options.device->machine(), *drawing);
    const Executable executable = compile_system(system, own);
    const Report& r = executable.report();
    return {[executable](std::span<const HostTensor> inputs) { return executable.run(inputs); },
            spec::Making{r.kernels, r.arena_bytes + r.stack_bytes, r.passes_seconds + r.codegen_seconds, r.cached}};
  };
}

}  // namespace

std::unique_ptr<spec::Backend> make_system_backend(std::string name, RunnerMaker make) {
  spec::Contract promised = spec::contract_named(name);
  return std::make_unique<SystemBackend>(std::move(name), std::move(promised), std::move(make));
}

std::unique_ptr<spec::Backend> make_device_backend(const CompileOptions& options, spec::Contract contract, std::size_t foresight) {
  // A request asks two programs at most.
  const std::size_t most = std::min(foresight, kept_programs / 2);
  return std::make_unique<SystemBackend>(std::string(options.device->name()), std::move(contract), on_device(options), most);
}

std::unique_ptr<spec::Backend> make_cpu_backend(const CompileOptions& options, const std::optional<Drawing>& drawing) {
  CompileOptions shared = options;
  if (!shared.device) shared.device = std::make_shared<Processor>();
  spec::Contract promised = options.schedule.promises.value_or(spec::contract_named("cpu"));
  std::string name = promised.name;
  return std::make_unique<SystemBackend>(std::move(name), std::move(promised), on_device(shared, drawing));
}

}  // namespace etalon::compiled
