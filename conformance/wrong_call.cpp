#include "conformance/wrong_call.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/judge.hpp"
#include "conformance/single_call.hpp"
#include "conformance/values.hpp"
#include "spec/program/analysis.hpp"

namespace etalon::conformance {
namespace {

using spec::Mode;
using Tensors = std::map<std::string, HostTensor>;

[[nodiscard]] bool is_real(const HostTensor& t) { return kind_of(t.dtype) == Kind::real; }

void add(Tensors& to, const std::string& name, const HostTensor& term) {
  const auto [sum, first] = to.try_emplace(name, term);
  for (std::size_t i = 0; !first && i < static_cast<std::size_t>(term.dims.count()); ++i)
    set_element(sum->second, i, element(sum->second, i) + element(term, i));
}

class Walk {
 public:
  Walk(const spec::Request& request, Asked& backend, const spec::Contract& contract)
      : request_(request), backend_(backend), contract_(contract) {
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      const std::string& name = request.program.inputs[i].name;
      values_[name] = request.inputs[i];
      if (i >= request.wrt.size() || !request.wrt[i]) continue;
      moving_.insert(name);
      if (request.mode == Mode::jvp && request.tangents[i]) tangents_[name] = *request.tangents[i];
    }
    for (std::size_t o = 0; request.mode == Mode::vjp && o < request.cotangents.size(); ++o) {
      if (request.cotangents[o]) add(cotangents_, request.program.outputs[o], *request.cotangents[o]);
    }
  }

  [[nodiscard]] std::optional<WrongCall> run() {
    const std::size_t calls = request_.program.steps.size();
    for (std::size_t k = 0; k < calls; ++k) {
      if (!forwards(k)) return std::move(wrong_);
    }
    for (std::size_t k = calls; request_.mode == Mode::vjp && k-- > 0;) {
      if (!backwards(k)) return std::move(wrong_);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const spec::Call& call(std::size_t k) const { return std::get<spec::Call>(request_.program.steps[k]); }

  /// The call alone, differentiated by what depends on the inputs that the program is differentiated by.
  [[nodiscard]] spec::Request alone(std::size_t k, Mode mode) const {
    spec::Request one = single_call(request_, call(k), values_);
    const std::vector<std::string> read = spec::values_read(call(k));
    bool any = false;
    for (std::size_t i = 0; i < read.size(); ++i) {
      one.wrt[i] = is_real(one.inputs[i]) && moving_.contains(read[i]);
      any = any || one.wrt[i];
    }
    if (any) one.mode = mode;
    else one.wrt.assign(one.wrt.size(), false);
    for (std::size_t i = 0; one.mode == Mode::jvp && i < read.size(); ++i) {
      const auto tangent = tangents_.find(read[i]);
      one.tangents.push_back(one.wrt[i] && tangent != tangents_.end() ? std::optional(tangent->second) : std::nullopt);
    }
    return one;
  }

  /// What the backend answers where that conforms.
  [[nodiscard]] std::optional<spec::Numbers> right_answer(std::size_t k, spec::Request one) {
    spec::Answer answer = backend_.run(one);
    auto* numbers = std::get_if<spec::Numbers>(&answer);
    if (numbers == nullptr) return std::nullopt;
    if (judge(one, *numbers, contract_).verdict == Verdict::fail) {
      wrong_ = WrongCall{k, std::move(one)};
      return std::nullopt;
    }
    return std::move(*numbers);
  }

  [[nodiscard]] bool forwards(std::size_t k) {
    const spec::Request one = alone(k, request_.mode == Mode::jvp ? Mode::jvp : Mode::forward);
    const auto numbers = right_answer(k, one);
    if (!numbers) return false;
    const bool moves = std::find(one.wrt.begin(), one.wrt.end(), true) != one.wrt.end();
    for (std::size_t r = 0; r < call(k).results.size(); ++r) {
      const std::string& name = call(k).results[r];
      values_[name] = numbers->outputs[r];
      if (moves && is_real(numbers->outputs[r])) moving_.insert(name);
      if (one.mode == Mode::jvp && numbers->tangents[r]) tangents_[name] = *numbers->tangents[r];
    }
    return true;
  }

  [[nodiscard]] bool backwards(std::size_t k) {
    spec::Request one = alone(k, Mode::vjp);
    bool any = false;
    for (const std::string& name : call(k).results) {
      const auto cotangent = cotangents_.find(name);
      any = any || cotangent != cotangents_.end();
      one.cotangents.push_back(cotangent != cotangents_.end() ? std::optional(cotangent->second) : std::nullopt);
    }
    if (one.mode != Mode::vjp || !any) return true;
    const auto numbers = right_answer(k, one);
    if (!numbers) return false;
    const std::vector<std::string> read = spec::values_read(call(k));
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (one.wrt[i] && numbers->cotangents[i]) add(cotangents_, read[i], *numbers->cotangents[i]);
    }
    return true;
  }

  const spec::Request& request_;
  Asked& backend_;
  const spec::Contract& contract_;
  Tensors values_, tangents_, cotangents_;
  std::set<std::string> moving_;
  std::optional<WrongCall> wrong_;
};

}  // namespace

std::optional<WrongCall> wrong_call(const spec::Request& request, Asked& backend, const spec::Contract& contract) {
  if (request.mode == Mode::jvp_of_vjp) return std::nullopt;
  return Walk(request, backend, contract).run();
}

}  // namespace etalon::conformance
