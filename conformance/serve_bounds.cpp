#include "conformance/serve_bounds.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reference/bounds/envelope.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

using reference::Envelope;
using spec::Json;
using spec::Mode;
using spec::Request;
using spec::System;

using Optional = std::vector<std::optional<HostTensor>>;

[[nodiscard]] Json flags_of(const Envelope& envelope) {
  constexpr std::pair<std::uint8_t, const char*> names[] = {{reference::admits_positive_infinity, "inf"},
                                                            {reference::admits_negative_infinity, "-inf"},
                                                            {reference::admits_nan, "nan"},
                                                            {reference::undecided, "any"}};
  Json list = Json::array();
  for (std::size_t i = 0; i < envelope.flags.size(); ++i) {
    Json admits = Json::array();
    for (const auto& [flag, name] : names) {
      if ((envelope.flags[i] & flag) != 0) admits.push_back(name);
    }
    if (admits.empty()) continue;
    if ((envelope.flags[i] & reference::admits_finite) == 0) admits.push_back("no number");
    list.push_back({{"element", i}, {"admits", std::move(admits)}});
  }
  return list;
}

/// The ends as f64 tensors; integers and truth values are their own bounds.
[[nodiscard]] std::pair<HostTensor, HostTensor> ends_of(const Envelope& envelope) {
  if (kind_of(envelope.dtype) == Kind::real)
    return {HostTensor::of<double>(envelope.dims, envelope.lower),
            HostTensor::of<double>(envelope.dims, envelope.upper)};
  const std::vector<double> exact(envelope.exact.begin(), envelope.exact.end());
  return {HostTensor::of<double>(envelope.dims, exact), HostTensor::of<double>(envelope.dims, exact)};
}

[[nodiscard]] std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

/// The system that answers the request in its mode, its inputs, and the lists that its outputs make up.
class Question {
 public:
  explicit Question(const Request& request)
      : request_(request), system_(spec::lower(request.program)), inputs_(request.inputs) {
    system_.outputs.resize(request.program.outputs.size());
    outputs_ = system_.outputs.size();
    for (const spec::TensorId id : system_.outputs) real_.push_back(kind_of(system_[id].dtype) == Kind::real);
    wrt_ = marked(request.wrt);
  }

  void add_to(Json& answer, const spec::Contract& contract) {
    const System asked = system_of_mode();
    const reference::Envelopes found = reference::envelopes(asked, inputs_, contract);
    auto next = found.outputs.begin();
    write(answer, "", std::vector<bool>(outputs_, true), next);
    if (request_.mode == Mode::jvp) write(answer, "tangents_", real_, next);
    if (request_.mode == Mode::vjp || request_.mode == Mode::jvp_of_vjp)
      write(answer, "cotangents_", per_input(), next);
    if (request_.mode == Mode::jvp_of_vjp) {
      for (const bool real : real_) next += real ? 1 : 0;  // tangents of the outputs, which the mode does not answer
      write(answer, "cotangent_tangents_", per_input(), next);
    }
  }

 private:
  [[nodiscard]] System system_of_mode() {
    switch (request_.mode) {
      case Mode::forward:
        return system_;
      case Mode::jvp: {
        add_seeds(request_.tangents, wrt_);
        return spec::jvp(system_, wrt_);
      }
      case Mode::vjp: {
        add_seeds(request_.cotangents, marked(real_), system_.outputs);
        return spec::vjp(system_, wrt_);
      }
      case Mode::jvp_of_vjp:
        break;
    }
    std::vector<std::size_t> moving = wrt_;
    const std::size_t first = inputs_.size();
    add_seeds(request_.cotangents, marked(real_), system_.outputs);
    for (std::size_t i = first; i < inputs_.size(); ++i) moving.push_back(i);
    add_seeds(request_.tangents, wrt_);
    add_seeds(request_.cotangent_tangents, marked(real_), system_.outputs);
    return spec::jvp(spec::vjp(system_, wrt_), moving);
  }

  void add_seeds(const Optional& given, const std::vector<std::size_t>& positions) {
    add_seeds(given, positions, system_.inputs);
  }

  /// One seed per position, zero where none is given.
  void add_seeds(const Optional& given, const std::vector<std::size_t>& positions,
                 const std::vector<spec::TensorId>& of) {
    for (const std::size_t i : positions) {
      const spec::TensorInfo& info = system_[of[i]];
      inputs_.push_back(i < given.size() && given[i] ? *given[i] : HostTensor(info.dtype, info.dims));
    }
  }

  [[nodiscard]] std::vector<bool> per_input() const {
    std::vector<bool> present(request_.inputs.size(), false);
    for (const std::size_t i : wrt_) present[i] = true;
    return present;
  }

  template <class Iterator>
  static void write(Json& answer, const std::string& prefix, const std::vector<bool>& present, Iterator& next) {
    Json lower = Json::array(), upper = Json::array(), flags = Json::array();
    for (const bool is_there : present) {
      if (!is_there) {
        lower.push_back(nullptr);
        upper.push_back(nullptr);
        flags.push_back(nullptr);
        continue;
      }
      const auto [low, high] = ends_of(*next);
      lower.push_back(spec::tensor_to_json(low));
      upper.push_back(spec::tensor_to_json(high));
      flags.push_back(flags_of(*next++));
    }
    answer[prefix + "lower"] = std::move(lower);
    answer[prefix + "upper"] = std::move(upper);
    answer[prefix + "flags"] = std::move(flags);
  }

  const Request& request_;
  System system_;
  std::vector<HostTensor> inputs_;
  std::vector<bool> real_;
  std::vector<std::size_t> wrt_;
  std::size_t outputs_ = 0;
};

}  // namespace

void add_bounds(Json& answer, const Request& request, const spec::Contract& contract) {
  Question(request).add_to(answer, contract);
}

}  // namespace etalon::conformance
