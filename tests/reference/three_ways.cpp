#include "three_ways.hpp"

#include <algorithm>
#include <cmath>

#include "difference.hpp"
#include "reference/differentiate.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"
#include "weight.hpp"

namespace etalon::test {

namespace {

using reference::Array;
using reference::Difference;
using reference::Math;
using reference::Real100;
using reference::Real50;
using reference::Weighed;
using spec::System;

template <class T>
Array<T> exactly(const Array<double>& a) {
  Array<T> out(a.kind, a.dims);
  out.integer = a.integer;
  for (std::size_t i = 0; i < a.real.size(); ++i) out.real[i] = Math<T>::of_binary(a.real[i]);
  return out;
}

template <class T>
std::vector<Array<T>> exactly(const Point& point) {
  std::vector<Array<T>> out;
  for (const Array<double>& a : point) out.push_back(exactly<T>(a));
  return out;
}

/// `number(value, tangent)` for every element; the tangent is null where there is none.
template <class N, class Make>
std::vector<Array<N>> with_tangents(const Point& point, const std::vector<std::optional<Array<double>>>& tangents,
                                    Make number) {
  std::vector<Array<N>> out;
  for (std::size_t k = 0; k < point.size(); ++k) {
    Array<N> a(point[k].kind, point[k].dims);
    a.integer = point[k].integer;
    for (std::size_t i = 0; i < point[k].real.size(); ++i) {
      a.real[i] = number(point[k].real[i], tangents[k] ? &tangents[k]->real[i] : nullptr);
    }
    out.push_back(std::move(a));
  }
  return out;
}

const Real50 criterion("1e-40");

void compare(Agreement& result, const Real50& a, const Real50& b, const Real50& scale, const std::string& what) {
  // Infinite and undefined derivatives agree when they are the same, and tell nothing more: they do not count.
  if ((isnan(a) && isnan(b)) || (isinf(a) && a == b)) return;
  ++result.compared;
  if (!(abs(a - b) <= criterion * scale) && result.disagreement.empty()) {
    result.disagreement = what + ": " + a.str(45) + " and " + b.str(45) + ", terms " + scale.str(5);
  }
}

std::vector<std::optional<Array<double>>> directions(const Point& point, const std::vector<std::size_t>& wrt,
                                                     std::mt19937_64& engine) {
  std::vector<std::optional<Array<double>>> tangents(point.size());
  for (const std::size_t k : wrt) tangents[k] = random_reals(point[k].dims, -2, 2, engine);
  return tangents;
}

std::vector<Array<Weighed<Real50>>> weights(const System& system, const Point& point,
                                            const std::vector<std::optional<Array<double>>>& tangents) {
  using N = Weighed<Real50>;
  return reference::evaluate<N>(system, with_tangents<N>(point, tangents, [](double v, const double* t) {
                                  return t != nullptr ? N(Math<Real50>::of_binary(v), Real50(std::fabs(*t)))
                                                      : N(Math<Real50>::of_binary(v));
                                }));
}

std::vector<Array<Difference<Real100>>> differences_of(const System& system, const Point& point,
                                                       const std::vector<std::optional<Array<double>>>& tangents,
                                                       const Real100& h) {
  using N = Difference<Real100>;
  return reference::evaluate<N>(system, with_tangents<N>(point, tangents, [&](double v, const double* t) {
                                  const Real100 x = Math<Real100>::of_binary(v);
                                  const Real100 step = t != nullptr ? Real100(h * *t) : Real100(0);
                                  return N(x, x + step, x - step);
                                }));
}

std::vector<Array<Real50>> symbolic_tangents(const System& system, const Point& point,
                                             const std::vector<std::size_t>& wrt,
                                             const std::vector<std::optional<Array<double>>>& tangents) {
  std::vector<Array<Real50>> inputs = exactly<Real50>(point);
  for (const std::size_t k : wrt) inputs.push_back(exactly<Real50>(*tangents[k]));
  auto out = reference::evaluate<Real50>(spec::jvp(system, wrt), inputs);
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(system.outputs.size()));
  return out;
}

std::string element_name(const System& system, std::size_t output, std::size_t i) {
  return system[system.outputs[output]].name + "[" + std::to_string(i) + "]";
}

/// Random cotangents, one per real output and nothing for the others.
std::vector<std::optional<Array<double>>> random_cotangents(const System& system, std::mt19937_64& engine) {
  std::vector<std::optional<Array<double>>> seeds;
  for (const spec::TensorId t : system.outputs) {
    const bool real = kind_of(system[t].dtype) == Kind::real;
    seeds.push_back(real ? std::optional(random_reals(system[t].dims, -2, 2, engine)) : std::nullopt);
  }
  return seeds;
}

Point with_cotangents(const Point& point, const std::vector<std::optional<Array<double>>>& seeds) {
  Point all = point;
  for (const auto& s : seeds) {
    if (s) all.push_back(*s);
  }
  return all;
}

/// Σ |cotangent| · Σ|terms of the tangent along this element|.
Real50 cotangent_scale(const System& system, const Point& point, std::size_t input, std::size_t element,
                       const std::vector<std::optional<Array<double>>>& seeds) {
  std::vector<std::optional<Array<double>>> basis(point.size());
  basis[input] = Array<double>(Kind::real, point[input].dims);
  basis[input]->real[element] = 1;
  const auto weighed = weights(system, point, basis);
  Real50 scale(0);
  for (std::size_t o = 0; o < weighed.size(); ++o) {
    if (!seeds[o]) continue;
    for (std::size_t i = 0; i < weighed[o].real.size(); ++i) {
      const Real50& w = weighed[o].real[i].weight;
      if (!isnan(w)) scale += w * std::fabs(seeds[o]->real[i]);
    }
  }
  return scale;
}

}  // namespace

