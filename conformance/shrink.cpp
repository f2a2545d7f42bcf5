#include "conformance/shrink.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "conformance/check_program.hpp"
#include "conformance/failure_class.hpp"
#include "conformance/shapes.hpp"
#include "conformance/shrink_steps.hpp"
#include "conformance/smaller_program.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

using Clock = std::chrono::steady_clock;

class Search {
 public:
  Search(const Case& failing, const Outcome& outcome, Asked& backend, const spec::Contract& contract,
         const ShrinkBudget& budget)
      : best_{failing, outcome},
        class_(failure_class(outcome)),
        backend_(backend),
        contract_(contract),
        budget_(budget),
        definition_(failing.key.library.find(failing.key.operation)) {}

  Shrunk run() {
    if (definition_ == nullptr || best_.smallest.key.check == Check::rejection) return best_;
    while (smaller_program() && !spent()) {
    }
    denser();
    while (smaller_types() && !spent()) {
    }
    while (fewer_marks() && !spent()) {
    }
    while (simpler_numbers() && !spent()) {
    }
    best_.cut_short = spent();
    return best_;
  }

 private:
  [[nodiscard]] bool spent() const {
    return best_.attempts >= budget_.attempts || std::chrono::duration<double>(Clock::now() - start_).count() >= budget_.seconds;
  }

  bool accept(Case candidate) {
    if (spent()) return false;
    ++best_.attempts;
    Outcome outcome = check(candidate, backend_, contract_);
    if (failure_class(outcome) != class_) return false;
    best_.smallest = std::move(candidate);
    best_.outcome = std::move(outcome);
    return true;
  }

  std::optional<Case> retyped(const Assignment& assignment, bool from_last) const {
    const Case& old = best_.smallest;
    const auto call = call_of(*definition_, assignment, old.key.dtype);
    if (!call || call->operands.size() != old.operands.size()) return std::nullopt;
    Case c = old;
    c.assignment = assignment;
    c.call = *call;
    std::size_t input = 0;
    for (std::size_t i = 0; i < call->operands.size(); ++i) {
      if (call->operands[i].has_value() && !old.operands[i].has_value()) return std::nullopt;
      if (!call->operands[i]) {
        if (old.operands[i]) leave_out(c, i, input);
        continue;
      }
      c.operands[i] = cropped(*old.operands[i], call->operands[i]->dims, from_last);
      if (input < c.tangents.size() && c.tangents[input])
        c.tangents[input] = cropped(*c.tangents[input], call->operands[i]->dims, from_last);
      ++input;
    }
    const spec::Instance instance = instance_of(c);
    if (instance.results.size() < c.cotangents.size()) return std::nullopt;
    for (auto* group : {&c.cotangents, &c.cotangent_tangents}) {
      for (std::size_t r = 0; r < group->size(); ++r) {
        auto& t = (*group)[r];
        if (t) t = cropped(*t, instance.results[r].dims, from_last);
      }
    }
    return c;
  }

  /// The operand, and what belongs to it as the input at this place.
  static void leave_out(Case& c, std::size_t operand, std::size_t input) {
    c.operands[operand].reset();
    const auto at = static_cast<std::ptrdiff_t>(input);
    if (input < c.wrt.size()) c.wrt.erase(c.wrt.begin() + at);
    if (input < c.tangents.size()) c.tangents.erase(c.tangents.begin() + at);
    for (auto* arrangements : {&c.arrangements.operands, &c.arrangements.tangents}) {
      if (input < arrangements->size()) arrangements->erase(arrangements->begin() + at);
    }
  }

  /// Derivatives by one input less.
  bool fewer_marks() {
    for (std::size_t i = 0; i < best_.smallest.wrt.size(); ++i) {
      Case candidate = best_.smallest;
      if (!candidate.wrt[i]) continue;
      candidate.wrt[i] = false;
      if (i < candidate.tangents.size()) candidate.tangents[i].reset();
      if (std::find(candidate.wrt.begin(), candidate.wrt.end(), true) == candidate.wrt.end()) return false;
      if (accept(std::move(candidate))) return true;
    }
    return false;
  }

