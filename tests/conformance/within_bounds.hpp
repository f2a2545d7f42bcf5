/// \file
/// Answers that the judge passes against the bounds that `serve` states for the same request.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/admissible.hpp"
#include "conformance/judge.hpp"
#include "conformance/serve.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"

namespace etalon::tests {

/// The bounds of one list of tensors, as they were sent.
struct Served {
  std::vector<std::optional<HostTensor>> lower, upper;
  std::vector<std::vector<std::vector<std::string>>> admits;  ///< per tensor and element
};

/// What came of holding answers to them.
struct Within {
  std::size_t passed = 0;       ///< answers that the judge passes
  std::size_t by_ways = 0;      ///< of these, what the equations alone do not admit
  std::size_t convicted = 0;    ///< answers that it does not pass
  std::size_t comparisons = 0;  ///< elements of the former whose bounds say something
  std::size_t outside = 0;      ///< of these, outside them
  std::string first{};          ///< the first that is
};

/// The answer of `etalon serve` to the request, with bounds under the contract.
[[nodiscard]] inline spec::Json served(const spec::Request& request, const spec::Contract& contract) {
  const std::string line = encode(request);
  std::istringstream in(line.substr(0, line.size() - 1) + ",\"bounds\":" + spec::to_json(contract) + "}\n");
  std::ostringstream out;
  const std::unique_ptr<spec::Backend> backend = reference::make_reference_backend();
  conformance::serve(in, out, *backend, {.offers_bounds = true});
  return spec::Json::parse(out.str());
}

[[nodiscard]] inline Served bounds_in(const spec::Json& answer, const std::string& prefix) {
  Served found;
  for (std::size_t t = 0; t < answer.at(prefix + "lower").size(); ++t) {
    const auto end = [&](const char* name) {
      const spec::Json& tensor = answer.at(prefix + name).at(t);
      return tensor.is_null() ? std::nullopt : std::optional(spec::tensor_from_json(tensor, name));
    };
    found.lower.push_back(end("lower"));
    found.upper.push_back(end("upper"));
    const auto count = found.lower.back() ? static_cast<std::size_t>(found.lower.back()->dims.count()) : 0;
    found.admits.emplace_back(count);
    if (count == 0) continue;
    for (const spec::Json& flag : answer.at(prefix + "flags").at(t))
      found.admits.back().at(flag.at("element").get<std::size_t>()) = flag.at("admits").get<std::vector<std::string>>();
  }
  return found;
}

inline void hold(const std::vector<std::optional<HostTensor>>& got, const Served& bounds, Within& into, const std::string& what) {
  for (std::size_t t = 0; t < got.size(); ++t) {
    if (!got[t]) continue;
    const HostTensor& low = bounds.lower.at(t).value();
    const HostTensor& high = bounds.upper.at(t).value();
    for (std::size_t i = 0; i < static_cast<std::size_t>(got[t]->dims.count()); ++i) {
      const auto& admits = bounds.admits.at(t).at(i);
      const auto has = [&](const char* word) { return std::find(admits.begin(), admits.end(), word) != admits.end(); };
      if (has("any")) continue;
      ++into.comparisons;
      bool inside = false;
      const double x = conformance::element(*got[t], i);
      if (got[t]->dtype == DType::i64) {
        const auto n = got[t]->view<std::int64_t>()[i];
        inside = low.view<std::int64_t>()[i] <= n && n <= high.view<std::int64_t>()[i];
      } else if (std::isnan(x)) {
        inside = has("nan");
      } else if (std::isinf(x)) {
        inside = has(x > 0 ? "inf" : "-inf");
      } else {
        inside = !has("no number") && conformance::element(low, i) <= x && x <= conformance::element(high, i);
      }
      if (inside) continue;
      ++into.outside;
      if (into.first.empty()) {
        std::ostringstream text;
        text.precision(17);
        text << what << " " << t << "[" << i << "]: " << x << " outside [" << conformance::element(low, i) << ", " << conformance::element(high, i) << "]";
        into.first = text.str();
      }
    }
  }
}

/// Holds those of the answers that the judge passes to the bounds that are served for the request.
inline void hold_passed(const spec::Request& request, const std::vector<spec::Numbers>& answers, const spec::Contract& contract, Within& into) {
  std::optional<spec::Json> stated;
  const conformance::Admissible admissible(request, contract);
  const reference::Envelopes meaning = admissible.meaning();
  for (const spec::Numbers& numbers : answers) {
    const auto verdict = conformance::judge(request, numbers, contract).verdict;
    if (verdict != conformance::Verdict::pass) {
      into.convicted += verdict == conformance::Verdict::fail ? 1 : 0;
      continue;
    }
    if (!stated) stated = served(request, contract);
    if (!stated->contains("lower")) return;  // the reference cannot round what it is asked
    ++into.passed;
    std::vector<HostTensor> got;
    if (!admissible.question().take(numbers, got).empty()) throw std::logic_error("an answer that passes is whole");
    into.by_ways += reference::judge(got, meaning).passed() ? 0 : 1;
    const std::string what = request.id;
    hold({numbers.outputs.begin(), numbers.outputs.end()}, bounds_in(*stated, ""), into, what + " outputs");
    if (!numbers.cotangents.empty()) hold(numbers.cotangents, bounds_in(*stated, "cotangents_"), into, what + " cotangents");
    const std::string prefix = request.mode == spec::Mode::jvp_of_vjp ? "cotangent_tangents_" : "tangents_";
    if (!numbers.tangents.empty()) hold(numbers.tangents, bounds_in(*stated, prefix), into, what + " " + prefix);
  }
}

}  // namespace etalon::tests
