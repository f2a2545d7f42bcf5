#include "conformance/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "conformance/admit_schemas.hpp"
#include "conformance/check_program.hpp"
#include "conformance/judge.hpp"
#include "conformance/number_text.hpp"
#include "conformance/schemas.hpp"
#include "conformance/shapes.hpp"
#include "conformance/values.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

constexpr std::array verdict_names{"pass", "fail", "unsupported", "waived", "undecided", "crashed", "timeout"};
static_assert(verdict_names.size() == verdict_count);

constexpr double infinity = std::numeric_limits<double>::infinity();

// What the definition says of the case, derivatives included.
struct Question {
  spec::System system;
  std::vector<HostTensor> inputs;
  std::vector<std::string> names;  ///< of the system's outputs
};

std::vector<std::size_t> marked(const std::vector<bool>& wrt) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (wrt[i]) positions.push_back(i);
  }
  return positions;
}

std::vector<std::string> output_names(const spec::System& system) {
  std::vector<std::string> names;
  for (const spec::TensorId id : system.outputs) names.push_back(system[id].name);
  return names;
}

Question question_of(const Case& c, const spec::Instance& instance, spec::Mode mode) {
  Question q{instance.system, present(c), {}};
  const auto positions = marked(c.wrt);
  if (mode == spec::Mode::jvp) {
    q.system = spec::jvp(instance.system, positions);
    for (const std::size_t i : positions) {
      q.inputs.push_back(c.tangents[i] ? *c.tangents[i] : HostTensor(q.inputs[i].dtype, q.inputs[i].dims));
    }
  } else if (mode == spec::Mode::vjp) {
    q.system = spec::vjp(instance.system, positions);
    for (std::size_t r = 0; r < instance.results.size(); ++r) {
      const spec::ValueType& type = instance.results[r];
      if (kind_of(type.dtype) != Kind::real) continue;
      q.inputs.push_back(c.cotangents[r] ? *c.cotangents[r] : HostTensor(type.dtype, type.dims));
    }
  }
  q.names = output_names(q.system);
  return q;
}

// The answer's tensors in the order of the question's outputs, or why they are not all there.
struct Collected {
  std::vector<HostTensor> tensors;
  std::string problem;
};

void collect(Collected& to, const std::optional<HostTensor>& tensor, bool wanted, std::string_view what) {
  if (wanted && !tensor) {
    to.problem = fmt::format("the answer lacks a {}", what);
  } else if (!wanted && tensor) {
    to.problem = fmt::format("the answer has a {} where there is none", what);
  } else if (tensor) {
    to.tensors.push_back(*tensor);
  }
}

Collected collected(const spec::Numbers& numbers, const Case& c, const spec::Instance& instance, spec::Mode mode) {
  Collected all;
  if (numbers.outputs.size() != instance.results.size()) {
    all.problem = fmt::format("expected {} outputs, got {}", instance.results.size(), numbers.outputs.size());
    return all;
  }
  all.tensors = numbers.outputs;
  if (mode == spec::Mode::jvp) {
    if (numbers.tangents.size() != instance.results.size()) {
      all.problem = fmt::format("expected {} tangents, got {}", instance.results.size(), numbers.tangents.size());
      return all;
    }
    for (std::size_t r = 0; r < instance.results.size(); ++r) {
      collect(all, numbers.tangents[r], kind_of(instance.results[r].dtype) == Kind::real, "tangent");
    }
  } else if (mode == spec::Mode::vjp) {
    if (numbers.cotangents.size() != c.wrt.size()) {
      all.problem = fmt::format("expected {} cotangents, got {}", c.wrt.size(), numbers.cotangents.size());
      return all;
    }
    for (std::size_t i = 0; i < c.wrt.size(); ++i) collect(all, numbers.cotangents[i], c.wrt[i], "cotangent");
  }
  return all;
}

