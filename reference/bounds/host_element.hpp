/// \file
/// Single elements of host tensors of any element type as numbers.
#pragma once

#include <cstdint>
#include <cstring>

#include "spec/half.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::reference::bounds {

template <class T>
[[nodiscard]] T raw_element(const HostTensor& t, std::size_t at) {
  T x;
  std::memcpy(&x, t.bytes.data() + at * sizeof(T), sizeof(T));
  return x;
}

/// A real element; every element type is exact in a double.
[[nodiscard]] inline double real_element(const HostTensor& t, std::size_t at) {
  switch (t.dtype) {
    case DType::f32: return static_cast<double>(raw_element<float>(t, at));
    case DType::f64: return raw_element<double>(t, at);
    case DType::f16:
    case DType::bf16: return spec::half_value(raw_element<std::uint16_t>(t, at), t.dtype);
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
