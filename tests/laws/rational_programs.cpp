#include "rational_programs.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "../reference/rationals.hpp"
#include "conformance/random_program.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::test {
namespace {

using reference::Array;
using reference::Rational;

std::vector<const spec::Definition*> algebraic_definitions() {
  std::vector<const spec::Definition*> found;
  for (const spec::Definition* d : spec::library()) {
    if (keeps_rationals(*d)) found.push_back(d);
  }
  return found;
}

Numbers reals_after(Numbers all, std::size_t from) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(from));
  return all;
}

bool stays_rational(const RationalProgram& p, conformance::Draw& draw) {
  try {
    (void)tangents_of(p, random_tangents(p, draw));
    (void)cotangents_of(p, random_cotangents(p, draw));
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

}  // namespace

Array<Rational> random_numbers(Kind kind, const Dims& dims, conformance::Draw& draw) {
  Array<Rational> a(kind, dims);
  for (Rational& x : a.real) x = Rational(draw.integer(-16, 16), 8);
  for (std::int64_t& n : a.integer) n = draw.integer(0, kind == Kind::boolean ? 1 : 3);
  return a;
}

Numbers random_tangents(const RationalProgram& p, conformance::Draw& draw) {
  Numbers tangents;
  for (const std::size_t k : p.wrt) tangents.push_back(random_numbers(Kind::real, p.point[k].dims, draw));
  return tangents;
}

Numbers random_cotangents(const RationalProgram& p, conformance::Draw& draw) {
  Numbers cotangents;
  for (const spec::TensorId t : p.system.outputs) {
    if (kind_of(p.system[t].dtype) == Kind::real) cotangents.push_back(random_numbers(Kind::real, p.system[t].dims, draw));
  }
  return cotangents;
}

Numbers tangents_of(const RationalProgram& p, const Numbers& tangents) {
  Numbers inputs = p.point;
  inputs.insert(inputs.end(), tangents.begin(), tangents.end());
  return reals_after(reference::evaluate<Rational>(spec::jvp(p.system, p.wrt), inputs), p.system.outputs.size());
}

Numbers cotangents_of(const RationalProgram& p, const Numbers& cotangents) {
  Numbers inputs = p.point;
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  return reals_after(reference::evaluate<Rational>(spec::vjp(p.system, p.wrt), inputs), p.system.outputs.size());
}

Numbers tangents_call_by_call(const RationalProgram& p, const Numbers& tangents) {
  std::map<std::string, Array<Rational>> value, tangent;
  for (std::size_t i = 0; i < p.program.inputs.size(); ++i) value[p.program.inputs[i].name] = p.point[i];
  for (std::size_t i = 0; i < p.wrt.size(); ++i) tangent[p.program.inputs[p.wrt[i]].name] = tangents[i];
  const auto types = spec::types_of(p.program);
  for (const auto& step : p.program.steps) {
    const auto& call = std::get<spec::Call>(step);
    std::vector<std::optional<spec::ValueType>> operands;
    Numbers inputs, directions;
    std::vector<std::size_t> wrt;
    for (const auto& name : call.operands) {
      operands.push_back(name ? std::optional(types.at(*name)) : std::nullopt);
      if (!name) continue;
      if (kind_of(types.at(*name).dtype) == Kind::real) {
        wrt.push_back(inputs.size());
        directions.push_back(tangent.at(*name));
      }
      inputs.push_back(value.at(*name));
    }
    const spec::System system =
        spec::instantiate(spec::definition_named(call.operation), operands, call.packs, call.attributes).system;
    inputs.insert(inputs.end(), directions.begin(), directions.end());
    const Numbers out = reference::evaluate<Rational>(spec::jvp(system, wrt), inputs);
    std::size_t next = call.results.size();
    for (std::size_t r = 0; r < call.results.size(); ++r) {
      value[call.results[r]] = out[r];
      if (out[r].kind == Kind::real) tangent[call.results[r]] = out[next++];
    }
  }
  Numbers result;
  for (const std::string& name : p.program.outputs) {
    if (value.at(name).kind == Kind::real) result.push_back(tangent.at(name));
  }
  return result;
}

Numbers second_tangents_of(const RationalProgram& p, const Numbers& first, const Numbers& second) {
  const spec::System once = spec::jvp(p.system, p.wrt);
  const spec::System twice = spec::jvp(once, p.wrt);
  Numbers inputs = p.point;
  inputs.insert(inputs.end(), first.begin(), first.end());
  inputs.insert(inputs.end(), second.begin(), second.end());
  // The outputs of `twice`: values, tangents along `first`, and the tangents of all of these along `second`.
  Numbers out = reference::evaluate<Rational>(twice, inputs);
  const std::size_t reals = once.outputs.size() - p.system.outputs.size();
  return reals_after(std::move(out), once.outputs.size() + reals);
}

std::optional<RationalProgram> draw_rational_program(std::size_t calls, conformance::Draw& draw) {
  static const std::vector<const spec::Definition*> algebraic = algebraic_definitions();
  const auto program = conformance::random_program(algebraic, {.roles = std::vector(calls, conformance::Role::any), .elements = 8, .dtype = DType::f64}, draw);
  if (!program) return std::nullopt;
  RationalProgram p{program->program, spec::lower(program->program), {}, {}};
  bool real_output = false;
  for (const spec::TensorId t : p.system.outputs) real_output = real_output || kind_of(p.system[t].dtype) == Kind::real;
  for (const spec::Input& input : p.program.inputs) {
    if (kind_of(input.dtype) == Kind::real) p.wrt.push_back(p.point.size());
    p.point.push_back(random_numbers(kind_of(input.dtype), input.dims, draw));
  }
  if (p.wrt.empty() || !real_output || !stays_rational(p, draw)) return std::nullopt;
  return p;
}

Numbers combine(const Rational& s, const Numbers& a, const Rational& t, const Numbers& b) {
  Numbers sum = a;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = 0; i < a[k].real.size(); ++i) sum[k].real[i] = s * a[k].real[i] + t * b[k].real[i];
  }
  return sum;
}

Rational inner(const Numbers& a, const Numbers& b) {
  Rational total = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = 0; i < a[k].real.size(); ++i) total += a[k].real[i] * b[k].real[i];
  }
  return total;
}

std::size_t nonzero(const Numbers& a) {
  std::size_t n = 0;
  for (const Array<Rational>& x : a) n += static_cast<std::size_t>(std::count_if(x.real.begin(), x.real.end(), [](const Rational& v) { return v != 0; }));
  return n;
}

bool equal(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!(a[k].dims == b[k].dims) || a[k].real != b[k].real || a[k].integer != b[k].integer) return false;
  }
  return true;
}

}  // namespace etalon::test
