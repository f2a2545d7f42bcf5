#include "conformance/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "spec/derivative/absent_seeds.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::conformance {
namespace {

using spec::Mode;
using Optional = std::vector<std::optional<HostTensor>>;

[[nodiscard]] std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

/// One seed per position, zero where none is given.
void add_seeds(std::vector<HostTensor>& inputs, const Optional& given, const std::vector<std::size_t>& positions,
               const spec::System& system, const std::vector<spec::TensorId>& of, std::vector<std::size_t>& absent) {
  for (const std::size_t i : positions) {
    const spec::TensorInfo& info = system[of[i]];
    const bool is_given = i < given.size() && given[i];
    if (!is_given) absent.push_back(inputs.size());
    inputs.push_back(is_given ? *given[i] : HostTensor(info.dtype, info.dims));
  }
}

class Asking {
 public:
  enum class Reductions { shared, apart };

  explicit Asking(const spec::Request& request, Reductions reductions = Reductions::shared)
      : request_(request), program_(spec::lower(request.program)) {
    if (reductions == Reductions::apart) spec::name_reductions_apart(program_);
    program_.outputs.resize(request.program.outputs.size());
    for (const spec::TensorId id : program_.outputs) real_.push_back(kind_of(program_[id].dtype) == Kind::real);
    wrt_ = marked(request.wrt);
    per_input_.assign(request.inputs.size(), false);
    for (const std::size_t i : wrt_) per_input_[i] = true;
  }

  [[nodiscard]] Question run() {
    question_.inputs = request_.inputs;
    ask();
    list("outputs", std::vector<bool>(real_.size(), true));
    if (request_.mode == Mode::jvp) list("tangents", real_);
    if (request_.mode == Mode::vjp || request_.mode == Mode::jvp_of_vjp) list("cotangents", per_input_);
    if (request_.mode == Mode::jvp_of_vjp) list("cotangent_tangents", per_input_);
    return std::move(question_);
  }

 private:
  [[nodiscard]] static std::size_t count(const std::vector<bool>& present) {
    return static_cast<std::size_t>(std::count(present.begin(), present.end(), true));
  }

  void list(std::string name, const std::vector<bool>& present) {
    question_.lists.push_back({std::move(name), present, next_});
    next_ += count(present);
  }

  void ask() {
    switch (request_.mode) {
      case Mode::forward:
        question_.system = program_;
        return;
      case Mode::jvp:
        add_seeds(request_.tangents, wrt_, program_.inputs);
        question_.system = spec::jvp(program_, wrt_);
        question_.first_tangent = real_.size();
        break;
      case Mode::vjp:
      case Mode::jvp_of_vjp:
        add_seeds(request_.cotangents, marked(real_), program_.outputs);
        question_.system = spec::vjp(program_, wrt_);
        if (request_.mode == Mode::vjp) return;
        question_.first_tangent = real_.size() + wrt_.size();
        move_cotangents(question_.system, question_.inputs, request_.wrt, request_.tangents, request_.cotangent_tangents, question_.absent);
        break;
    }
    const std::size_t seeds = request_.mode == Mode::jvp ? 0 : static_cast<std::size_t>(std::count(real_.begin(), real_.end(), true));
    for (std::size_t i = request_.inputs.size() + seeds; i < question_.inputs.size(); ++i) question_.tangents.push_back(i);
  }

  void add_seeds(const Optional& given, const std::vector<std::size_t>& positions, const std::vector<spec::TensorId>& of) {
    conformance::add_seeds(question_.inputs, given, positions, program_, of, question_.absent);
  }

  const spec::Request& request_;
  spec::System program_;
  Question question_;
  std::vector<bool> real_, per_input_;
  std::vector<std::size_t> wrt_;
  std::size_t next_ = 0;
};

}  // namespace

void leave_out(spec::System& system, const std::vector<std::size_t>& absent) {
  if (absent.empty()) return;
  std::vector<spec::TensorId> seeds;
  for (const std::size_t i : absent) seeds.push_back(system.inputs.at(i));
  system = spec::without_seeds(system, seeds);
}

void move_cotangents(spec::System& system, std::vector<HostTensor>& inputs, const std::vector<bool>& wrt, const Optional& tangents,
                     const Optional& cotangent_tangents, std::vector<std::size_t>& absent) {
  std::vector<std::size_t> moving = marked(wrt);
  const auto results = static_cast<std::ptrdiff_t>(system.outputs.size() - moving.size());
  const std::vector<spec::TensorId> of(system.outputs.begin(), system.outputs.begin() + results);
  std::vector<std::size_t> real;
  for (std::size_t r = 0; r < of.size(); ++r) {
    if (kind_of(system[of[r]].dtype) == Kind::real) real.push_back(r);
  }
  const std::size_t seeded = inputs.size();
  add_seeds(inputs, tangents, moving, system, system.inputs, absent);
  add_seeds(inputs, cotangent_tangents, real, system, of, absent);
  for (std::size_t i = seeded - real.size(); i < seeded; ++i) moving.push_back(i);
  const auto answered = static_cast<std::ptrdiff_t>(system.outputs.size());
  system = spec::jvp(system, moving);
  // Tangents of the results, which nobody asks for, stand behind the cotangents.
  const auto unasked = system.outputs.begin() + answered;
  system.outputs.erase(unasked, unasked + static_cast<std::ptrdiff_t>(real.size()));
}

Question literal_question_of(const spec::Request& request) { return Asking(request).run(); }

Question question_of(const spec::Request& request) {
  Question question = literal_question_of(request);
  leave_out(question.system, question.absent);
  return question;
}

Question unshared_question_of(const spec::Request& request) {
  Question question = Asking(request, Asking::Reductions::apart).run();
  leave_out(question.system, question.absent);
  return question;
}

std::vector<std::string> Question::names() const {
  std::vector<std::string> names;
  for (const spec::TensorId id : system.outputs) names.push_back(system[id].name);
  return names;
}

std::string Question::take(const spec::Numbers& numbers, std::vector<HostTensor>& got) const {
  const Optional outputs(numbers.outputs.begin(), numbers.outputs.end());
  for (const AnswerList& list : lists) {
    const Optional& from = list.name == "outputs" ? outputs : list.name == "cotangents" ? numbers.cotangents : numbers.tangents;
    if (from.size() != list.present.size()) return fmt::format("expected {} {}, got {}", list.present.size(), list.name, from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (list.present[i] && !from[i]) return fmt::format("{}[{}] is missing", list.name, i);
      if (!list.present[i] && from[i]) return fmt::format("{}[{}] stands where there is none", list.name, i);
      if (from[i]) got.push_back(*from[i]);
    }
  }
  return "";
}

}  // namespace etalon::conformance
