/// \file
/// A dense row-major tensor in host memory: the currency between programs, backends and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "spec/bytes.hpp"
#include "spec/dims.hpp"
#include "spec/dtype.hpp"

namespace etalon {

template <class T>
struct dtype_of_t;
template <>
struct dtype_of_t<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of_t<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct dtype_of_t<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of_t<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct dtype_of_t<bool> {
  static constexpr DType value = DType::boolean;
};

/// Dense, row-major, little-endian elements; booleans are one byte, 0 or 1.
struct HostTensor {
  DType dtype = DType::f32;
  Dims dims;
  Bytes bytes;

  HostTensor() = default;
  /// Zero-filled.
  HostTensor(DType type, const Dims& shape)
      : dtype(type), dims(shape), bytes(static_cast<std::size_t>(shape.count()) * size_of(type)) {}

  /// From values of the element type; `values.size()` must equal `shape.count()`.
  template <class T>
  [[nodiscard]] static HostTensor of(const Dims& shape, const std::vector<T>& values) {
    HostTensor t(dtype_of_t<T>::value, shape);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T v = values[i];
      std::memcpy(t.bytes.data() + i * sizeof(T), &v, sizeof(T));
    }
    return t;
  }

  /// The elements as a typed view; T must match dtype (`std::uint8_t` for booleans).
  template <class T>
  [[nodiscard]] std::span<const T> view() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<T> view() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  [[nodiscard]] friend bool operator==(const HostTensor& a, const HostTensor& b) {
    return a.dtype == b.dtype && a.dims == b.dims && a.bytes == b.bytes;
  }
};

}  // namespace etalon
