#include "tests/adequacy/implementations/showing.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "conformance/cases.hpp"
#include "conformance/check.hpp"
#include "conformance/plan.hpp"
#include "conformance/values.hpp"
#include "tests/adequacy/implementations/defect.hpp"

namespace etalon::adequacy {
namespace {

using conformance::Case;
using conformance::Check;
using spec::Answer;
using spec::Numbers;
using spec::Request;

bool same_question(const Request& a, const Request& b) {
  return a.mode == b.mode && a.wrt == b.wrt && a.inputs == b.inputs && a.tangents == b.tangents &&
         a.cotangents == b.cotangents && a.cotangent_tangents == b.cotangent_tangents && a.program == b.program;
}

bool same_answer(const Answer& a, const Answer& b) {
  const auto *x = std::get_if<Numbers>(&a), *y = std::get_if<Numbers>(&b);
  if (x == nullptr || y == nullptr) return (x == nullptr) == (y == nullptr);
  return x->outputs == y->outputs && x->tangents == y->tangents && x->cotangents == y->cotangents;
}

// The answers to what one case asks, each asked for once.
class Honest {
 public:
  explicit Honest(spec::Backend& backend) : backend_(backend) {}

  Answer operator()(const Request& r) {
    for (const auto& [request, answer] : known_) {
      if (same_question(request, r)) return answer;
    }
    Request dense = r;
    dense.placements = {};
    known_.emplace_back(r, backend_.run(dense));
    return known_.back().second;
  }
  void forget() { known_.clear(); }

 private:
  spec::Backend& backend_;
  std::vector<std::pair<Request, Answer>> known_;
};

class Recording final : public conformance::Asked {
 public:
  Recording(Honest& honest, bool fuses) : honest_(honest), fuses_(fuses) {}
  Answer run(const Request& r) override {
    requests.push_back(r);
    return honest_(r);
  }
  [[nodiscard]] bool fuses() const override { return fuses_; }
  std::vector<Request> requests;

 private:
  Honest& honest_;
  bool fuses_;
};

class Spoilt final : public conformance::Asked {
 public:
  Spoilt(const Defect& defect, Honest& honest, Past& past, bool fuses)
      : defect_(defect), honest_(honest), past_(past), fuses_(fuses) {}
  Answer run(const Request& r) override { return defect_.respond(r, std::ref(honest_), past_); }
  [[nodiscard]] bool fuses() const override { return fuses_; }

 private:
  const Defect& defect_;
  Honest& honest_;
  Past& past_;
  bool fuses_;
};

bool asks_several_times(Check check) {
  return check == Check::step || check == Check::adjoint || check == Check::determinism || check == Check::program;
}

class Scoring {
 public:
  Scoring(const std::string& operation, spec::Backend& backend, const conformance::ConformOptions& options)
      : options_(options),
        honest_(backend),
        description_(backend.describe()),
        defects_(defects(operation)),
        pasts_(defects_.size()) {
    options_.operations = {operation};
    description_.layouts = true;
    for (const Defect& d : defects_) found_.push_back({operation, d.family, d.what, 0, ""});
  }

  std::vector<Implementation> run() {
    for (const conformance::Unit& unit : offered(plan(options_), description_)) {
      if (unit.check == Check::rejection) continue;
      conformance::Cases cases(unit, options_, &description_);
      while (const auto next = cases.next()) {
        if (next->made) ask(*next->made);
      }
    }
    return std::move(found_);
  }

 private:
  // What an honest backend is asked by this case; nothing where it has no answer.
  [[nodiscard]] std::vector<Request> requests_of(const Case& c) {
    Recording recording(honest_, description_.fuses);
    if (asks_several_times(c.key.check)) {
      const auto outcome = check(c, recording, description_.contract);
      if (outcome.verdict != conformance::Verdict::pass) return {};
    } else {
      const auto answer = recording.run(request_of(c));
      if (std::holds_alternative<spec::Refusal>(answer)) return {};
    }
    return std::move(recording.requests);
  }

  void ask(const Case& c) {
    honest_.forget();
    const std::vector<Request> requests = requests_of(c);
    for (std::size_t d = 0; d < defects_.size() && !requests.empty(); ++d) {
      if (found_[d].by.empty()) ask(c, requests, d);
    }
  }

  // Where no answer is another the check is the honest one's.
  void ask(const Case& c, const std::vector<Request>& requests, std::size_t d) {
    Past past = pasts_[d];
    bool differs = false;
    for (const Request& r : requests)
      differs |= !same_answer(defects_[d].respond(r, std::ref(honest_), past), honest_(r));
    if (differs) {
      ++found_[d].touched;
      past = pasts_[d];
      Spoilt spoilt(defects_[d], honest_, past, description_.fuses);
      if (check(c, spoilt, description_.contract).verdict == conformance::Verdict::fail) found_[d].by = id_of(c.key);
    }
    pasts_[d] = std::move(past);
  }

  conformance::ConformOptions options_;
  Honest honest_;
  spec::Description description_;
  std::vector<Defect> defects_;
  std::vector<Past> pasts_;
  std::vector<Implementation> found_;
};

}  // namespace

std::vector<Implementation> score_implementations(const std::string& operation, spec::Backend& honest,
                                                  const conformance::ConformOptions& options) {
  return Scoring(operation, honest, options).run();
}

}  // namespace etalon::adequacy
