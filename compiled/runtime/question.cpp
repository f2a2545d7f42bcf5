#include "compiled/runtime/question.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using spec::Mode;
using spec::Numbers;
using spec::Request;
using spec::System;

namespace {

using Optional = std::vector<std::optional<HostTensor>>;

void require(bool holds, const std::string& what) {
  if (!holds) throw SpecViolation("request: " + what);
}

bool is_real(const spec::TensorInfo& info) { return kind_of(info.dtype) == Kind::real; }

void require_type(const spec::TensorInfo& info, const HostTensor& given, const char* what) {
  const std::size_t bytes = static_cast<std::size_t>(info.dims.count()) * size_of(info.dtype);
  require(given.dtype == info.dtype && given.dims == info.dims && given.bytes.size() == bytes,
          fmt::format("{}{} is {}{}, given {}{}", what, info.name, name_of(info.dtype), to_string(info.dims),
                      name_of(given.dtype), to_string(given.dims)));
}

void require_range(const spec::TensorInfo& info, const HostTensor& given) {
  if (!info.range || info.dims.rank != 0 || kind_of(info.dtype) != Kind::integer) return;
  const std::int64_t value = info.dtype == DType::i32 ? given.view<std::int32_t>()[0] : given.view<std::int64_t>()[0];
  require(value >= info.range->first && value <= info.range->second,
          fmt::format("{} is {}, its range is {}..{}", info.name, value, info.range->first, info.range->second));
}

/// The inputs of a derivative that has one seed per real output, zero where none is given.
void append_cotangents(const System& system, const Optional& given, std::vector<HostTensor>& inputs) {
  require(given.empty() || given.size() == system.outputs.size(), "one cotangent or nothing per output expected");
  for (std::size_t o = 0; o < system.outputs.size(); ++o) {
    const spec::TensorInfo& info = system[system.outputs[o]];
    const bool present = !given.empty() && given[o].has_value();
    require(is_real(info) || !present, info.name + " is not real and has no cotangent");
    if (!is_real(info)) continue;
    if (present) require_type(info, *given[o], "the cotangent of ");
    inputs.push_back(present ? *given[o] : HostTensor(info.dtype, info.dims));
  }
}

std::vector<std::size_t> marked(const Request& request, const System& system) {
  require(request.wrt.size() == system.inputs.size(), "wrt says yes or no per input");
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < request.wrt.size(); ++i) {
    if (!request.wrt[i]) continue;
    require(is_real(system[system.inputs[i]]), system[system.inputs[i]].name + " is not real");
    positions.push_back(i);
  }
  return positions;
}

/// Positions and values of the tangents that are not nothing.
std::vector<std::size_t> take_tangents(const Request& request, const System& primal, std::vector<HostTensor>& values) {
  require(request.tangents.empty() || request.tangents.size() == primal.inputs.size(),
          "one tangent or nothing per input expected");
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < request.tangents.size(); ++i) {
    if (!request.tangents[i] || (!request.wrt.empty() && !request.wrt.at(i))) continue;
    const spec::TensorInfo& info = primal[primal.inputs[i]];
    require(is_real(info), info.name + " is not real and has no tangent");
    require_type(info, *request.tangents[i], "the tangent of ");
    positions.push_back(i);
    values.push_back(*request.tangents[i]);
  }
  return positions;
}

void ask_jvp_of_vjp(const Request& request, Question& q) {
  q.wrt = marked(request, q.primal);
  const System reverse = spec::vjp(q.primal, q.wrt);
  std::vector<HostTensor> seeds;
  std::vector<std::size_t> directions = take_tangents(request, q.primal, seeds);
  std::size_t position = q.primal.inputs.size();
  append_cotangents(q.primal, request.cotangents, q.inputs);
  const Optional& second = request.cotangent_tangents;
  require(second.empty() || second.size() == q.primal.outputs.size(), "one tangent or nothing per cotangent expected");
  for (std::size_t o = 0; o < q.primal.outputs.size(); ++o) {
    const spec::TensorInfo& info = q.primal[q.primal.outputs[o]];
    if (!is_real(info)) continue;
    if (!second.empty() && second[o]) {
      require_type(info, *second[o], "the tangent of the cotangent of ");
      directions.push_back(position);
      seeds.push_back(*second[o]);
    }
    ++position;
  }
  q.system = spec::jvp(reverse, directions);
  q.inputs.insert(q.inputs.end(), seeds.begin(), seeds.end());
}

