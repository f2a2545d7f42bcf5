#include "conformance/question.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "spec/derivative/derivative.hpp"

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

class Asking {
 public:
  explicit Asking(const spec::Request& request) : request_(request), program_(spec::lower(request.program)) {
    program_.outputs.resize(request.program.outputs.size());
    for (const spec::TensorId id : program_.outputs) real_.push_back(kind_of(program_[id].dtype) == Kind::real);
    wrt_ = marked(request.wrt);
    per_input_.assign(request.inputs.size(), false);
    for (const std::size_t i : wrt_) per_input_[i] = true;
  }

  [[nodiscard]] Question run() {
    question_.inputs = request_.inputs;
    question_.system = system_of_mode();
    list("outputs", std::vector<bool>(real_.size(), true));
    if (request_.mode == Mode::jvp) list("tangents", real_);
    if (request_.mode == Mode::vjp || request_.mode == Mode::jvp_of_vjp) list("cotangents", per_input_);
    if (request_.mode == Mode::jvp_of_vjp) {
      list("cotangent_tangents", per_input_);
    }
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

  [[nodiscard]] spec::System system_of_mode() {
    switch (request_.mode) {
      case Mode::forward:
        return program_;
      case Mode::jvp:
        add_seeds(request_.tangents, wrt_, program_.inputs);
        return spec::jvp(program_, wrt_);
      case Mode::vjp:
        add_seeds(request_.cotangents, marked(real_), program_.outputs);
        return spec::vjp(program_, wrt_);
      case Mode::jvp_of_vjp:
        break;
    }
    std::vector<std::size_t> moving = wrt_;
    const std::size_t first = question_.inputs.size();
    add_seeds(request_.cotangents, marked(real_), program_.outputs);
    for (std::size_t i = first; i < question_.inputs.size(); ++i) moving.push_back(i);
    add_seeds(request_.tangents, wrt_, program_.inputs);
    add_seeds(request_.cotangent_tangents, marked(real_), program_.outputs);
    spec::System system = spec::jvp(spec::vjp(program_, wrt_), moving);
    // The mode does not answer the tangents of the outputs, which stand behind the cotangents.
    const auto first_tangent = system.outputs.begin() + static_cast<std::ptrdiff_t>(real_.size() + wrt_.size());
    system.outputs.erase(first_tangent, first_tangent + static_cast<std::ptrdiff_t>(count(real_)));
    return system;
  }

  /// One seed per position, zero where none is given.
  void add_seeds(const Optional& given, const std::vector<std::size_t>& positions,
                 const std::vector<spec::TensorId>& of) {
    for (const std::size_t i : positions) {
      const spec::TensorInfo& info = program_[of[i]];
      question_.inputs.push_back(i < given.size() && given[i] ? *given[i] : HostTensor(info.dtype, info.dims));
    }
  }

  const spec::Request& request_;
  spec::System program_;
  Question question_;
  std::vector<bool> real_, per_input_;
  std::vector<std::size_t> wrt_;
  std::size_t next_ = 0;
};

}  // namespace

Question question_of(const spec::Request& request) { return Asking(request).run(); }

}  // namespace etalon::conformance
