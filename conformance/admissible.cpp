#include "conformance/admissible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "conformance/admit_schemas.hpp"
#include "conformance/call_by_call.hpp"
#include "conformance/filled_seeds.hpp"
#include "conformance/schemas.hpp"
#include "conformance/undifferentiable.hpp"
#include "reference/answer.hpp"
#include "spec/error.hpp"
#include "spec/program/binding.hpp"

namespace etalon::conformance {
namespace {

using reference::Envelope;
using reference::Envelopes;

constexpr std::uint8_t no_number = reference::admits_nan | reference::admits_positive_infinity | reference::admits_negative_infinity;

[[nodiscard]] bool may_be_no_number(std::span<const std::uint8_t> flags) {
  return std::any_of(flags.begin(), flags.end(), [](std::uint8_t f) { return (f & no_number) != 0; });
}

/// Whether a call of the request is of a definition that lets it be computed in other ways; what it says of derivatives alone
/// leaves values as they are.
[[nodiscard]] bool has_ways(const spec::Request& request) {
  const spec::Library library = spec::library_of(request.program);
  const auto counts = [&](spec::PartForm form) { return form == spec::PartForm::also || request.mode != spec::Mode::forward; };
  return std::any_of(request.program.steps.begin(), request.program.steps.end(), [&](const auto& step) {
    const auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) return false;
    const spec::Definition& d = library.named(call->operation);
    return std::any_of(d.parts, d.parts + d.part_count, counts);
  });
}

/// Marks for an element of whose value nothing is known.
void leave_open(std::vector<std::uint8_t>& flags) {
  for (std::uint8_t& f : flags) f |= reference::undecided;
}

/// A program that is judged as one, and its question.
class Whole {
 public:
  /// \param wanted these elements alone, of the values of one call; nullptr: all
  Whole(const spec::Request& request, const spec::Contract& contract, const Question& question, const Elements* wanted = nullptr)
      : request_(request),
        contract_(contract),
        question_(question),
        wanted_(wanted),
        meaning_(wanted == nullptr ? reference::envelopes(question.system, question.inputs, contract)
                                   : reference::envelopes_of_elements(question.system, question.inputs, contract, *wanted)) {}

  [[nodiscard]] Outcome judge(const std::vector<HostTensor>& got) const {
    const reference::Verdict verdict = reference::judge(got, meaning_);
    const auto outcome = [&](const reference::Verdict& found) { return outcome_of(found, got, question_.names()); };
    if (verdict.passed()) return outcome(verdict);
    const auto alone = case_of(request_);
    Envelopes bounds = meaning_;
    admit_schemas(bounds, got, schemas(alone), freedoms(), contract_);
    leave_open_beside_infinities(bounds.outputs);
    if (!alone && !reference::judge(got, bounds).passed() && has_ways(request_)) admit_ways(bounds);
    return outcome(reference::judge(got, bounds));
  }

  [[nodiscard]] std::vector<Hull> hulls() const {
    const auto alone = case_of(request_);
    std::vector<Hull> all = hulls_of(meaning_);
    for_each_admitted(meaning_, schemas(alone), freedoms(), contract_, [&](const Envelopes& way) { add(all, way); });
    leave_open_beside_infinities(all);
    if (alone || !has_ways(request_)) return all;
    if (const auto ways = call_by_call(request_, contract_)) {
      add(all, *ways);
    } else {
      for (Hull& hull : all) leave_open(hull.flags);
    }
    return all;
  }

  /// What single calls admit; of several calls the ways of one call after the other are not among them.
  [[nodiscard]] std::vector<Envelopes> admitted() const {
    std::vector<Envelopes> all;
    for_each_admitted(meaning_, schemas(case_of(request_)), freedoms(), contract_, [&](const Envelopes& way) {
      all.push_back(way);
      leave_open_beside_infinities(all.back().outputs);
    });
    return all;
  }

  [[nodiscard]] std::optional<Ways> ways() const {
    if (!case_of(request_)) return std::nullopt;
    return ways_of(admitted());
  }

 private:
  [[nodiscard]] Freedoms freedoms() const {
    Freedoms free = where_undifferentiable(question_.system, question_.inputs, layout_of(request_), meaning_, contract_);
    mark_filled_seeds(free, request_, contract_);
    return free;
  }

