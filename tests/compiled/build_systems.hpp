/// \file
/// Small systems for tests, and a way to run them on both sides.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/executable.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "spec/half.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

using spec::Binder;
using spec::Expr;
using spec::Primitive;
using spec::System;
using spec::TensorId;

/// One code generator for all tests of a program: making one takes longer than using it.
inline std::shared_ptr<compiled::Processor> shared_processor() {
  static const auto processor = std::make_shared<compiled::Processor>();
  return processor;
}

inline compiled::CompileOptions options() {
  compiled::CompileOptions o;
  o.device = shared_processor();
  o.schedule.middle_cache_bytes = std::int64_t{1} << 20;  // whatever this machine has
  o.schedule.last_cache_bytes = std::int64_t{32} << 20;
  return o;
}

inline TensorId input(System& s, const std::string& name, DType dtype, const Dims& dims) {
  const TensorId id = s.add_tensor(name, dtype, dims);
  s.inputs.push_back(id);
  return id;
}

inline TensorId output(System& s, const std::string& name, DType dtype, const Dims& dims) {
  const TensorId id = s.add_tensor(name, dtype, dims);
  s.outputs.push_back(id);
  return id;
}

inline std::vector<HostTensor> compiled_values(const System& s, const std::vector<HostTensor>& inputs,
                                               const compiled::CompileOptions& o = options()) {
  return compiled::compile_system(s, o).run(inputs);
}

/// The reference's values over double, rounded to the element types.
inline std::vector<HostTensor> reference_values(const System& s, const std::vector<HostTensor>& inputs) {
  std::vector<reference::Array<double>> arrays;
  for (const HostTensor& t : inputs) arrays.push_back(reference::from_host<double>(t));
  const auto values = reference::evaluate<double>(s, arrays);
  std::vector<HostTensor> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back(reference::to_host(values[i], s[s.outputs[i]].dtype));
  return out;
}

inline double at(const HostTensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::f32: return static_cast<double>(t.view<float>()[i]);
    case DType::f64: return t.view<double>()[i];
    case DType::i32: return t.view<std::int32_t>()[i];
    case DType::i64: return static_cast<double>(t.view<std::int64_t>()[i]);
    case DType::f16:
    case DType::bf16: return spec::half_value(t.view<std::uint16_t>()[i], t.dtype);
    default: return t.view<std::uint8_t>()[i];
  }
}

/// Equal numbers or both NaN; the sign of zero does not count.
inline bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

inline HostTensor real_tensor(DType dtype, const Dims& dims, const std::vector<double>& values) {
  if (dtype == DType::f64) return HostTensor::of<double>(dims, values);
  if (spec::is_half(dtype)) {
    HostTensor t(dtype, dims);
    for (std::size_t i = 0; i < values.size(); ++i) t.view<std::uint16_t>()[i] = spec::nearest_half(values[i], dtype);
    return t;
  }
  return HostTensor::of<float>(dims, std::vector<float>(values.begin(), values.end()));
}

/// Small integers, for which sums and products are exact in both types.
inline HostTensor small_integers(DType dtype, const Dims& dims, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<double> values(static_cast<std::size_t>(dims.count()));
  for (double& v : values) v = static_cast<double>(static_cast<int>(draw() % 17) - 8);
  return real_tensor(dtype, dims, values);
}

}  // namespace etalon::test
