/// \file
/// What defects of storage and of the machinery around kernels are made of: changes of requests and of answers. It
/// knows no defect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spec/backend.hpp"

namespace etalon::mutants {

/// Every real tensor of the answer: outputs, tangents and cotangents.
void for_each_real(spec::Numbers& numbers, const std::function<void(HostTensor&)>& visit);
/// Every tensor of the answer.
void for_each_tensor(spec::Numbers& numbers, const std::function<void(HostTensor&)>& visit);
/// Every element of every real tensor replaced.
void change_reals(spec::Numbers& numbers, const std::function<double(double, DType)>& change);
void change_reals(HostTensor& tensor, const std::function<double(double, DType)>& change);
/// Every real operand, tangent and cotangent of the request.
void change_operands(spec::Request& request, const std::function<double(double, DType)>& change);

/// The answer's numbers, or nothing for a refusal.
[[nodiscard]] spec::Numbers* numbers_of(spec::Answer& answer);

/// The attributes of the request's calls by name.
void change_attributes(spec::Request& request,
                       const std::function<void(const std::string& name, spec::AttributeValue& value)>& change);
void drop_attributes(spec::Request& request,
                     const std::function<bool(const std::string& name, const spec::AttributeValue& value)>& drop);

[[nodiscard]] std::size_t count(const HostTensor& tensor);
void fill(HostTensor& tensor, double value);
[[nodiscard]] bool is_real(const HostTensor& tensor);

/// Rounded to so many bits of significand, ties to even.
[[nodiscard]] double rounded(double x, int bits);

}  // namespace etalon::mutants
