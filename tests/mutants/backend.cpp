#include "tests/mutants/backend.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/executable.hpp"
#include "conformance/question.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "tests/mutants/answers.hpp"

namespace etalon::mutants {
namespace {

using conformance::Question;
using spec::Answer;
using spec::Mode;
using spec::Numbers;
using spec::Refusal;
using spec::Request;
using spec::System;

bool same(const System& a, const System& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.tensors.size() == b.tensors.size() &&
         std::equal(a.equations.begin(), a.equations.end(), b.equations.begin(), b.equations.end(),
                    [](const spec::Equation& x, const spec::Equation& y) {
                      return x.target == y.target && x.binders == y.binders && x.place == y.place && x.value == y.value;
                    });
}

bool same_types(const System& a, const System& b) {
  return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    [](const spec::TensorInfo& x, const spec::TensorInfo& y) {
                      return x.dtype == y.dtype && x.dims == y.dims && x.name == y.name;
                    });
}

std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

bool is_well_formed(const System& system) {
  try {
    spec::verify(system);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

class Backend final : public Mutated {
 public:
  explicit Backend(const Mutant& mutant) : mutant_(mutant) {
    options_.device = std::make_shared<compiled::Processor>();
    sound_ = compiled::make_cpu_backend(options_);
    if (mutant.after_passes == nullptr) return;
    options_.interpose = [change = mutant.after_passes](std::string_view stage, spec::System& system) {
      if (stage == "separate_outputs") change(system);
    };
  }

  [[nodiscard]] spec::Description describe() const override { return sound_->describe(); }

  [[nodiscard]] bool touches(const Request& request) override {
    if (mutant_.rewrite == nullptr && mutant_.primal == nullptr) return true;
    try {
      return system_for(request).changed;
    } catch (const std::exception&) {
      return false;
    }
  }

  [[nodiscard]] Answer run(const Request& request) override {
    if (mutant_.respond != nullptr) {
      return mutant_.respond(
          request, [this](const Request& r) { return sound_->run(r); }, memory_);
    }
    try {
      spec::verify(request.program);
      const Mutation mutation = system_for(request);
      if (!mutation.changed && mutant_.after_passes == nullptr) return sound_->run(request);
      return answered(request, mutation);
    } catch (const SpecViolation&) {
      return sound_->run(request);
    } catch (const std::exception& e) {
      return Refusal{Refusal::Kind::error, e.what(), {}};
    }
  }

 private:
  struct Mutation {
    Question question;  ///< with the mutated system
    bool changed = false;
  };
  struct Made {
    System system;
    compiled::Executable executable;
  };

  Mutation system_for(const Request& request) {
    Mutation m{conformance::question_of(request), false};
    System system = mutated(request, m.question.system);
    // A rewrite that leaves no system behind does not apply here.
    if (same(system, m.question.system) || !is_well_formed(system)) return m;
    m.question.system = std::move(system);
    m.changed = true;
    return m;
  }

  System mutated(const Request& request, const System& right) const {
    System system = right;
    if (mutant_.primal != nullptr) {
      if (request.mode != Mode::jvp && request.mode != Mode::vjp) return right;
      System primal = spec::lower(request.program);
      primal.outputs.resize(request.program.outputs.size());
      const System before = primal;
      mutant_.primal(primal);
      if (same(primal, before) || !is_well_formed(primal)) return right;
      const auto wrt = marked(request.wrt);
      system = request.mode == Mode::jvp ? spec::jvp(primal, wrt) : spec::vjp(primal, wrt);
    } else if (mutant_.rewrite != nullptr) {
      mutant_.rewrite(system, request.mode);
    }
    return system;
  }

  Answer answered(const Request& request, const Mutation& m) {
    const std::vector<HostTensor> all = executable(m.question.system).run(m.question.inputs);
    Numbers numbers;
    for (const conformance::AnswerList& list : m.question.lists) {
      std::size_t next = list.first;
      std::vector<std::optional<HostTensor>> tensors;
      for (const bool present : list.present) tensors.push_back(present ? std::optional(all[next++]) : std::nullopt);
      if (list.name == "tangents" || list.name == "cotangent_tangents") numbers.tangents = tensors;
      if (list.name == "cotangents") numbers.cotangents = tensors;
      if (list.name != "outputs") continue;
      for (auto& t : tensors) numbers.outputs.push_back(std::move(*t));
    }
    if (mutant_.primal != nullptr) {
      Answer right = sound_->run(request);
      if (const Numbers* sound = numbers_of(right)) numbers.outputs = sound->outputs;
    }
    return numbers;
  }

  compiled::Executable executable(const System& system) {
    constexpr std::size_t kept = 16;
    for (const Made& made : made_) {
      if (same(made.system, system) && same_types(made.system, system)) return made.executable;
    }
    compiled::Executable executable = compiled::compile_system(system, options_);
    if (made_.size() == kept) made_.pop_front();
    made_.push_back({system, executable});
    return executable;
  }

  Mutant mutant_;
  compiled::CompileOptions options_;
  std::unique_ptr<spec::Backend> sound_;
  Memory memory_;
  std::deque<Made> made_;
};

}  // namespace

std::unique_ptr<Mutated> make_mutant(const Mutant& mutant) { return std::make_unique<Backend>(mutant); }

}  // namespace etalon::mutants
