#include "tests/adequacy/score.hpp"

#include <algorithm>
#include <map>

#include "conformance/cases.hpp"
#include "conformance/plan.hpp"
#include "spec/error.hpp"
#include "tests/adequacy/changes.hpp"
#include "tests/adequacy/question.hpp"

namespace etalon::adequacy {
namespace {

using conformance::Case;
using conformance::Check;

// The checks that judge each element of the answer to one call.
constexpr Check judged[] = {Check::value,  Check::jvp,  Check::vjp,  Check::special,
                            Check::layout, Check::step, Check::large};

std::string mode_name(spec::Mode mode) {
  return mode == spec::Mode::forward ? "forward" : mode == spec::Mode::jvp ? "jvp" : "vjp";
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h ^ (h >> 29);
}

// A change may read beyond a tensor, or reduce over nothing: then it is no mutant.
bool is_verified(const Change& change, const spec::System& system) {
  if (!change.equation) return true;
  try {
    spec::verify(applied(change, system));
    return true;
  } catch (const std::exception&) {
    return false;
  }
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
    for (const Change& change : question.changes()) {
      if (!options_.sorts.empty() &&
          std::find(options_.sorts.begin(), options_.sorts.end(), change.sort) == options_.sorts.end())
        continue;
      Mutant* mutant = mutant_of(c, change);
      if (mutant == nullptr || mutant->fate == Fate::killed || !is_verified(change, question.system())) continue;
      note(*mutant, question.effect(change), change, c);
    }
  }

  static void note(Mutant& mutant, Effect effect, const Change& change, const Case& c) {
    const std::string proof = effect == Effect::none && change.prove ? change.prove() : "";
    if (!proof.empty()) {
      ++mutant.proved;
      mutant.by = proof;
      return;
    }
    ++mutant.asked;
    if (effect == Effect::none) ++mutant.unchanged;
    if (mutant.sample.empty() && change.show) mutant.sample = change.show();
    if (effect != Effect::killed) return;
    mutant.fate = Fate::killed;
    mutant.by = id_of(c.key);
  }

  Mutant* mutant_of(const Case& c, const Change& change) {
    const std::string mode = mode_name(c.mode);
    const std::string key = mode + " " + change.place + " | " + change.text;
    if (hash_of(operation_ + " " + key) % options_.of != options_.part - 1) return nullptr;
    const auto found = mutants_.find(key);
    if (found != mutants_.end()) return &found->second;
    Mutant made;
    made.sort = change.sort;
    made.operation = operation_;
    made.mode = mode;
    made.place = change.place;
    made.text = change.text;
    return &mutants_.emplace(key, std::move(made)).first->second;
  }

  std::string operation_;
  const Options& options_;
  std::map<std::string, Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> score(const std::string& operation, const Options& options) {
  std::vector<Mutant> all = Scoring(operation, options).run();
  // Never well formed where it was not proved equivalent: no mutant.
  std::erase_if(all, [](const Mutant& m) { return m.fate == Fate::equivalent && m.proved == 0; });
  for (Mutant& m : all) {
    if (m.fate == Fate::alive) m.by.clear();
  }
  return all;
}

}  // namespace etalon::adequacy
