#include "reference/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "reference/differentiate.hpp"
#include "reference/draft.hpp"
#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/host.hpp"
#include "reference/interruptible.hpp"
#include "spec/derivative/absent_seeds.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

namespace {

using spec::Mode;
using spec::Numbers;
using spec::Request;
using spec::System;

/// Transposing costs one evaluation per element of the inputs asked for; beyond this many the symbolic derivative,
/// which the tests hold to the definition, answers instead.
constexpr std::int64_t most_transposed_elements = 64;

void require(bool holds, const std::string& what) {
  if (!holds) throw SpecViolation("request: " + what);
}

template <class T>
std::vector<std::optional<Array<T>>> seeds_of(const std::vector<std::optional<HostTensor>>& given, std::span<const spec::TensorId> tensors,
                                              const System& system, const char* what) {
  require(given.empty() || given.size() == tensors.size(), std::string("one ") + what + " or nothing each expected");
  std::vector<std::optional<Array<T>>> seeds(tensors.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    const spec::TensorInfo& info = system[tensors[i]];
    require(kind_of(info.dtype) == Kind::real, info.name + " is not real and has no " + what);
    require(given[i]->dims == info.dims && kind_of(given[i]->dtype) == Kind::real,
            std::string("the ") + what + " of " + info.name + " is " + to_string(given[i]->dims) + ", expected " +
                to_string(info.dims));
    seeds[i] = from_host<T>(*given[i]);
  }
  return seeds;
}

/// The program of a request as a system, and which of its inputs are differentiated.
struct Asked {
  const Request& request;
  System system;
  std::vector<bool> wrt;

  explicit Asked(const Request& r) : request(r), system(spec::lower(r.program)) {
    // The values of updates stand behind the outputs; a request asks for outputs only.
    system.outputs.resize(r.program.outputs.size());
    require(r.inputs.size() == system.inputs.size(),
            std::to_string(system.inputs.size()) + " inputs expected, " + std::to_string(r.inputs.size()) + " given");
    for (std::size_t i = 0; i < r.inputs.size(); ++i) {
      const spec::TensorInfo& info = system[system.inputs[i]];
      require(r.inputs[i].dtype == info.dtype && r.inputs[i].dims == info.dims,
              info.name + " is " + spec::to_string({info.dtype, info.dims}) + ", given " +
                  spec::to_string({r.inputs[i].dtype, r.inputs[i].dims}));
    }
    wrt = r.wrt.empty() ? std::vector<bool>(r.inputs.size(), false) : r.wrt;
    require(wrt.size() == r.inputs.size(), "wrt says yes or no per input");
    if (r.mode != Mode::vjp && r.mode != Mode::jvp_of_vjp) return;
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      require(!wrt[i] || kind_of(r.inputs[i].dtype) == Kind::real, system[system.inputs[i]].name + " is not real");
    }
  }

  [[nodiscard]] std::vector<std::size_t> positions() const {
    std::vector<std::size_t> p;
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      if (wrt[i]) p.push_back(i);
    }
    return p;
  }

  /// Nothing of the answer decided yet.
  [[nodiscard]] Drafts drafts() const {
    Drafts d;
    for (const spec::TensorId t : system.outputs) d.outputs.push_back(draft("", t));
    if (request.mode == Mode::jvp) {
      for (const spec::TensorId t : system.outputs) {
        d.tangents.push_back(kind_of(system[t].dtype) == Kind::real ? std::optional(draft("the tangent of ", t))
                                                                    : std::nullopt);
      }
    }
    if (request.mode == Mode::vjp || request.mode == Mode::jvp_of_vjp) d.cotangents = per_wrt("the cotangent of ");
    if (request.mode == Mode::jvp_of_vjp) d.tangents = per_wrt("the tangent of the cotangent of ");
    return d;
  }

 private:
  [[nodiscard]] Draft draft(const char* what, spec::TensorId t) const {
    return {what + system[t].name, system[t].dtype, system[t].dims};
  }
  [[nodiscard]] std::vector<std::optional<Draft>> per_wrt(const char* what) const {
    std::vector<std::optional<Draft>> all(wrt.size());
    for (const std::size_t i : positions()) all[i] = draft(what, system.inputs[i]);
    return all;
  }
};

/// What the numbers of one type decide of the drafts.
template <class T>
class Run {
  using Values = std::vector<Array<T>>;
  using Optional = std::vector<std::optional<Array<T>>>;
  using Targets = std::vector<Draft*>;

 public:
  Run(const Asked& asked, Drafts& drafts) : request_(asked.request), asked_(asked), system_(asked.system), drafts_(drafts) {
    for (const HostTensor& input : request_.inputs) inputs_.push_back(from_host<T>(input));
  }

