/// \file
/// Random programs as data, for round trips: well formed as text, not necessarily well typed.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "spec/program/program.hpp"

namespace etalon::spec::test {

inline rc::Gen<std::string> any_name() {
  return rc::gen::map(rc::gen::pair(rc::gen::elementOf(std::string("abxyz_")), rc::gen::container<std::string>(rc::gen::elementOf(std::string("aZ09_.")))),
                      [](const std::pair<char, std::string>& p) {
                        std::string name = p.first + p.second;
                        while (name.find("..") != std::string::npos) name.erase(name.find(".."), 1);
                        return name == "_" ? std::string("a") : name;
                      });
}

/// Bits of every class: ordinary, ±0, subnormal, infinite, NaN with payload.
inline HostTensor any_tensor(DType dtype, const Dims& dims) {
  HostTensor tensor(dtype, dims);
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
    tensor.bytes[i] = static_cast<std::byte>(dtype == DType::boolean ? *rc::gen::inRange(0, 2) : *rc::gen::inRange(0, 256));
  if (dtype == DType::f32 && *rc::gen::arbitrary<bool>()) {
    for (float& x : tensor.view<float>()) {
      x = *rc::gen::element(0.0F, -0.0F, 1.5F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 0.1F, 1e30F);
    }
  }
  return tensor;
}

inline Dims any_dims() {
  Dims dims;
  for (int rank = *rc::gen::inRange(0, 4); rank > 0; --rank) dims.push_back(*rc::gen::inRange(0, 4));
  return dims;
}

inline DType any_dtype() {
  return *rc::gen::element(DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean);
}

inline std::string any_text() {
  return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \"\\\n.:/#3{}=")));
}

inline Source any_source() {
  if (*rc::gen::arbitrary<bool>()) return {};
  return {any_text(), *rc::gen::arbitrary<std::uint32_t>(), any_text()};
}

inline double any_real() {
  // Not a NaN, which equals nothing, itself included.
  return *rc::gen::element(0.0, -0.0, 1.0, -3.0, 0.1, 1e-8, 1e22, 1e300, 5e-324, std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity());
}

inline AttributeValue any_attribute() {
  switch (*rc::gen::inRange(0, 7)) {
    case 0: return *rc::gen::element<std::int64_t>(0, -1, 7, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min());
    case 1: return any_real();
    case 2: return *rc::gen::arbitrary<bool>();
    case 3: return *rc::gen::element<std::string>("mean", "none", "f32", "i");
    case 4: return *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-3, 4));
    case 5: return std::vector<double>{any_real(), any_real()};
    default: return ValueName{*any_name()};
  }
}

inline std::vector<std::string> some_names(int least) {
  std::vector<std::string> names;
  for (int n = *rc::gen::inRange(least, 4); n > 0; --n) names.push_back(*any_name());
  return names;
}

inline std::vector<std::optional<std::string>> some_operands() {
  std::vector<std::optional<std::string>> operands;
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n)
    operands.push_back(*rc::gen::arbitrary<bool>() ? std::optional(*any_name()) : std::nullopt);
  return operands;
}

inline Input any_input() {
  Input input{*any_name(), any_dtype(), any_dims(), *rc::gen::element(Role::input, Role::parameter, Role::constant, Role::index), {}, {}, any_source()};
  if (input.role == Role::index) input.range = {*rc::gen::arbitrary<std::int64_t>(), *rc::gen::arbitrary<std::int64_t>()};
  if (input.role == Role::constant) input.value = any_tensor(input.dtype, input.dims);
  if (input.role == Role::parameter && input.dims.rank > 0 && *rc::gen::arbitrary<bool>()) {
    input.open.assign(input.dims.rank, "");
    input.open.back() = *any_name();
    input.dims[input.dims.rank - 1] = 0;
  }
  return input;
}

/// In brackets and on right sides anything may stand that ends neither the line nor the equation.
inline std::string any_equation_text(const std::string& characters) {
  std::string text = *rc::gen::container<std::string>(rc::gen::elementOf(characters));
  while (!text.empty() && text.front() == ' ') text.erase(0, 1);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

inline Assign any_assignment() {
  Assign step;
  step.buffer = *any_name();
  step.places = any_equation_text("ij 0+*,._x<");
  step.accumulation = static_cast<Accumulation>(*rc::gen::inRange(0, 9));
  step.declares = *rc::gen::arbitrary<bool>();
  step.reset = step.accumulation != Accumulation::set && *rc::gen::arbitrary<bool>();
  step.value = "x" + any_equation_text("[]ij 0+*=:,._x-/<");
  step.source = any_source();
  return step;
}

inline Program any_program() {
  Program program;
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n) program.inputs.push_back(any_input());
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
    const int form = *rc::gen::inRange(0, 3);
    if (form == 2) {
      program.steps.emplace_back(any_assignment());
    } else if (form == 1) {
      Call call{*any_name(), some_operands(), {}, {}, some_names(1), any_source()};
      if (*rc::gen::arbitrary<bool>()) call.packs = {2, 0};
      for (int a = *rc::gen::inRange(0, 4); a > 0; --a) call.attributes[*any_name()] = any_attribute();
      program.steps.emplace_back(std::move(call));
    } else {
      const auto mode = *rc::gen::element(Differentiate::Mode::jvp, Differentiate::Mode::vjp);
      program.steps.emplace_back(Differentiate{mode, some_names(1), some_names(1), some_operands(), some_names(1), any_source()});
    }
  }
  for (int n = *rc::gen::inRange(0, 3); n > 0; --n) program.buffers.push_back({*any_name(), any_dtype(), any_dims(), any_source()});
  program.outputs = some_names(0);
  for (int n = *rc::gen::inRange(0, 3); n > 0; --n) program.updates.push_back({*any_name(), *any_name()});
  for (int n = *rc::gen::inRange(0, 3); n > 0; --n) program.wishes.push_back({*rc::gen::element(Asked::capture, Asked::stored, Asked::inlined), *any_name(), any_source()});
  return program;
}

}  // namespace etalon::spec::test
