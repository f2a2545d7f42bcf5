#include "conformance/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "conformance/admissible.hpp"
#include "conformance/check_program.hpp"
#include "conformance/judge.hpp"
#include "conformance/number_text.hpp"
#include "conformance/steps.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Outcome check_numbers(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Request request = request_of(c);
  return judge(request, backend.run(request), contract);
}

Outcome check_steps(const Case& c, Asked& backend, const spec::Contract& contract, Case* failing) {
  Case now = c;
  now.steps = 1;
  Outcome total;
  for (int step = 1; step <= c.steps; ++step) {
    const spec::Request request = request_of(now);
    const spec::Answer answer = backend.run(request);
    Outcome one = judge(request, answer, contract);
    if (std::holds_alternative<spec::Refusal>(answer)) return one;
    total.add(one);
    total.statistic.add(one.statistic);
    if (one.verdict == Verdict::fail) {
      total.verdict = one.verdict;
      total.why = fmt::format("step {}: {}", step, one.why);
      total.offender = one.offender;
      total.step = step;
      if (failing != nullptr) *failing = now;
      return total;
    }
    advance(now, std::get<spec::Numbers>(answer).outputs);
  }
  total.decide();
  return total;
}

// One side of the adjoint law: the inner product, what the bounds allow it to be off, and whether they say anything.
struct Side {
  long double product = 0;
  long double allowed = 0;
  bool decided = true;
};

void accumulate(Side& side, const HostTensor& with, const HostTensor& got, const Hull& hull) {
  constexpr long double unit = 0x1p-63L;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got.dims.count()); ++i) {
    const long double w = element(with, i);
    if (w == 0) continue;
    const long double value = element(got, i);
    side.decided &= hull.flags[i] == reference::admits_finite && std::isfinite(value);
    // The ends are doubles inside the bound, so that the bound itself may reach almost one unit further on each side.
    const long double lower = hull.lower[i];
    const long double upper = hull.upper[i];
    const long double width = upper - lower + 4 * 0x1p-53L * std::max(std::abs(lower), std::abs(upper)) + 0x1p-1073L;
    side.product += w * value;
    // The second part is the rounding of this very sum.
    side.allowed += std::abs(w) * width + static_cast<long double>(got.dims.count() + 2) * unit * std::abs(w * value);
  }
}

// What one side of the law needs: what was asked, what the backend said, and in which bounds.
struct Answered {
  spec::Request request;
  std::vector<HostTensor> tensors;
  std::vector<Hull> bounds;
};

using Pair = std::array<Answered, 2>;  // the JVP's and the VJP's

Side side_of(const Answered& answered, const std::vector<std::optional<HostTensor>>& with, std::size_t results) {
  Side side;
  std::size_t at = results;
  for (const auto& t : with) {
    if (!t) continue;
    accumulate(side, *t, answered.tensors[at], answered.bounds[at]);
    ++at;
  }
  return side;
}

Outcome adjoint_outcome(const Case& c, const Pair& pair, std::size_t results) {
  const Side jvp = side_of(pair[0], c.cotangents, results);
  const Side vjp = side_of(pair[1], c.tangents, results);
  Outcome outcome;
  outcome.comparisons = 1;
  const long double error = std::abs(jvp.product - vjp.product);
  const long double allowed = jvp.allowed + vjp.allowed;
  if (!jvp.decided || !vjp.decided || !std::isfinite(allowed)) {
    outcome.verdict = Verdict::undecided;
    outcome.undecided = 1;
    outcome.why = "the bound says nothing useful here";
    return outcome;
  }
  outcome.worst_ratio = error == 0 ? 0 : (allowed == 0 ? infinity : static_cast<double>(error / allowed));
  if (!(error <= allowed)) {
    outcome.verdict = Verdict::fail;
    const auto [u_jv, ju_v] = told_apart(static_cast<double>(jvp.product), static_cast<double>(vjp.product));
    outcome.why = fmt::format("<u, Jv> is {}, <J'u, v> is {}, allowed difference {:.3g}", u_jv, ju_v,
                              static_cast<double>(allowed));
  }
  return outcome;
}

// A derivative for each direction of the other mode, of its shape.
bool shapes_agree(const Answered& answered, const std::vector<std::optional<HostTensor>>& with, std::size_t results) {
  std::size_t at = results;
  for (const auto& t : with) {
    if (t && answered.tensors[at++].dims != t->dims) return false;
  }
  return true;
}