  /// The first question that it leaves open; empty where everything is decided.
  std::string question() {
    try {
      switch (request_.mode) {
        case Mode::forward: decide(system_, inputs_, outputs()); break;
        case Mode::jvp: decide(system_, inputs_, tangents(), outputs(), of(drafts_.tangents)); break;
        case Mode::vjp: vjp(); break;
        case Mode::jvp_of_vjp: jvp_of_vjp(); break;
      }
    } catch (const Undecided& open) {
      return open.what();
    }
    return question_;
  }

 private:
  Targets outputs() {
    Targets all;
    for (Draft& d : drafts_.outputs) all.push_back(&d);
    return all;
  }
  static Targets of(std::vector<std::optional<Draft>>& drafts) {
    Targets all;
    for (std::optional<Draft>& d : drafts) all.push_back(d ? &*d : nullptr);
    return all;
  }
  /// The outputs, then the drafts of the inputs asked for.
  Targets outputs_and(std::vector<std::optional<Draft>>& per_input) {
    Targets all = outputs();
    for (const std::size_t i : asked_.positions()) all.push_back(&*per_input[i]);
    return all;
  }

  static Selection open_of(const Targets& targets) {
    Selection open;
    for (const Draft* d : targets) open.push_back(d ? d->open : std::vector<bool>());
    return open;
  }

  void note(const std::string& question) {
    if (question_.empty()) question_ = question;
  }

  /// Rounds what is open in the draft and known among the values.
  void settle(Draft& draft, const Array<T>& values, const std::vector<bool>& unknown) {
    for (std::size_t i = 0; i < draft.open.size(); ++i) {
      if (!draft.open[i] || (!unknown.empty() && unknown[i])) continue;
      if (interruptible_ != nullptr) interruptible_->ask();
      try {
        set_rounded(draft.tensor, values, i);
        draft.open[i] = false;
      } catch (Undecided& question) {
        question.of(draft.name);
        note(question.what());
      }
    }
  }

  /// Evaluates a system for its outputs, of which the drafts are.
  void decide(const System& system, const Values& inputs, const Targets& targets) {
    const Selection open = open_of(targets);
    if (!any_of(open)) return;
    const Partial<T> found = evaluate_partly<T>(system, inputs, open);
    note_open(found.open, found.question);
    for (std::size_t o = 0; o < targets.size(); ++o) settle(*targets[o], found.outputs[o], found.open[o]);
  }

  /// Evaluates it along tangents, for values and tangents of the outputs where there is a draft.
  void decide(const System& system, const Values& inputs, const Optional& directions, const Targets& values,
              const Targets& along) {
    Selection open = open_of(values);
    for (std::size_t o = 0; o < along.size(); ++o) {
      if (!along[o]) continue;
      for (std::size_t i = 0; i < open[o].size(); ++i) open[o][i] = open[o][i] || along[o]->open[i];
    }
    if (!any_of(open)) return;
    const Tangents<T> found = jvp_partly<T>(system, inputs, directions, open);
    note_open(found.open, found.question);
    for (std::size_t o = 0; o < values.size(); ++o) {
      settle(*values[o], found.outputs[o], found.open[o]);
      if (along[o]) settle(*along[o], *found.tangents[o], found.open[o]);
    }
  }

  void note_open(const Selection& open, const std::string& question) {
    if (any_of(open)) note(question);
  }