bool same(const spec::TensorInfo& a, const spec::TensorInfo& b) {
  return a.name == b.name && a.dtype == b.dtype && a.dims == b.dims && a.range == b.range;
}

bool same(const spec::Equation& a, const spec::Equation& b) {
  return a.target == b.target && a.binders == b.binders && a.place == b.place && a.value == b.value;
}

}  // namespace

System outputs_of(const spec::Program& program) {
  System system = spec::lower(program);  // which verifies it
  system.outputs.resize(program.outputs.size());
  return system;
}

Question question_of(const Request& request) {
  Question q;
  q.primal = outputs_of(request.program);
  require(request.inputs.size() == q.primal.inputs.size(),
          fmt::format("{} inputs expected, {} given", q.primal.inputs.size(), request.inputs.size()));
  q.inputs = request.inputs;
  for (std::size_t i = 0; i < q.inputs.size(); ++i) {
    require_type(q.primal[q.primal.inputs[i]], q.inputs[i], "");
    require_range(q.primal[q.primal.inputs[i]], q.inputs[i]);
  }
  switch (request.mode) {
    case Mode::forward: q.system = q.primal; break;
    case Mode::jvp: {
      std::vector<HostTensor> seeds;
      q.wrt = take_tangents(request, q.primal, seeds);
      q.system = spec::jvp(q.primal, q.wrt);
      q.inputs.insert(q.inputs.end(), seeds.begin(), seeds.end());
      break;
    }
    case Mode::vjp:
      q.wrt = marked(request, q.primal);
      q.system = spec::vjp(q.primal, q.wrt);
      append_cotangents(q.primal, request.cotangents, q.inputs);
      break;
    case Mode::jvp_of_vjp: ask_jvp_of_vjp(request, q); break;
  }
  if (request.mode != Mode::forward) q.system.wishes.clear();  // they are about values, not about their derivatives
  return q;
}

Numbers numbers_of(const Question& q, Mode mode, std::vector<HostTensor> all) {
  Numbers n;
  const std::size_t outputs = q.primal.outputs.size();
  std::size_t next = outputs;
  if (mode == Mode::jvp) {
    for (std::size_t o = 0; o < outputs; ++o) {
      const bool real = is_real(q.primal[q.primal.outputs[o]]);
      n.tangents.push_back(real ? std::optional(std::move(all[next++])) : std::nullopt);
    }
  }
  if (mode == Mode::vjp || mode == Mode::jvp_of_vjp) {
    n.cotangents.resize(q.primal.inputs.size());
    for (const std::size_t i : q.wrt) n.cotangents[i] = std::move(all[next++]);
  }
  if (mode == Mode::jvp_of_vjp) {
    for (const spec::TensorId o : q.primal.outputs) next += is_real(q.primal[o]) ? std::size_t{1} : std::size_t{0};
    n.tangents.resize(q.primal.inputs.size());
    for (const std::size_t i : q.wrt) n.tangents[i] = std::move(all[next++]);
  }
  all.resize(outputs);
  n.outputs = std::move(all);
  return n;
}

std::size_t hash_of(const System& system) {
  std::size_t hash = system.equations.size();
  for (const spec::Equation& e : system.equations) hash = hash * 31 + e.value.hash();
  return hash;
}

bool same(const System& a, const System& b) {
  const auto equal = [](const auto& x, const auto& y) { return same(x, y); };
  return a.inputs == b.inputs && a.outputs == b.outputs && a.wishes == b.wishes &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(), equal) &&
         std::equal(a.equations.begin(), a.equations.end(), b.equations.begin(), b.equations.end(), equal);
}

}  // namespace etalon::compiled