  /// Of a program of several calls what follows from the form of its equations.
  [[nodiscard]] std::vector<Schema> schemas(const std::optional<Case>& alone) const {
    if (alone) {
      std::vector<Schema> all = other_schemas(*alone, request_.mode);
      for (Schema& schema : all) schema.wanted = wanted_;
      return all;
    }
    std::vector<Schema> all = schemas_by_form({question_.system, question_.inputs});
    if (request_.mode == spec::Mode::forward || request_.program.steps.size() < 2) return all;
    Question unshared = unshared_question_of(request_);
    all.push_back({std::move(unshared.system), std::move(unshared.inputs)});
    return all;
  }

  /// Beside values and cotangents that are no numbers there is no second derivative to hold anybody to.
  template <class Bound>
  void leave_open_beside_infinities(std::vector<Bound>& bounds) const {
    if (request_.mode != spec::Mode::jvp_of_vjp || bounds.size() < question_.first_tangent) return;
    const auto second = bounds.begin() + static_cast<std::ptrdiff_t>(question_.first_tangent);
    if (std::none_of(bounds.begin(), second, [](const Bound& b) { return may_be_no_number(b.flags); })) return;
    for (auto b = second; b != bounds.end(); ++b) leave_open(b->flags);
  }

  /// Hulls with what the calls may answer in all their ways, or everything undecided where that says nothing.
  void admit_ways(Envelopes& bounds) const {
    const auto ways = call_by_call(request_, contract_);
    for (Envelope& e : bounds.outputs) {
      if (kind_of(e.dtype) == Kind::real) e.alternatives.clear();  // each element has the hull of its branches
      if (!ways) leave_open(e.flags);
    }
    if (ways) widen(bounds, *ways);
  }

  static void add(std::vector<Hull>& all, const Envelopes& way) {
    for (std::size_t o = 0; o < way.outputs.size(); ++o) all[o].add(way.outputs[o]);
  }

  const spec::Request& request_;
  const spec::Contract& contract_;
  const Question& question_;
  const Elements* wanted_;
  Envelopes meaning_;
};

[[nodiscard]] std::vector<Hull> chosen(const std::vector<Hull>& all, const Elements& wanted) {
  std::vector<Hull> some;
  for (std::size_t o = 0; o < all.size(); ++o) some.push_back(of_elements(all[o], wanted[o]));
  return some;
}

/// Copies the listed elements to their places.
void put(HostTensor& to, const HostTensor& list, const std::vector<std::size_t>& places) {
  const std::size_t size = size_of(to.dtype);
  for (std::size_t n = 0; n < places.size(); ++n) std::memcpy(to.bytes.data() + places[n] * size, list.bytes.data() + n * size, size);
}

[[nodiscard]] Outcome judged(const spec::Request& request, const Question& question, const spec::Numbers& numbers, const spec::Contract& contract) {
  std::vector<HostTensor> got;
  const std::string problem = question.take(numbers, got);
  return problem.empty() ? Whole(request, contract, question).judge(got) : failed(problem);
}

/// Whether the answer's lists are as long as the request asks; of one that is not the whole says what is wrong.
[[nodiscard]] bool is_complete(const spec::Request& request, const spec::Numbers& numbers) {
  using spec::Mode;
  const std::size_t outputs = request.program.outputs.size(), inputs = request.program.inputs.size();
  const std::size_t tangents = request.mode == Mode::jvp ? outputs : request.mode == Mode::jvp_of_vjp ? inputs : 0;
  const std::size_t cotangents = request.mode == Mode::vjp || request.mode == Mode::jvp_of_vjp ? inputs : 0;
  return numbers.outputs.size() == outputs && numbers.tangents.size() == tangents && numbers.cotangents.size() == cotangents;
}

}  // namespace

Admissible::Admissible(const spec::Request& request, const spec::Contract& contract)
    : request_(request), contract_(contract), parts_(components_of(request)) {}

bool Admissible::is_one_value() const {
  return request_.mode == spec::Mode::forward && parts_.empty() && case_of(request_).has_value();
}

void Admissible::check(const Elements& wanted) const {
  const auto& outputs = question().system.outputs;
  if (wanted.size() != outputs.size())
    throw SpecViolation(fmt::format("elements: expected a list for each of {} tensors, found {}", outputs.size(), wanted.size()));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const spec::TensorInfo& info = question().system[outputs[o]];
    for (const std::size_t i : wanted[o]) {
      if (i >= static_cast<std::size_t>(info.dims.count()))
        throw SpecViolation(fmt::format("elements: {} has {} elements, found position {}", info.name, info.dims.count(), i));
    }
  }
}

std::vector<Hull> Admissible::hulls(const Elements& wanted) const {
  check(wanted);
  return is_one_value() ? Whole(request_, contract_, question(), &wanted).hulls() : chosen(hulls(), wanted);
}