Outcome check_adjoint(Case c, Asked& backend, const spec::Contract& contract) {
  Pair pair;
  std::size_t results = 0;
  for (const std::size_t k : {0u, 1u}) {
    Answered& one = pair[k];
    c.mode = k == 0 ? spec::Mode::jvp : spec::Mode::vjp;
    one.request = request_of(c);
    results = one.request.program.outputs.size();
    const spec::Answer answer = backend.run(one.request);
    if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
    const Admissible admissible(one.request, contract);
    const std::string problem = admissible.question().take(std::get<spec::Numbers>(answer), one.tensors);
    if (!problem.empty()) return failed(problem);
    if (!shapes_agree(one, k == 0 ? c.cotangents : c.tangents, results))
      return failed("a derivative has another shape than its value");
    one.bounds = hulls_of(admissible.meaning());
  }
  const Outcome outcome = adjoint_outcome(c, pair, results);
  if (outcome.verdict != Verdict::fail) return outcome;
  // What is admitted besides only widens what is allowed, and costs as much again.
  for (Answered& one : pair) one.bounds = Admissible(one.request, contract).hulls();
  return adjoint_outcome(c, pair, results);
}

Outcome check_rejection(const Case& c, Asked& backend) {
  const spec::Answer answer = backend.run(request_of(c));
  Outcome outcome;
  outcome.comparisons = 1;
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) {
    if (refusal->kind == spec::Refusal::Kind::rejected) return outcome;
    if (refusal->kind != spec::Refusal::Kind::error) return refused(*refusal);
    return failed("an ill-typed call was not rejected but failed: " + refusal->why);
  }
  return failed("an ill-typed call was answered with numbers");
}

bool same_bits(const HostTensor& a, const HostTensor& b) {
  if (a == b) return true;
  if (a.dtype != b.dtype || a.dims != b.dims || kind_of(a.dtype) != Kind::real) return false;
  const std::size_t size = size_of(a.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.dims.count()); ++i) {
    if (std::memcmp(a.bytes.data() + i * size, b.bytes.data() + i * size, size) == 0) continue;
    if (!std::isnan(element(a, i)) || !std::isnan(element(b, i))) return false;
  }
  return true;
}

// The same program on other numbers in between: what it leaves in memory must not be seen.
spec::Request poisoned(spec::Request request) {
  for (HostTensor& t : request.inputs) {
    if (kind_of(t.dtype) != Kind::real) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) set_element(t, i, std::nan(""));
  }
  return request;
}

Outcome check_determinism(const Case& c, Asked& backend) {
  const spec::Request request = request_of(c);
  const Question question = question_of(request);
  std::array<std::vector<HostTensor>, 2> got;
  for (std::vector<HostTensor>& tensors : got) {
    const spec::Answer answer = backend.run(request);
    if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
    const std::string problem = question.take(std::get<spec::Numbers>(answer), tensors);
    if (!problem.empty()) return failed(problem);
    if (&tensors == &got[0]) (void)backend.run(poisoned(request));
  }
  Outcome outcome;
  for (std::size_t i = 0; i < got[0].size(); ++i) {
    outcome.comparisons += static_cast<std::size_t>(got[0][i].dims.count());
    if (!same_bits(got[0][i], got[1][i])) {
      Outcome broken = failed("the same request gave other bits the second time");
      broken.comparisons = std::max<std::size_t>(outcome.comparisons, 1);
      return broken;
    }
  }
  return outcome;
}

Outcome checked(const Case& c, Asked& backend, const spec::Contract& contract) {
  switch (c.key.check) {
    case Check::step:
      return check_steps(c, backend, contract, nullptr);
    case Check::adjoint:
      return check_adjoint(c, backend, contract);
    case Check::rejection:
      return check_rejection(c, backend);
    case Check::determinism:
      return check_determinism(c, backend);
    case Check::program:
      return check_program(c, backend, contract);
    default:
      return check_numbers(c, backend, contract);
  }
}

}  // namespace

Outcome check(const Case& c, Asked& backend, const spec::Contract& contract) {
  try {
    return checked(c, backend, contract);
  } catch (const std::exception& e) {
    // Neither the suite nor a backend may throw here: whoever did, the run goes on and does not count as a pass.
    Outcome outcome;
    outcome.verdict = Verdict::crashed;
    outcome.why = e.what();
    return outcome;
  }
}

std::vector<spec::Request> known_requests(const Case& c, const Asked& backend) {
  if (c.key.check == Check::program) return known_program_requests(c, backend);
  if (c.key.check != Check::adjoint) return {request_of(c)};
  std::vector<spec::Request> both;
  Case one = c;
  for (const spec::Mode mode : {spec::Mode::jvp, spec::Mode::vjp}) {
    one.mode = mode;
    both.push_back(request_of(one));
  }
  return both;
}

std::optional<Case> failing_step(const Case& c, Asked& backend, const spec::Contract& contract) {
  Case failing;
  const Outcome outcome = check_steps(c, backend, contract, &failing);
  if (outcome.verdict != Verdict::fail || outcome.step == 0) return std::nullopt;
  return failing;
}

}  // namespace etalon::conformance