void Agreement::join(const Agreement& other) {
  compared += other.compared;
  if (disagreement.empty()) disagreement = other.disagreement;
}

Array<double> random_reals(const Dims& dims, double low, double high, std::mt19937_64& engine) {
  Array<double> a(Kind::real, dims);
  for (double& v : a.real) {
    const double unit = std::ldexp(static_cast<double>((engine() >> 35U) * 2 + 1), -30);
    v = low + (high - low) * unit;
  }
  return a;
}

Agreement tangents_agree(const System& system, const Point& point, const std::vector<std::size_t>& wrt,
                         std::mt19937_64& engine, bool differences) {
  const auto tangents = directions(point, wrt, engine);
  std::vector<std::optional<Array<Real50>>> wide;
  for (const auto& t : tangents) wide.push_back(t ? std::optional(exactly<Real50>(*t)) : std::nullopt);
  const auto dual = reference::jvp_by_definition<Real50>(system, exactly<Real50>(point), wide).tangents;
  const auto symbolic = symbolic_tangents(system, point, wrt, tangents);
  const auto weighed = weights(system, point, tangents);
  const Real100 h("1e-33");
  const auto differenced = differences_of(system, point, tangents, h);
  Agreement result;
  std::size_t real_output = 0;
  for (std::size_t o = 0; o < dual.size(); ++o) {
    if (!dual[o]) continue;
    for (std::size_t i = 0; i < dual[o]->real.size(); ++i) {
      const std::string at = element_name(system, o, i);
      const Real50& scale = weighed[o].real[i].weight;
      compare(result, dual[o]->real[i], symbolic[real_output].real[i], scale, at + " dual and symbolic");
      if (!differences) continue;
      const Difference<Real100>& d = differenced[o].real[i];
      compare(result, dual[o]->real[i], Real50((d.ahead - d.behind) / (2 * h)), scale, at + " dual and difference");
    }
    ++real_output;
  }
  return result;
}

Agreement cotangents_agree(const System& system, const Point& point, const std::vector<std::size_t>& wrt,
                           std::mt19937_64& engine) {
  const auto seeds = random_cotangents(system, engine);
  std::vector<std::optional<Array<Real50>>> wide;
  for (const auto& s : seeds) wide.push_back(s ? std::optional(exactly<Real50>(*s)) : std::nullopt);
  std::vector<bool> asked(point.size(), false);
  for (const std::size_t k : wrt) asked[k] = true;
  const auto by_definition = reference::vjp_by_definition<Real50>(system, exactly<Real50>(point), wide, asked);
  auto symbolic = reference::evaluate<Real50>(spec::vjp(system, wrt), exactly<Real50>(with_cotangents(point, seeds)));
  symbolic.erase(symbolic.begin(), symbolic.begin() + static_cast<std::ptrdiff_t>(system.outputs.size()));
  Agreement result;
  for (std::size_t w = 0; w < wrt.size(); ++w) {
    for (std::size_t i = 0; i < by_definition[wrt[w]]->real.size(); ++i) {
      compare(result, by_definition[wrt[w]]->real[i], symbolic[w].real[i],
              cotangent_scale(system, point, wrt[w], i, seeds),
              "cotangent of " + system[system.inputs[wrt[w]]].name + "[" + std::to_string(i) + "]");
    }
  }
  return result;
}

Agreement second_derivatives_agree(const System& system, const Point& point, const std::vector<std::size_t>& wrt,
                                   std::mt19937_64& engine, bool differences) {
  const Point all = with_cotangents(point, random_cotangents(system, engine));
  std::vector<std::size_t> inputs = wrt;
  for (std::size_t k = point.size(); k < all.size(); ++k) inputs.push_back(k);
  return tangents_agree(spec::vjp(system, wrt), all, inputs, engine, differences);
}

}  // namespace etalon::test
