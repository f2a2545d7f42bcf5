#include "tests/mutants/answers.hpp"

#include <cmath>

#include "conformance/values.hpp"

namespace etalon::mutants {

using conformance::element;
using conformance::set_element;

void for_each_tensor(spec::Numbers& numbers, const std::function<void(HostTensor&)>& visit) {
  for (HostTensor& t : numbers.outputs) visit(t);
  for (auto* list : {&numbers.tangents, &numbers.cotangents}) {
    for (auto& t : *list) {
      if (t) visit(*t);
    }
  }
}

void for_each_real(spec::Numbers& numbers, const std::function<void(HostTensor&)>& visit) {
  for_each_tensor(numbers, [&](HostTensor& t) {
    if (is_real(t)) visit(t);
  });
}

void change_reals(HostTensor& tensor, const std::function<double(double, DType)>& change) {
  if (!is_real(tensor)) return;
  for (std::size_t i = 0; i < count(tensor); ++i) set_element(tensor, i, change(element(tensor, i), tensor.dtype));
}

void change_reals(spec::Numbers& numbers, const std::function<double(double, DType)>& change) {
  for_each_real(numbers, [&](HostTensor& t) { change_reals(t, change); });
}

void change_operands(spec::Request& request, const std::function<double(double, DType)>& change) {
  for (HostTensor& t : request.inputs) change_reals(t, change);
  for (auto* list : {&request.tangents, &request.cotangents}) {
    for (auto& t : *list) {
      if (t) change_reals(*t, change);
    }
  }
}

spec::Numbers* numbers_of(spec::Answer& answer) { return std::get_if<spec::Numbers>(&answer); }

void change_attributes(spec::Request& request,
                       const std::function<void(const std::string& name, spec::AttributeValue& value)>& change) {
  for (auto& step : request.program.steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) continue;
    for (auto& [name, value] : call->attributes) change(name, value);
  }
}

void drop_attributes(spec::Request& request,
                     const std::function<bool(const std::string& name, const spec::AttributeValue& value)>& drop) {
  for (auto& step : request.program.steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) continue;
    std::erase_if(call->attributes, [&](const auto& entry) { return drop(entry.first, entry.second); });
  }
}

std::size_t count(const HostTensor& tensor) { return static_cast<std::size_t>(tensor.dims.count()); }

void fill(HostTensor& tensor, double value) {
  for (std::size_t i = 0; i < count(tensor); ++i) set_element(tensor, i, value);
}

bool is_real(const HostTensor& tensor) { return kind_of(tensor.dtype) == Kind::real; }

double rounded(double x, int bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
}

}  // namespace etalon::mutants
