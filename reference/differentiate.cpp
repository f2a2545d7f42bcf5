#include "reference/differentiate.hpp"

#include <string>

#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/undecided.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw SpecViolation(std::string("differentiate: ") + what);
}

template <class T>
Array<Dual<T>> lift(const Array<T>& primal) {
  Array<Dual<T>> a(primal.kind, primal.dims);
  a.integer = primal.integer;
  for (std::size_t i = 0; i < primal.real.size(); ++i) a.real[i] = Dual<T>(primal.real[i]);
  return a;
}

template <class T>
std::vector<Array<Dual<T>>> lift_all(std::span<const Array<T>> inputs) {
  std::vector<Array<Dual<T>>> lifted;
  lifted.reserve(inputs.size());
  for (const Array<T>& a : inputs) lifted.push_back(lift(a));
  return lifted;
}

template <class T>
T tangent_of(const Dual<T>& d) {
  return d.active ? d.tangent : T(0);
}

template <class T>
Tangents<T> split(Partial<Dual<T>> found) {
  Tangents<T> result;
  result.open = std::move(found.open);
  result.question = std::move(found.question);
  for (const Array<Dual<T>>& d : found.outputs) {
    Array<T> value(d.kind, d.dims);
    value.integer = d.integer;
    Array<T> tangent(d.kind, d.dims);
    for (std::size_t i = 0; i < d.real.size(); ++i) {
      value.real[i] = d.real[i].value;
      tangent.real[i] = tangent_of(d.real[i]);
    }
    result.outputs.push_back(std::move(value));
    result.tangents.push_back(d.kind == Kind::real ? std::optional(std::move(tangent)) : std::nullopt);
  }
  return result;
}

/// Σ cotangent · tangent over all real outputs.
template <class T>
T pairing(const std::vector<Array<Dual<T>>>& outputs, std::span<const std::optional<Array<T>>> cotangents) {
  T total(0);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!cotangents[o]) continue;
    for (std::size_t i = 0; i < outputs[o].real.size(); ++i) {
      // An element that does not depend contributes nothing, not cotangent · 0, which is NaN for an infinite cotangent.
      if (outputs[o].real[i].active) total += cotangents[o]->real[i] * outputs[o].real[i].tangent;
    }
  }
  return total;
}

}  // namespace

template <class T>
Tangents<T> jvp_partly(const spec::System& system, std::span<const Array<T>> inputs,
                       std::span<const std::optional<Array<T>>> tangents, const Selection& asked) {
  require(tangents.size() == inputs.size(), "one tangent or nothing per input");
  std::vector<Array<Dual<T>>> duals = lift_all(inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!tangents[k]) continue;
    require(inputs[k].kind == Kind::real, "only a real input has a tangent");
    require(tangents[k]->kind == Kind::real && tangents[k]->dims == inputs[k].dims, "a tangent has its input's shape");
    for (std::size_t i = 0; i < duals[k].real.size(); ++i) {
      duals[k].real[i] = Dual<T>(inputs[k].real[i], tangents[k]->real[i]);
    }
  }
  return split(evaluate_partly<Dual<T>>(system, duals, asked));
}

template <class T>
Tangents<T> jvp_by_definition(const spec::System& system, std::span<const Array<T>> inputs,
                              std::span<const std::optional<Array<T>>> tangents) {
  Tangents<T> found = jvp_partly(system, inputs, tangents, everything(system));
  if (any_of(found.open)) throw Undecided(found.question);
  return found;
}

template <class T>
Cotangents<T> vjp_partly(const spec::System& system, std::span<const Array<T>> inputs,
                         std::span<const std::optional<Array<T>>> cotangents, const Selection& asked) {
  require(asked.size() == inputs.size(), "asked stands per input");
  require(cotangents.size() == system.outputs.size(), "one cotangent or nothing per output");
  Selection weighed = everything(system);
  for (std::size_t o = 0; o < cotangents.size(); ++o) {
    require(!cotangents[o] || (kind_of(system[system.outputs[o]].dtype) == Kind::real &&
                               cotangents[o]->dims == system[system.outputs[o]].dims),
            "a cotangent has its output's shape");
    if (!cotangents[o]) weighed[o].clear();
  }
  std::vector<Array<Dual<T>>> duals = lift_all(inputs);
  Cotangents<T> result;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Array<T> cotangent(Kind::real, inputs[k].dims);
    std::vector<bool> open(asked[k].size());
    for (std::size_t i = 0; i < asked[k].size(); ++i) {
      if (!asked[k][i]) continue;
      require(inputs[k].kind == Kind::real, "cotangents are of real inputs only");
      duals[k].real[i] = Dual<T>(inputs[k].real[i], T(1));
      const Partial<Dual<T>> found = evaluate_partly<Dual<T>>(system, duals, weighed);
      duals[k].real[i] = Dual<T>(inputs[k].real[i]);
      try {
        for (std::size_t o = 0; o < cotangents.size(); ++o) {
          if (cotangents[o] && !found.open[o].empty()) throw Undecided(found.question);
        }
        cotangent.real[i] = pairing(found.outputs, cotangents);
      } catch (const Undecided& question) {
        open[i] = true;
        if (result.question.empty()) result.question = question.what();
      }
    }
    result.inputs.push_back(std::move(cotangent));
    result.open.push_back(std::move(open));
  }
  return result;
}

template <class T>
std::vector<std::optional<Array<T>>> vjp_by_definition(const spec::System& system, std::span<const Array<T>> inputs,
                                                       std::span<const std::optional<Array<T>>> cotangents,
                                                       const std::vector<bool>& wrt) {
  require(wrt.size() == inputs.size(), "wrt says yes or no per input");
  Selection asked;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    require(!wrt[k] || inputs[k].kind == Kind::real, "wrt names real inputs only");
    asked.emplace_back(wrt[k] ? inputs[k].size() : 0, true);
  }
  Cotangents<T> found = vjp_partly(system, inputs, cotangents, asked);
  if (any_of(found.open)) throw Undecided(found.question);
  std::vector<std::optional<Array<T>>> result(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (wrt[k]) result[k] = std::move(found.inputs[k]);
  }
  return result;
}

#define ETALON_INSTANTIATE(T)                                                                                       \
  template Tangents<T> jvp_by_definition(const spec::System&, std::span<const Array<T>>,                            \
                                         std::span<const std::optional<Array<T>>>);                                 \
  template Tangents<T> jvp_partly(const spec::System&, std::span<const Array<T>>,                                   \
                                  std::span<const std::optional<Array<T>>>, const Selection&);                      \
  template Cotangents<T> vjp_partly(const spec::System&, std::span<const Array<T>>,                                 \
                                    std::span<const std::optional<Array<T>>>, const Selection&);                    \
  template std::vector<std::optional<Array<T>>> vjp_by_definition(const spec::System&, std::span<const Array<T>>,   \
                                                                  std::span<const std::optional<Array<T>>>,         \
                                                                  const std::vector<bool>&);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Real50)
ETALON_INSTANTIATE(Real100)
ETALON_INSTANTIATE(Rational)
#define ETALON_INSTANTIATE_PRECISE(Bits) ETALON_INSTANTIATE(Precise<Bits>)
ETALON_FOR_EACH_PRECISION(ETALON_INSTANTIATE_PRECISE)
#undef ETALON_INSTANTIATE_PRECISE
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference
