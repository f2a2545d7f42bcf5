#include "reference/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "reference/differentiate.hpp"
#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/host.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

namespace {

using spec::Answer;
using spec::Mode;
using spec::Numbers;
using spec::Refusal;
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

/// A run of one request: the program as a system, and its inputs as numbers of one precision.
template <class T>
class Run {
  using Values = std::vector<Array<T>>;
  using Optional = std::vector<std::optional<Array<T>>>;

 public:
  explicit Run(const Request& request) : request_(request), system_(spec::lower(request.program)) {
    // The values of updates stand behind the outputs; a request asks for outputs only.
    system_.outputs.resize(request.program.outputs.size());
    require(request.inputs.size() == system_.inputs.size(),
            std::to_string(system_.inputs.size()) + " inputs expected, " + std::to_string(request.inputs.size()) +
                " given");
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      const spec::TensorInfo& info = system_[system_.inputs[i]];
      require(request.inputs[i].dtype == info.dtype && request.inputs[i].dims == info.dims,
              info.name + " is " + spec::to_string({info.dtype, info.dims}) + ", given " +
                  spec::to_string({request.inputs[i].dtype, request.inputs[i].dims}));
      inputs_.push_back(from_host<T>(request.inputs[i]));
    }
    wrt_ = request.wrt.empty() ? std::vector<bool>(inputs_.size(), false) : request.wrt;
    require(wrt_.size() == inputs_.size(), "wrt says yes or no per input");
  }

  Numbers answer() {
    switch (request_.mode) {
      case Mode::forward: return forward(evaluate<T>(system_, inputs_));
      case Mode::jvp: return jvp();
      case Mode::vjp: return vjp();
      case Mode::jvp_of_vjp: return jvp_of_vjp();
    }
    throw InternalError("reference: unknown mode");
  }

 private:
  DType dtype_of(spec::TensorId t) const { return system_[t].dtype; }

  /// The values rounded to the element type of the tensor, of which they are the `what`.
  HostTensor rounded(const Array<T>& values, spec::TensorId t, const char* what = "") const {
    try {
      return to_host(values, dtype_of(t));
    } catch (Undecided& question) {
      question.of(what + system_[t].name);
      throw;
    }
  }

  /// The outputs among `values`, rounded.
  Numbers forward(const Values& values) const {
    Numbers n;
    for (std::size_t i = 0; i < system_.outputs.size(); ++i) {
      n.outputs.push_back(rounded(values[i], system_.outputs[i]));
    }
    return n;
  }

