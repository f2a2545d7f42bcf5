#include "conformance/components.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "spec/program/analysis.hpp"

namespace etalon::conformance {
namespace {

using spec::Mode;
using Places = std::vector<std::size_t>;

/// Sets of values that are joined.
class Joined {
 public:
  explicit Joined(const spec::Program& program) {
    for (const spec::Input& input : program.inputs) (void)root(place(input.name));
    for (const auto& step : program.steps) {
      const auto& call = std::get<spec::Call>(step);
      for (const std::string& result : call.results) join(result, call.results.front());
      for (const std::string& read : spec::values_read(call)) join(read, call.results.front());
    }
  }

  [[nodiscard]] std::size_t of(const std::string& name) { return root(place(name)); }

 private:
  std::size_t place(const std::string& name) {
    const auto [found, is_new] = places_.emplace(name, above_.size());
    if (is_new) above_.push_back(found->second);
    return found->second;
  }
  std::size_t root(std::size_t at) {
    while (above_[at] != at) at = above_[at];
    return at;
  }
  void join(const std::string& one, const std::string& other) {
    const std::size_t a = of(one), b = of(other);
    above_[std::max(a, b)] = std::min(a, b);
  }

  std::map<std::string, std::size_t> places_;
  std::vector<std::size_t> above_;
};

template <class T>
[[nodiscard]] std::vector<T> chosen(const std::vector<T>& all, const Places& places) {
  std::vector<T> some;
  for (const std::size_t at : places) {
    if (at < all.size()) some.push_back(all[at]);
  }
  return some;
}

/// Where derivatives that are there stand in their lists, in the order in which they are judged.
[[nodiscard]] Places derivatives(const spec::Request& request, const std::vector<bool>& real_outputs) {
  Places places;
  const auto add = [&](const std::vector<bool>& marks) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (marks[i]) places.push_back(i);
    }
  };
  if (request.mode == Mode::jvp) add(real_outputs);
  if (request.mode == Mode::vjp || request.mode == Mode::jvp_of_vjp) add(request.wrt);
  if (request.mode == Mode::jvp_of_vjp) add(request.wrt);
  return places;
}

[[nodiscard]] std::vector<bool> real_outputs(const spec::Program& program) {
  const auto types = spec::types_of(program);
  std::vector<bool> real;
  for (const std::string& name : program.outputs) real.push_back(kind_of(types.at(name).dtype) == Kind::real);
  return real;
}

[[nodiscard]] bool only_calls(const spec::Program& program) {
  return program.buffers.empty() && program.updates.empty() && program.wishes.empty() &&
         std::all_of(program.steps.begin(), program.steps.end(), [](const auto& step) { return std::holds_alternative<spec::Call>(step); });
}

/// The inputs of a part that is one call in the order in which that reads them, where it reads each once.
/// \returns whether that is another order
bool put_as_read(const spec::Program& whole, Component& part) {
  if (part.request.program.steps.size() != 1) return false;
  Places places;
  for (const std::string& name : spec::values_read(std::get<spec::Call>(part.request.program.steps[0]))) {
    const auto is_read = [&](std::size_t at) { return whole.inputs[at].name == name; };
    const auto found = std::find_if(part.inputs.begin(), part.inputs.end(), is_read);
    if (found != part.inputs.end()) places.push_back(*found);
  }
  if (places == part.inputs || !std::is_permutation(places.begin(), places.end(), part.inputs.begin(), part.inputs.end())) return false;
  part.inputs = std::move(places);
  return true;
}

}  // namespace

spec::Numbers Component::part_of(const spec::Numbers& whole) const {
  spec::Numbers part;
  part.outputs = chosen(whole.outputs, outputs);
  part.tangents = chosen(whole.tangents, request.mode == Mode::jvp ? outputs : inputs);
  part.cotangents = chosen(whole.cotangents, inputs);
  return part;
}

std::size_t Component::place_in(const spec::Request& whole, std::size_t judged) const {
  if (judged < outputs.size()) return outputs[judged];
  const Places own = derivatives(request, real_outputs(request.program));
  const Places all = derivatives(whole, real_outputs(whole.program));
  const std::size_t k = judged - outputs.size();
  const std::size_t place = (request.mode == Mode::jvp ? outputs : inputs)[own[k]];
  // In a second derivative the list comes twice.
  const bool again = request.mode == Mode::jvp_of_vjp && k >= own.size() / 2;
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(again ? all.size() / 2 : 0);
  return whole.program.outputs.size() + static_cast<std::size_t>(std::find(from, all.end(), place) - all.begin());
}

std::vector<Component> components_of(const spec::Request& request) {
  const spec::Program& program = request.program;
  if (program.steps.empty() || !only_calls(program)) return {};
  Joined joined(program);
  std::map<std::size_t, Component> parts;
  const auto part_of = [&](const std::string& name) -> Component& { return parts[joined.of(name)]; };
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    part_of(program.inputs[i].name).inputs.push_back(i);
  }
  for (const auto& step : program.steps) part_of(std::get<spec::Call>(step).results.front()).request.program.steps.push_back(step);
  for (std::size_t o = 0; o < program.outputs.size(); ++o) {
    Component& part = part_of(program.outputs[o]);
    part.outputs.push_back(o);
    part.request.program.outputs.push_back(program.outputs[o]);
  }
  bool moved = false;
  for (auto& [root, part] : parts) moved = put_as_read(program, part) || moved;
  if (parts.size() < 2 && !moved) return {};
  std::vector<Component> all;
  for (auto& [root, part] : parts) {
    spec::Request& own = part.request;
    own.id = request.id;
    own.mode = request.mode;
    own.program.definitions = program.definitions;
    own.program.inputs = chosen(program.inputs, part.inputs);
    own.inputs = chosen(request.inputs, part.inputs);
    own.wrt = chosen(request.wrt, part.inputs);
    own.tangents = chosen(request.tangents, part.inputs);
    own.cotangents = chosen(request.cotangents, part.outputs);
    own.cotangent_tangents = chosen(request.cotangent_tangents, part.outputs);
    all.push_back(std::move(part));
  }
  return all;
}

}  // namespace etalon::conformance
