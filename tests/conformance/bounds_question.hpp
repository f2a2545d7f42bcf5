/// \file
/// What a case of the suite asks, as one system with its inputs.
#pragma once

#include <algorithm>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/question.hpp"
#include "conformance/values.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/library/library.hpp"

namespace etalon::bounds_test {

struct Question {
  spec::System system;
  std::vector<HostTensor> inputs;
};

/// The equations of the case's mode; inputs are operands, then tangents or cotangents.
[[nodiscard]] inline Question question_of(const conformance::Case& c) {
  const spec::Instance instance = conformance::instance_of(c);
  Question q{instance.system, conformance::present(c)};
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < c.wrt.size(); ++i) {
    if (c.wrt[i]) wrt.push_back(i);
  }
  if (c.mode == spec::Mode::jvp) {
    q.system = spec::jvp(instance.system, wrt);
    for (const std::size_t i : wrt) {
      q.inputs.push_back(c.tangents[i] ? *c.tangents[i] : HostTensor(q.inputs[i].dtype, q.inputs[i].dims));
    }
  } else if (c.mode == spec::Mode::vjp) {
    q.system = spec::vjp(instance.system, wrt);
    for (std::size_t r = 0; r < instance.results.size(); ++r) {
      const auto& type = instance.results[r];
      if (kind_of(type.dtype) == Kind::real) q.inputs.push_back(c.cotangents[r] ? *c.cotangents[r] : HostTensor(type.dtype, type.dims));
    }
  }
  return q;
}

/// The derivative of the case's VJP along random directions of its operands and cotangents.
[[nodiscard]] inline Question second_question_of(const conformance::Case& c) {
  spec::Request request = conformance::request_of(c);
  request.mode = spec::Mode::jvp_of_vjp;
  conformance::Draw draw("second derivative of " + conformance::id_of(c.key));
  const auto along = [&](const HostTensor& t) { return conformance::draw_real(draw, conformance::Family::normal, t.dtype, t.dims); };
  request.tangents.assign(request.inputs.size(), std::nullopt);
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.wrt[i]) request.tangents[i] = along(request.inputs[i]);
  }
  for (const auto& cotangent : request.cotangents) {
    request.cotangent_tangents.push_back(cotangent ? std::optional(along(*cotangent)) : std::nullopt);
  }
  const conformance::Question question = conformance::question_of(request);
  return {question.system, question.inputs};
}

/// Whether arithmetic in T can stand for that of the system.
template <class T>
[[nodiscard]] bool computes_in(const spec::System& system) {
  const auto wide = [](const spec::TensorInfo& t) { return t.dtype == DType::f64; };
  return !std::is_same_v<T, float> || std::none_of(system.tensors.begin(), system.tensors.end(), wide);
}

}  // namespace etalon::bounds_test