  Optional tangents() const {
    Optional given = seeds_of<T>(request_.tangents, system_.inputs, system_, "tangent");
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!request_.wrt.empty() && !wrt_[i]) given[i].reset();
    }
    return given;
  }
  Optional cotangents() const { return seeds_of<T>(request_.cotangents, system_.outputs, system_, "cotangent"); }

  Numbers jvp() const {
    const Tangents<T> t = jvp_by_definition<T>(system_, inputs_, tangents());
    Numbers n = forward(t.outputs);
    for (std::size_t i = 0; i < t.tangents.size(); ++i) {
      n.tangents.push_back(t.tangents[i] ? std::optional(rounded(*t.tangents[i], system_.outputs[i], "the tangent of "))
                                         : std::nullopt);
    }
    return n;
  }

  std::int64_t elements_asked() const {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < wrt_.size(); ++i) n += wrt_[i] ? inputs_[i].dims.count() : 0;
    return n;
  }

  void check_wrt() const {
    for (std::size_t i = 0; i < wrt_.size(); ++i) {
      require(!wrt_[i] || inputs_[i].kind == Kind::real, system_[system_.inputs[i]].name + " is not real");
    }
  }

  Numbers vjp() const {
    check_wrt();
    if (elements_asked() > most_transposed_elements) return symbolic_vjp();
    Numbers n = forward(evaluate<T>(system_, inputs_));
    n.cotangents.resize(inputs_.size());
    const Optional back = vjp_by_definition<T>(system_, inputs_, cotangents(), wrt_);
    for (std::size_t i = 0; i < back.size(); ++i) {
      if (back[i]) n.cotangents[i] = rounded(*back[i], system_.inputs[i], "the cotangent of ");
    }
    settle_nan(n, back);
    return n;
  }

  /// Transposed columns are 0·∞ where a tangent of 0 meets an infinite derivative, also when the operand was not
  /// chosen and so has no influence at all. The symbolic derivative tells the two apart.
  void settle_nan(Numbers& n, const Optional& back) const {
    const auto has_nan = [](const auto& a) {
      return a && std::any_of(a->real.begin(), a->real.end(), [](const T& x) { return x.is_nan(); });
    };
    if (std::none_of(back.begin(), back.end(), has_nan)) return;
    const Values values = evaluate<T>(spec::vjp(system_, positions()), with_cotangents());
    std::size_t next = system_.outputs.size();
    for (const std::size_t i : positions()) {
      Array<T> settled = *back[i];
      const Array<T>& symbolic = values[next++];
      for (std::size_t e = 0; e < settled.real.size(); ++e) {
        if (settled.real[e].is_nan()) settled.real[e] = symbolic.real[e];
      }
      n.cotangents[i] = rounded(settled, system_.inputs[i], "the cotangent of ");
    }
  }

  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> p;
    for (std::size_t i = 0; i < wrt_.size(); ++i) {
      if (wrt_[i]) p.push_back(i);
    }
    return p;
  }

  /// The inputs of the VJP system: the program's, then a cotangent per real output, zero where none is given.
  Values with_cotangents() const {
    Values all = inputs_;
    const Optional given = cotangents();
    for (std::size_t o = 0; o < given.size(); ++o) {
      const spec::TensorInfo& info = system_[system_.outputs[o]];
      if (kind_of(info.dtype) != Kind::real) continue;
      all.push_back(given[o] ? *given[o] : Array<T>(Kind::real, info.dims));
    }
    return all;
  }

  /// What follows the outputs among `values`, one per input asked for, rounded.
  std::vector<std::optional<HostTensor>> per_wrt(const Values& values, const char* what) const {
    std::vector<std::optional<HostTensor>> result(inputs_.size());
    std::size_t next = system_.outputs.size();
    for (const std::size_t i : positions()) result[i] = rounded(values[next++], system_.inputs[i], what);
    return result;
  }

  Numbers symbolic_vjp() const {
    const Values values = evaluate<T>(spec::vjp(system_, positions()), with_cotangents());
    Numbers n = forward(values);
    n.cotangents = per_wrt(values, "the cotangent of ");
    return n;
  }

  Numbers jvp_of_vjp() const {
    check_wrt();
    Optional directions = tangents();
    const Optional given =
        seeds_of<T>(request_.cotangent_tangents, system_.outputs, system_, "tangent of a cotangent");
    for (std::size_t o = 0; o < given.size(); ++o) {
      if (kind_of(dtype_of(system_.outputs[o])) == Kind::real) directions.push_back(given[o]);
    }
    const Tangents<T> t =
        jvp_by_definition<T>(spec::vjp(system_, positions()), with_cotangents(), directions);
    Numbers n = forward(t.outputs);
    n.cotangents = per_wrt(t.outputs, "the cotangent of ");
    Values second;
    for (std::size_t i = 0; i < t.outputs.size(); ++i) {
      second.push_back(t.tangents[i] ? *t.tangents[i] : Array<T>());
    }
    n.tangents = per_wrt(second, "the tangent of the cotangent of ");
    return n;
  }

  const Request& request_;
  System system_;
  Values inputs_;
  std::vector<bool> wrt_;
};

/// The answer if so many bits decide it, or the question that they leave open.
template <unsigned Bits>
std::optional<Numbers> decided(const Request& request, std::string& question) {
  try {
    return Run<Precise<Bits>>(request).answer();
  } catch (const Undecided& open) {
    question = fmt::format("{} bits do not decide {}", Bits, open.what());
    return std::nullopt;
  }
}

Numbers correctly_rounded(const Request& request) {
  std::optional<Numbers> numbers;
  std::string question;
#define ETALON_TRY(Bits) \
  if (!numbers) numbers = decided<Bits>(request, question);
  ETALON_FOR_EACH_PRECISION(ETALON_TRY)
#undef ETALON_TRY
  if (!numbers) throw Unsupported("reference: " + question);
  return *std::move(numbers);
}

class ReferenceBackend final : public spec::Backend {
 public:
  [[nodiscard]] spec::Description describe() const override {
    spec::Description d;
    d.name = "reference";
    d.version = "1";
    d.dtypes = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
    d.modes = {Mode::forward, Mode::jvp, Mode::vjp, Mode::jvp_of_vjp};
    d.contract.name = "reference";
    d.contract.default_function = {0.5, 0, 0, true};
    d.generator = "philox4x32-10";
    d.fuses = true;  // only what is asked for is rounded
    return d;
  }

  [[nodiscard]] Answer run(const Request& request) override {
    try {
      return correctly_rounded(request);
    } catch (const SpecViolation& e) {
      return Refusal{Refusal::Kind::rejected, e.what(), {}};
    } catch (const Unsupported& e) {
      return Refusal{Refusal::Kind::unsupported, e.what(), "operation"};
    } catch (const std::exception& e) {
      return Refusal{Refusal::Kind::error, e.what(), {}};
    }
  }
};

}  // namespace

std::unique_ptr<spec::Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace etalon::reference