  Optional tangents() const {
    Optional given = seeds_of<T>(request_.tangents, system_.inputs, system_, "tangent");
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!request_.wrt.empty() && !asked_.wrt[i]) given[i].reset();
    }
    return given;
  }
  Optional cotangents() const { return seeds_of<T>(request_.cotangents, system_.outputs, system_, "cotangent"); }

  std::int64_t elements_asked() const {
    std::int64_t n = 0;
    for (const std::size_t i : asked_.positions()) n += inputs_[i].dims.count();
    return n;
  }

  void vjp() {
    if (elements_asked() > most_transposed_elements) {
      return decide(symbolic_vjp(), with_cotangents(), outputs_and(drafts_.cotangents));
    }
    decide(system_, inputs_, outputs());
    const Selection open = open_of(of(drafts_.cotangents));
    if (!any_of(open)) return;
    Cotangents<T> found = vjp_partly<T>(system_, inputs_, cotangents(), open);
    settle_nan(found, open);
    note_open(found.open, found.question);
    for (const std::size_t i : asked_.positions()) settle(*drafts_.cotangents[i], found.inputs[i], found.open[i]);
  }

  /// Transposed columns are 0·∞ where a tangent of 0 meets an infinite derivative, also when the operand was not
  /// chosen and so has no influence at all. The symbolic derivative tells the two apart.
  void settle_nan(Cotangents<T>& found, const Selection& open) const {
    Selection nan(system_.outputs.size());
    for (const std::size_t i : asked_.positions()) {
      std::vector<bool>& of_input = nan.emplace_back(open[i].size());
      for (std::size_t e = 0; e < of_input.size(); ++e) {
        of_input[e] = open[i][e] && !found.open[i][e] && found.inputs[i].real[e].is_nan();
      }
    }
    if (!any_of(nan)) return;
    const Partial<T> symbolic = evaluate_partly<T>(symbolic_vjp(), with_cotangents(), nan);
    std::size_t next = system_.outputs.size();
    for (const std::size_t i : asked_.positions()) {
      for (std::size_t e = 0; e < nan[next].size(); ++e) {
        if (!nan[next][e]) continue;
        found.inputs[i].real[e] = symbolic.outputs[next].real[e];
        found.open[i][e] = !symbolic.open[next].empty() && symbolic.open[next][e];
      }
      ++next;
    }
    if (found.question.empty()) found.question = symbolic.question;
  }

  /// The inputs of the VJP system: the program's, then a cotangent per real output, zero where none is given.
  Values with_cotangents() const {
    Values all = inputs_;
    const Optional given = cotangents();
    for (const std::size_t o : real_outputs()) all.push_back(given[o] ? *given[o] : Array<T>(Kind::real, system_[system_.outputs[o]].dims));
    return all;
  }

  std::vector<std::size_t> real_outputs() const {
    std::vector<std::size_t> real;
    for (std::size_t o = 0; o < system_.outputs.size(); ++o) {
      if (kind_of(system_[system_.outputs[o]].dtype) == Kind::real) real.push_back(o);
    }
    return real;
  }

  /// Of the VJP system's inputs the cotangents that are not given.
  std::vector<spec::TensorId> absent_cotangents(const System& vjp) const {
    const Optional given = cotangents();
    std::vector<spec::TensorId> absent;
    std::size_t seed = inputs_.size();
    for (const std::size_t o : real_outputs()) {
      if (!given[o]) absent.push_back(vjp.inputs[seed]);
      ++seed;
    }
    return absent;
  }

  System symbolic_vjp() const {
    const System vjp = spec::vjp(system_, asked_.positions());
    return spec::without_seeds(vjp, absent_cotangents(vjp));
  }

  void jvp_of_vjp() {
    Optional directions = tangents();
    const Optional given = cotangents();
    const Optional moved = seeds_of<T>(request_.cotangent_tangents, system_.outputs, system_, "tangent of a cotangent");
    bool from_nothing = false;
    for (const std::size_t o : real_outputs()) {
      from_nothing = from_nothing || (!given[o] && moved[o]);
      directions.push_back(moved[o]);
    }
    if (from_nothing) return symbolic_jvp_of_vjp(directions);
    Targets along(system_.outputs.size());
    for (const std::size_t i : asked_.positions()) along.push_back(&*drafts_.tangents[i]);
    decide(symbolic_vjp(), with_cotangents(), directions, outputs_and(drafts_.cotangents), along);
  }

  /// A cotangent that is not given and moves makes terms of its tangent alone.
  void symbolic_jvp_of_vjp(const Optional& directions) {
    const System vjp = spec::vjp(system_, asked_.positions());
    Values all = with_cotangents();
    std::vector<std::size_t> moving;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (!directions[i]) continue;
      moving.push_back(i);
      all.push_back(*directions[i]);
    }
    System second = spec::jvp(vjp, moving);
    // Nobody asks for tangents of the outputs.
    const auto unasked = second.outputs.begin() + static_cast<std::ptrdiff_t>(vjp.outputs.size());
    second.outputs.erase(unasked, unasked + static_cast<std::ptrdiff_t>(real_outputs().size()));
    Targets targets = outputs_and(drafts_.cotangents);
    for (const std::size_t i : asked_.positions()) targets.push_back(&*drafts_.tangents[i]);
    decide(spec::without_seeds(second, absent_cotangents(vjp)), all, targets);
  }

  const Request& request_;
  const Asked& asked_;
  const System& system_;
  Drafts& drafts_;
  Values inputs_;
  std::string question_;
  Interruptible* interruptible_ = Interruptible::innermost();
};

Numbers finished(Drafts drafts) {
  Numbers n;
  const auto all = [](std::vector<std::optional<Draft>>& from) {
    std::vector<std::optional<HostTensor>> tensors;
    for (std::optional<Draft>& d : from) tensors.push_back(d ? std::optional(std::move(d->tensor)) : std::nullopt);
    return tensors;
  };
  for (Draft& d : drafts.outputs) n.outputs.push_back(std::move(d.tensor));
  n.tangents = all(drafts.tangents);
  n.cotangents = all(drafts.cotangents);
  return n;
}

}  // namespace

Numbers correctly_rounded(const Request& request) {
  const Asked asked(request);
  Drafts drafts = asked.drafts();
  std::string question;
  unsigned bits = 0;
#define ETALON_TRY(Bits)                                     \
  if (bits == 0 || !question.empty()) {                      \
    question = Run<Precise<Bits>>(asked, drafts).question(); \
    bits = Bits;                                             \
  }
  ETALON_FOR_EACH_PRECISION(ETALON_TRY)
#undef ETALON_TRY
  if (!question.empty()) throw Unsupported(fmt::format("reference: {} bits do not decide {}", bits, question));
  return finished(std::move(drafts));
}

}  // namespace etalon::reference