std::vector<std::vector<Hull>> Admissible::ways_of_elements(const Elements& wanted) const {
  check(wanted);
  std::vector<std::vector<Hull>> all;
  if (is_one_value()) {
    for (const Envelopes& way : Whole(request_, contract_, question(), &wanted).admitted()) all.push_back(hulls_of(way));
  } else {
    for (const Envelopes& way : admitted()) all.push_back(chosen(hulls_of(way), wanted));
  }
  return all;
}

Outcome Admissible::judge(const std::vector<HostTensor>& lists, const Elements& wanted) const {
  check(wanted);
  if (const std::string wrong = misfit(lists, wanted); !wrong.empty()) return failed(wrong);
  if (is_one_value()) return Whole(request_, contract_, question(), &wanted).judge(lists);
  spec::Numbers whole = reference::correctly_rounded(request_);
  std::vector<HostTensor*> tensors;
  for (HostTensor& t : whole.outputs) tensors.push_back(&t);
  for (auto* list : {&whole.cotangents, &whole.tangents}) {
    for (auto& t : *list) {
      if (t) tensors.push_back(&*t);
    }
  }
  for (std::size_t o = 0; o < tensors.size(); ++o) put(*tensors[o], lists[o], wanted[o]);
  return judge(whole);
}

std::string Admissible::misfit(const std::vector<HostTensor>& lists, const Elements& wanted) const {
  const auto& outputs = question().system.outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const spec::TensorInfo& info = question().system[outputs[o]];
    const spec::ValueType expected{info.dtype, Dims{static_cast<std::int64_t>(wanted[o].size())}};
    if (o < lists.size() && lists[o].dtype == expected.dtype && lists[o].dims == expected.dims) continue;
    const std::string found = o < lists.size() ? to_string(spec::ValueType{lists[o].dtype, lists[o].dims}) : "nothing";
    return fmt::format("{}: expected {}, found {}", info.name, to_string(expected), found);
  }
  return "";
}

const Question& Admissible::question() const {
  if (!question_) question_ = question_of(request_);
  return *question_;
}

Envelopes Admissible::meaning() const { return reference::envelopes(question().system, question().inputs, contract_); }

Envelopes Admissible::meaning_of_first(std::size_t most) const {
  std::vector<std::vector<std::size_t>> wanted;
  for (const spec::TensorId t : question().system.outputs) {
    wanted.emplace_back(std::min(most, static_cast<std::size_t>(question().system[t].dims.count())));
    std::iota(wanted.back().begin(), wanted.back().end(), std::size_t{0});
  }
  return reference::envelopes_of_elements(question().system, question().inputs, contract_, wanted);
}

Outcome Admissible::judge(const spec::Numbers& answer) const {
  if (parts_.empty() || !is_complete(request_, answer)) return judged(request_, question(), answer, contract_);
  // The outcomes of independent parts as one: the first failure, and all that was compared.
  Outcome all;
  for (const Component& part : parts_) {
    Outcome one = judged(part.request, question_of(part.request), part.part_of(answer), contract_);
    all.add(one);
    all.statistic.add(one.statistic);
    if (one.verdict != Verdict::fail || all.verdict == Verdict::fail) continue;
    if (one.offender) one.offender->output = part.place_in(request_, one.offender->output);
    all.verdict = Verdict::fail;
    all.why = std::move(one.why);
    all.offender = std::move(one.offender);
  }
  all.decide();
  return all;
}

std::vector<Envelopes> Admissible::admitted() const {
  if (!parts_.empty()) throw Unsupported("ways: the program has " + std::to_string(parts_.size()) + " parts, each with ways of its own");
  return Whole(request_, contract_, question()).admitted();
}

std::vector<Hull> Admissible::hulls() const {
  if (parts_.empty()) return Whole(request_, contract_, question()).hulls();
  std::vector<std::optional<Hull>> placed(question().system.outputs.size());
  for (const Component& part : parts_) {
    const Question own = question_of(part.request);
    std::vector<Hull> hulls = Whole(part.request, contract_, own).hulls();
    for (std::size_t o = 0; o < hulls.size(); ++o) placed.at(part.place_in(request_, o)) = std::move(hulls[o]);
  }
  std::vector<Hull> all;
  for (auto& hull : placed) all.push_back(std::move(*hull));
  return all;
}

std::optional<Ways> Admissible::ways() const {
  if (!parts_.empty()) return std::nullopt;
  return Whole(request_, contract_, question()).ways();
}

}  // namespace etalon::conformance
