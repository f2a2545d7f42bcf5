#include "conformance/filled_seeds.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "conformance/question.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/derivative/dependence.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/program/program.hpp"
#include "spec/system/fresh_names.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::conformance {
namespace {

using spec::Mode;
using spec::TensorId;
using Optional = std::vector<std::optional<HostTensor>>;

/// A program's system that gets seeds as inputs, those that are given and zeros.
class Filling {
 public:
  explicit Filling(const spec::Request& request) : request_(request), system_(spec::lower(request.program)) {
    system_.outputs.resize(request.program.outputs.size());
    inputs_ = request.inputs;
  }

  [[nodiscard]] std::optional<Filled> tangents() {
    for (std::size_t i = 0; i < system_.inputs.size(); ++i) {
      if (is_marked(i) && is_given(request_.tangents, i)) seed(system_.inputs[i], *request_.tangents[i]);
    }
    for (const TensorId t : system_.inputs) fill(t);
    fill_constants();
    if (!filled_) return std::nullopt;
    return appended(spec::append_jvp(system_, real_outputs(), seeded_, seeds_));
  }

  [[nodiscard]] std::optional<Filled> cotangents() {
    spec::System read = system_;
    read.outputs.clear();
    for (std::size_t o = 0; o < system_.outputs.size(); ++o) {
      if (!is_given(request_.cotangents, o)) continue;
      seed(system_.outputs[o], *request_.cotangents[o]);
      read.outputs.push_back(system_.outputs[o]);
    }
    spec::remove_dead(read);
    std::set<TensorId> live(read.inputs.begin(), read.inputs.end());
    for (const spec::Equation& q : read.equations) live.insert(q.target);
    for (const spec::Equation& q : system_.equations) {
      if (!live.contains(q.target)) fill(q.target);
    }
    // An output that others read has a cotangent of its own.
    for (const TensorId t : real_outputs()) fill(t);
    if (!filled_) return std::nullopt;
    std::vector<TensorId> variables;
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      if (is_marked(i)) variables.push_back(system_.inputs[i]);
    }
    return appended(spec::append_vjp(system_, seeded_, seeds_, variables));
  }

 private:
  [[nodiscard]] bool is_marked(std::size_t input) const { return input < request_.wrt.size() && request_.wrt[input]; }
  [[nodiscard]] bool is_real(TensorId t) const { return kind_of(system_[t].dtype) == Kind::real; }
  [[nodiscard]] static bool is_given(const Optional& seeds, std::size_t i) { return i < seeds.size() && seeds[i]; }

  [[nodiscard]] std::vector<TensorId> real_outputs() const {
    std::vector<TensorId> real;
    std::copy_if(system_.outputs.begin(), system_.outputs.end(), std::back_inserter(real), [&](TensorId t) { return is_real(t); });
    return real;
  }

  void seed(TensorId of, HostTensor value) {
    const spec::TensorInfo info = system_[of];
    seeded_.push_back(of);
    seeds_.push_back(system_.add_tensor(spec::FreshNames(system_).take(info.name + "~"), info.dtype, info.dims));
    inputs_.push_back(std::move(value));
  }

  void fill(TensorId t) {
    if (!is_real(t) || std::find(seeded_.begin(), seeded_.end(), t) != seeded_.end()) return;
    seed(t, HostTensor(system_[t].dtype, system_[t].dims));
    filled_ = true;
  }

  /// What depends on nothing that has a tangent, and what follows from that does.
  void fill_constants() {
    auto moving = std::make_unique<spec::Dependence>(system_, seeded_);
    for (const spec::Equation& q : system_.equations) {
      if (!is_real(q.target) || moving->has(q.target)) continue;
      fill(q.target);
      moving = std::make_unique<spec::Dependence>(system_, seeded_);
    }
  }

  [[nodiscard]] Filled appended(const std::vector<TensorId>& derivatives) {
    system_.inputs.insert(system_.inputs.end(), seeds_.begin(), seeds_.end());
    system_.outputs.insert(system_.outputs.end(), derivatives.begin(), derivatives.end());
    spec::remove_dead(system_);
    return {std::move(system_), std::move(inputs_)};
  }

  const spec::Request& request_;
  spec::System system_;
  std::vector<HostTensor> inputs_;
  std::vector<TensorId> seeded_, seeds_;
  bool filled_ = false;
};

}  // namespace

std::optional<Filled> with_filled_seeds(const spec::Request& request) {
  switch (request.mode) {
    case Mode::forward: return std::nullopt;
    case Mode::jvp: return Filling(request).tangents();
    case Mode::vjp: return Filling(request).cotangents();
    case Mode::jvp_of_vjp: break;
  }
  Question literal = literal_question_of(request);
  if (literal.absent.empty()) return std::nullopt;
  return Filled{std::move(literal.system), std::move(literal.inputs)};
}

void mark_filled_seeds(Freedoms& freedoms, const spec::Request& request, const spec::Contract& contract) {
  const auto may_be_nan = [&](std::size_t output, std::size_t count, const auto& is_open) {
    if (output < request.program.outputs.size()) return;  // values are what they are
    if (freedoms.size() <= output) freedoms.resize(output + 1);
    freedoms[output].resize(count, Freedom::none);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_open(i)) freedoms[output][i] = std::max(freedoms[output][i], Freedom::zero_slope);
    }
  };
  if (const auto filled = with_filled_seeds(request)) {
    const reference::Envelopes bounds = reference::envelopes(filled->system, filled->inputs, contract);
    for (std::size_t o = 0; o < bounds.outputs.size(); ++o) {
      const auto& flags = bounds.outputs[o].flags;
      may_be_nan(o, flags.size(), [&](std::size_t i) { return (flags[i] & (reference::admits_nan | reference::undecided)) != 0; });
    }
  }
  // Beside values that are no numbers zeros meet whatever a rule makes of them.
  const Question literal = literal_question_of(request);
  if (literal.absent.empty()) return;
  const reference::Envelopes bounds = reference::envelopes(literal.system, literal.inputs, contract);
  const Freedoms beside = where_undifferentiable(literal.system, literal.inputs, layout_of(request), bounds, contract);
  for (std::size_t o = 0; o < beside.size(); ++o)
    may_be_nan(o, beside[o].size(), [&](std::size_t i) { return beside[o][i] != Freedom::none; });
}

}  // namespace etalon::conformance