  bool smaller_program() {
    if (!best_.smallest.program) return false;
    for (Case& candidate : smaller_programs(best_.smallest)) {
      if (accept(std::move(candidate))) return true;
    }
    return false;
  }

  // Tensors whose layout does not matter lie dense.
  void denser() {
    const auto lists = [](Case& c) {
      return std::array{&c.arrangements.operands, &c.arrangements.tangents, &c.arrangements.cotangents};
    };
    for (std::size_t l = 0; l < lists(best_.smallest).size(); ++l) {
      for (std::size_t i = 0; i < lists(best_.smallest)[l]->size(); ++i) {
        Case candidate = best_.smallest;
        auto& arrangement = (*lists(candidate)[l])[i];
        if (!arrangement) continue;
        arrangement.reset();
        (void)accept(std::move(candidate));
      }
    }
  }

  bool smaller_types() {
    if (best_.smallest.assignment == Assignment{}) return false;
    for (const Assignment& assignment : smaller_assignments(*definition_, best_.smallest.assignment)) {
      for (const bool from_last : {true, false}) {
        if (spent()) return false;
        if (auto candidate = retyped(assignment, from_last); candidate && accept(std::move(*candidate))) return true;
      }
    }
    return false;
  }

  // Every tensor of the case by position: operands, tangents, cotangents.
  static std::vector<std::optional<HostTensor>*> tensors(Case& c) {
    std::vector<std::optional<HostTensor>*> all;
    for (auto* group : {&c.operands, &c.tangents, &c.cotangents, &c.cotangent_tangents}) {
      for (auto& t : *group) all.push_back(&t);
    }
    return all;
  }

  bool simpler_numbers() {
    bool changed = false;
    const std::size_t count = tensors(best_.smallest).size();
    for (std::size_t t = 0; t < count && !spent(); ++t) {
      for (const double fill : {0.0, 1.0}) changed |= filled(t, fill);
    }
    for (std::size_t t = 0; t < count && !spent(); ++t) changed |= simpler_elements(t);
    return changed;
  }

  bool filled(std::size_t t, double value) {
    Case candidate = best_.smallest;
    auto& tensor = *tensors(candidate)[t];
    if (!tensor || tensor->dims.count() < 2) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor->dims.count()); ++i) {
      const double now = element(*tensor, i);
      if (now != 0 && now != 1) {
        for (std::size_t k = 0; k < static_cast<std::size_t>(tensor->dims.count()); ++k) set_element(*tensor, k, value);
        return accept(std::move(candidate));
      }
    }
    return false;
  }

  bool simpler_elements(std::size_t t) {
    bool changed = false;
    const auto& now = *tensors(best_.smallest)[t];
    const std::size_t count = now ? static_cast<std::size_t>(now->dims.count()) : 0;
    for (std::size_t i = 0; i < count && !spent(); ++i) {
      const HostTensor& tensor = **tensors(best_.smallest)[t];
      for (const double v : simpler_values(element(tensor, i), tensor.dtype)) {
        Case candidate = best_.smallest;
        set_element(**tensors(candidate)[t], i, v);
        const bool same = **tensors(candidate)[t] == tensor;  // after rounding to its type
        if (!same && accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  Shrunk best_;
  std::string class_;
  Asked& backend_;
  const spec::Contract& contract_;
  ShrinkBudget budget_;
  Clock::time_point start_ = Clock::now();
  const spec::Definition* definition_;
};

}  // namespace

Shrunk shrink(const Case& failing, const Outcome& outcome, Asked& backend, const spec::Contract& contract,
              const ShrinkBudget& budget) {
  if (failing.key.check == Check::step) {
    if (const auto one = failing_step(failing, backend, contract)) {
      Outcome alone = check(*one, backend, contract);
      if (alone.verdict == outcome.verdict) return Search(*one, alone, backend, contract, budget).run();
    }
  }
  if (failing.program) {
    if (const auto one = failing_call(failing, backend, contract)) {
      Outcome alone = check(*one, backend, contract);
      if (alone.verdict == outcome.verdict) return Search(*one, alone, backend, contract, budget).run();
    }
  }
  return Search(failing, outcome, backend, contract, budget).run();
}

}  // namespace etalon::conformance