Outcome check_numbers(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Instance instance = instance_of(c);
  const spec::Answer answer = backend.run(request_of(c, instance.results.size()));
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
  const Collected got = collected(std::get<spec::Numbers>(answer), c, instance, c.mode);
  if (!got.problem.empty()) return failed(got.problem);
  const Question question = question_of(c, instance, c.mode);
  auto bounds = reference::envelopes(question.system, question.inputs, contract);
  const reference::Verdict verdict = reference::judge(got.tensors, bounds);
  if (verdict.passed()) return outcome_of(verdict, got.tensors, question.names);
  const DerivativeLayout layout{c.mode, instance.results.size(), present(c).size(), marked(c.wrt)};
  const Freedoms freedoms = where_undifferentiable(question.system, question.inputs, layout, bounds, contract);
  admit_schemas(bounds, got.tensors, other_schemas(c, c.mode), freedoms, contract);
  return outcome_of(reference::judge(got.tensors, bounds), got.tensors, question.names);
}

Outcome check_second(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Request request = request_of(c, instance_of(c).results.size());
  return judge(request, backend.run(request), contract);
}

// The operands that are no state: other numbers in each step, without drawing again.
void rotate_by_one(HostTensor& t) {
  if (t.bytes.empty()) return;
  const std::size_t size = size_of(t.dtype);
  std::rotate(t.bytes.begin(), t.bytes.begin() + static_cast<std::ptrdiff_t>(size), t.bytes.end());
}

// The next step's operands: the backend's own state, the next count, other gradients.
void advance(Case& c, const std::vector<std::optional<std::size_t>>& links, const std::vector<HostTensor>& outputs) {
  std::vector<bool> is_state(c.operands.size(), false);
  for (std::size_t r = 0; r < links.size() && r < outputs.size(); ++r) {
    if (!links[r] || !c.operands[*links[r]]) continue;
    c.operands[*links[r]] = outputs[r];
    is_state[*links[r]] = true;
  }
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i] || is_state[i]) continue;
    HostTensor& t = *c.operands[i];
    if (t.dtype == DType::i64 && t.dims.rank == 0) {
      set_element(t, 0, element(t, 0) + 1);
    } else if (kind_of(t.dtype) == Kind::real) {
      rotate_by_one(t);
    }
  }
}

Outcome check_steps(const Case& c, Asked& backend, const spec::Contract& contract, Case* failing) {
  const auto links = state_links(definition_of(c));
  const spec::Instance instance = instance_of(c);
  Case now = c;
  now.steps = 1;
  Outcome total;
  for (int step = 1; step <= c.steps; ++step) {
    const spec::Answer answer = backend.run(request_of(now, instance.results.size()));
    if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
    const Collected got = collected(std::get<spec::Numbers>(answer), now, instance, spec::Mode::forward);
    if (!got.problem.empty()) return failed(got.problem);
    auto bounds = reference::envelopes(instance.system, present(now), contract);
    if (!reference::judge(got.tensors, bounds).passed())
      admit_schemas(bounds, got.tensors, other_schemas(now, spec::Mode::forward), {}, contract);
    const Outcome one = outcome_of(reference::judge(got.tensors, bounds), got.tensors, output_names(instance.system));
    total.comparisons += one.comparisons;
    total.undecided += one.undecided;
    total.worst_ratio = std::max(total.worst_ratio, one.worst_ratio);
    total.statistic.add(one.statistic);
    if (one.verdict == Verdict::fail) {
      total.verdict = one.verdict;
      total.why = fmt::format("step {}: {}", step, one.why);
      total.offender = one.offender;
      total.step = step;
      if (failing != nullptr) *failing = now;
      return total;
    }
    advance(now, links, got.tensors);
  }
  if (total.comparisons > 0 && total.undecided == total.comparisons) total.verdict = Verdict::undecided;
  return total;
}

// One side of the adjoint law: the inner product, what the bounds allow it to be off, and whether they say anything.
struct Side {
  long double product = 0;
  long double allowed = 0;
  bool decided = true;
};

