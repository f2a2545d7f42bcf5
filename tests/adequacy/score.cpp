#include "tests/adequacy/score.hpp"

#include <algorithm>
#include <map>

#include "conformance/cases.hpp"
#include "conformance/plan.hpp"
#include "spec/error.hpp"
#include "tests/adequacy/question.hpp"

namespace etalon::adequacy {
namespace {

using conformance::Case;
using conformance::Check;

// The checks that judge each element of the answer to one call.
constexpr Check judged[] = {Check::value,  Check::jvp,  Check::vjp,  Check::special,
                            Check::layout, Check::step, Check::large};

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h ^ (h >> 29);
}

class Scoring {
 public:
  Scoring(std::string operation, const Options& options) : operation_(std::move(operation)), options_(options) {}

  std::vector<Mutant> run() {
    for (const Case& c : cases()) {
      try {
        ask(c);
      } catch (const SpecViolation&) {
        continue;  // it has no exact answer, so that nobody is convicted by it
      }
    }
    std::vector<Mutant> all;
    for (auto& [key, mutant] : mutants_) {
      if (mutant.fate == Fate::alive && mutant.asked == 0) mutant.fate = Fate::equivalent;
      if (mutant.fate == Fate::alive && mutant.identical > 0 && !mutant.other) {
        mutant.fate = Fate::identical;
        mutant.by = "the same real numbers";
      }
      all.push_back(std::move(mutant));
    }
    return all;
  }

 private:
  [[nodiscard]] std::vector<Case> cases() const {
    conformance::ConformOptions conform = options_.conform;
    conform.operations = {operation_};
    std::vector<Case> all;
    for (const conformance::Unit& unit : conformance::plan(conform)) {
      if (std::find(std::begin(judged), std::end(judged), unit.check) == std::end(judged)) continue;
      conformance::Cases cases(unit, conform);
      std::size_t taken = 0;
      while (auto next = cases.next()) {
        if (options_.most_cases > 0 && taken++ == options_.most_cases) break;
        if (next->made) all.push_back(std::move(*next->made));
      }
    }
    // Small cases are cheap, and those of a few elements kill most.
    const auto cost = [](const Case& c) {
      const std::size_t n = elements_of(c);
      return std::pair(c.key.dtype != DType::f32, n < 8 ? 1000 + n : n);
    };
    std::stable_sort(all.begin(), all.end(), [&](const Case& a, const Case& b) { return cost(a) < cost(b); });
    return all;
  }

  void ask(const Case& c) {
    Question question(c, options_.contract);
    const std::string mode(name_of(c.mode));
    const auto wanted = [&](Sort sort, const std::string& place, const std::string& text) {
      return is_asked_for(sort) && lives(mode + " " + place + " | " + text);
    };
    for (Change& change : question.changes(wanted)) {
      const Effect effect = question.effect(change);
      if (effect != Effect::undefined) note(mutant_of(mode, change), question, effect, change, c);
    }
  }

  [[nodiscard]] bool is_asked_for(Sort sort) const {
    const auto& sorts = options_.sorts;
    return sorts.empty() || std::find(sorts.begin(), sorts.end(), sort) != sorts.end();
  }

  // Of this share and not killed yet.
  [[nodiscard]] bool lives(const std::string& key) const {
    if (hash_of(operation_ + " " + key) % options_.of != options_.part - 1) return false;
    const auto found = mutants_.find(key);
    return found == mutants_.end() || found->second.fate != Fate::killed;
  }

  static void note(Mutant& mutant, Question& question, Effect effect, const Change& change, const Case& c) {
    // One case in which it is no equivalent is enough: proofs are dear.
    const bool same = effect == Effect::none || effect == Effect::unseen;
    const std::string proof = effect != Effect::killed && mutant.asked == 0 ? question.why_equivalent(change) : std::string();
    if (!proof.empty()) {
      ++mutant.proved;
      mutant.by = proof;
      return;
    }
    ++mutant.asked;
    if (same) ++mutant.unchanged;
    if (effect == Effect::unseen) ++mutant.unseen;
    if (effect == Effect::unseen || effect == Effect::admitted) compare(mutant, question, change);
    if (mutant.sample.empty() && change.show) mutant.sample = change.show();
    if (effect != Effect::killed) return;
    mutant.fate = Fate::killed;
    mutant.by = id_of(c.key);
  }

  // Over the reals, in a few cases. What changes numbers as little as these sorts do is lost there in the same way.
  static void compare(Mutant& mutant, Question& question, const Change& change) {
    constexpr std::size_t enough = 6;
    const bool tiny = mutant.sort == Sort::flushed || mutant.sort == Sort::threshold;
    if (tiny || mutant.other || mutant.identical == enough || !question.is_finite()) return;
    mutant.other = !question.is_identical(change);
    ++mutant.identical;
  }

  Mutant& mutant_of(const std::string& mode, const Change& change) {
    Mutant& mutant = mutants_[mode + " " + change.place + " | " + change.text];
    if (!mutant.operation.empty()) return mutant;
    mutant.sort = change.sort;
    mutant.operation = operation_;
    mutant.mode = mode;
    mutant.place = change.place;
    mutant.text = change.text;
    return mutant;
  }

  std::string operation_;
  const Options& options_;
  std::map<std::string, Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> score(const std::string& operation, const Options& options) {
  std::vector<Mutant> all = Scoring(operation, options).run();
  for (Mutant& m : all) {
    if (m.fate == Fate::alive) m.by.clear();
  }
  return all;
}

}  // namespace etalon::adequacy
