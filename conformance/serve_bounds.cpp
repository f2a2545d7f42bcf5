#include "conformance/serve_bounds.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "conformance/question.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon::conformance {
namespace {

using reference::Envelope;
using spec::Json;
using spec::Request;

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

void write(Json& answer, const AnswerList& list, const reference::Envelopes& found) {
  Json lower = Json::array(), upper = Json::array(), flags = Json::array();
  std::size_t next = list.first;
  for (const bool is_there : list.present) {
    if (!is_there) {
      lower.push_back(nullptr);
      upper.push_back(nullptr);
      flags.push_back(nullptr);
      continue;
    }
    const auto [low, high] = ends_of(found.outputs[next]);
    lower.push_back(spec::tensor_to_json(low));
    upper.push_back(spec::tensor_to_json(high));
    flags.push_back(flags_of(found.outputs[next++]));
  }
  const std::string prefix = list.name == "outputs" ? "" : list.name + "_";
  answer[prefix + "lower"] = std::move(lower);
  answer[prefix + "upper"] = std::move(upper);
  answer[prefix + "flags"] = std::move(flags);
}

}  // namespace

void add_bounds(Json& answer, const Request& request, const spec::Contract& contract) {
  const Question question = question_of(request);
  const reference::Envelopes found = reference::envelopes(question.system, question.inputs, contract);
  for (const AnswerList& list : question.lists) write(answer, list, found);
}

}  // namespace etalon::conformance