void accumulate(Side& side, const HostTensor& with, const HostTensor& got, const reference::Envelope& envelope) {
  constexpr long double unit = 0x1p-63L;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got.dims.count()); ++i) {
    const long double w = element(with, i);
    if (w == 0) continue;
    const long double value = element(got, i);
    side.decided &= envelope.flags[i] == reference::admits_finite && std::isfinite(value);
    // The ends are doubles inside the bound, so that the bound itself may reach almost one unit further on each side.
    const long double lower = envelope.lower[i];
    const long double upper = envelope.upper[i];
    const long double width = upper - lower + 4 * 0x1p-53L * std::max(std::abs(lower), std::abs(upper)) + 0x1p-1073L;
    side.product += w * value;
    // The second part is the rounding of this very sum.
    side.allowed += std::abs(w) * width + static_cast<long double>(got.dims.count() + 2) * unit * std::abs(w * value);
  }
}

// What one side of the law needs: what was asked, and what the backend said.
struct Answered {
  Case asked;
  Question question;
  std::vector<HostTensor> tensors;
  reference::Envelopes bounds;
};

using Pair = std::array<Answered, 2>;  // the JVP's and the VJP's

Side side_of(const Answered& answered, const std::vector<std::optional<HostTensor>>& with, std::size_t results) {
  Side side;
  std::size_t at = results;
  for (const auto& t : with) {
    if (!t) continue;
    accumulate(side, *t, answered.tensors[at], answered.bounds.outputs[at]);
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

Outcome check_adjoint(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Instance instance = instance_of(c);
  const std::size_t results = instance.results.size();
  Pair pair;
  for (const std::size_t k : {0u, 1u}) {
    Answered& one = pair[k];
    one.asked = c;
    one.asked.mode = k == 0 ? spec::Mode::jvp : spec::Mode::vjp;
    const spec::Answer answer = backend.run(request_of(one.asked, results));
    if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
    Collected got = collected(std::get<spec::Numbers>(answer), one.asked, instance, one.asked.mode);
    if (!got.problem.empty()) return failed(got.problem);
    one.tensors = std::move(got.tensors);
    if (!shapes_agree(one, k == 0 ? c.cotangents : c.tangents, results))
      return failed("a derivative has another shape than its value");
    one.question = question_of(one.asked, instance, one.asked.mode);
    one.bounds = reference::envelopes(one.question.system, one.question.inputs, contract);
  }
  const Outcome outcome = adjoint_outcome(c, pair, results);
  if (outcome.verdict != Verdict::fail) return outcome;
  // What schemas admit besides only widens what is allowed, and costs as much again.
  for (Answered& one : pair) widen_by_schemas(one.bounds, other_schemas(one.asked, one.asked.mode), contract);
  return adjoint_outcome(c, pair, results);
}

Outcome check_rejection(const Case& c, Asked& backend) {
  const spec::Definition& definition = definition_of(c);
  const spec::Answer answer = backend.run(request_of(c, definition.result_count));
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
  const spec::Instance instance = instance_of(c);
  const spec::Request request = request_of(c, instance.results.size());
  const spec::Answer first = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&first)) return refused(*refusal);
  (void)backend.run(poisoned(request));
  const spec::Answer second = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&second)) return refused(*refusal);
  const Collected a = collected(std::get<spec::Numbers>(first), c, instance, c.mode);
  const Collected b = collected(std::get<spec::Numbers>(second), c, instance, c.mode);
  if (!a.problem.empty()) return failed(a.problem);
  if (!b.problem.empty()) return failed(b.problem);
  Outcome outcome;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    outcome.comparisons += static_cast<std::size_t>(a.tensors[i].dims.count());
    if (!same_bits(a.tensors[i], b.tensors[i])) {
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
    case Check::second:
      return check_second(c, backend, contract);
    case Check::program:
      return check_program(c, backend, contract);
    default:
      return check_numbers(c, backend, contract);
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)]; }

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

std::optional<Case> failing_step(const Case& c, Asked& backend, const spec::Contract& contract) {
  Case failing;
  const Outcome outcome = check_steps(c, backend, contract, &failing);
  if (outcome.verdict != Verdict::fail || outcome.step == 0) return std::nullopt;
  return failing;
}

}  // namespace etalon::conformance
