/// \file
/// Single elements of host tensors of any element type as numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "spec/host_tensor.hpp"

namespace etalon::reference::bounds {

template <class T>
[[nodiscard]] T raw_element(const HostTensor& t, std::size_t at) {
  T x;
  std::memcpy(&x, t.bytes.data() + at * sizeof(T), sizeof(T));
  return x;
}

/// A binary16.
[[nodiscard]] inline double half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

/// A real element; every element type is exact in a double.
[[nodiscard]] inline double real_element(const HostTensor& t, std::size_t at) {
  switch (t.dtype) {
    case DType::f32: return static_cast<double>(raw_element<float>(t, at));
    case DType::f64: return raw_element<double>(t, at);
    case DType::f16: return half(raw_element<std::uint16_t>(t, at));
    case DType::bf16: {
      const std::uint32_t bits = static_cast<std::uint32_t>(raw_element<std::uint16_t>(t, at)) << 16U;
      float x = 0;
      std::memcpy(&x, &bits, sizeof x);
      return static_cast<double>(x);
    }
    default: return 0;
  }
}

/// An integer or boolean element.
[[nodiscard]] inline std::int64_t integer_element(const HostTensor& t, std::size_t at) {
  switch (t.dtype) {
    case DType::i32: return raw_element<std::int32_t>(t, at);
    case DType::i64: return raw_element<std::int64_t>(t, at);
    case DType::boolean: return raw_element<std::uint8_t>(t, at) != 0 ? 1 : 0;
    default: return 0;
  }
}

}  // namespace etalon::reference::bounds
