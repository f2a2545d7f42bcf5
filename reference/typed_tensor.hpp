/// \file
/// A tensor with its shape in its type, over a number type. It holds values and knows no operation.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/array.hpp"
#include "reference/dual.hpp"
#include "spec/dtype.hpp"
#include "spec/error.hpp"
#include "spec/plain_number.hpp"
#include "spec/shape.hpp"
#include "spec/value_type.hpp"

namespace etalon::reference {

/// What an element type of the typed edge is to the notation. Every number type that is not an integer or a truth value
/// stands for the reals and types as f64.
template <class T>
struct ElementOf {
  static constexpr DType dtype = DType::f64;
  using Number = T;  ///< the number type that arrays of it are over
};
template <>
struct ElementOf<std::int64_t> {
  static constexpr DType dtype = DType::i64;
  using Number = double;
};
template <>
struct ElementOf<std::int32_t> {
  static constexpr DType dtype = DType::i32;
  using Number = double;
};
template <>
struct ElementOf<bool> {
  static constexpr DType dtype = DType::boolean;
  using Number = double;
};
/// Rounding to single precision is the business of to_host, not of an evaluation over the reals.
template <>
struct ElementOf<float>;

template <class T>
inline constexpr bool is_real_element = kind_of(ElementOf<T>::dtype) == Kind::real;

/// `Tensor<double, Shape<2, 3>>`: six doubles, row-major. T is double, Real50, Real100, Rational, Dual of one of these,
/// std::int64_t, std::int32_t or bool.
template <class T, class S>
class Tensor {
 public:
  using Element = T;
  using Extents = S;
  using Number = typename ElementOf<T>::Number;
  static constexpr Dims dims = S::dims;
  static constexpr spec::ValueType type{ElementOf<T>::dtype, dims};

  /// Zero-filled.
  Tensor() : array_(kind_of(type.dtype), dims) {}
  /// \throws SpecViolation unless there is one value per element.
  explicit Tensor(const std::vector<T>& values) : Tensor() {
    if (values.size() != array_.size()) {
      throw SpecViolation("tensor" + to_string(dims) + ": " + std::to_string(array_.size()) + " values expected, " +
                          std::to_string(values.size()) + " given");
    }
    for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
  }
  Tensor(std::initializer_list<T> values) : Tensor(std::vector<T>(values)) {}
  /// The untyped values; their shape and kind must be those of the type.
  explicit Tensor(Array<Number> values) : array_(std::move(values)) {
    if (array_.dims != dims || array_.kind != kind_of(type.dtype)) {
      throw InternalError("tensor" + to_string(dims) + ": an array of another shape or kind, " +
                          to_string(array_.dims));
    }
  }

  [[nodiscard]] const Array<Number>& array() const { return array_; }
  [[nodiscard]] static constexpr std::size_t size() { return static_cast<std::size_t>(dims.count()); }
  /// The n-th element in row-major order.
  [[nodiscard]] T operator[](std::size_t n) const {
    if constexpr (is_real_element<T>) {
      return array_.real[n];
    } else {
      return static_cast<T>(array_.integer[n]);
    }
  }
  /// The element at one index per axis.
  template <std::integral... Indices>
    requires(sizeof...(Indices) == S::dims.rank)
  [[nodiscard]] T operator()(Indices... indices) const {
    std::size_t n = 0;
    std::size_t axis = 0;
    ((n = n * static_cast<std::size_t>(dims[axis++]) + static_cast<std::size_t>(indices)), ...);
    return (*this)[n];
  }
  void set(std::size_t n, T value) {
    if constexpr (is_real_element<T>) {
      array_.real[n] = std::move(value);
    } else {
      array_.integer[n] = static_cast<std::int64_t>(value);
    }
  }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> all;
    for (std::size_t i = 0; i < size(); ++i) all.push_back((*this)[i]);
    return all;
  }

 private:
  Array<Number> array_;
};

template <class A>
inline constexpr bool is_tensor = false;
template <class T, class S>
inline constexpr bool is_tensor<Tensor<T, S>> = true;

template <class A>
concept AnyTensor = is_tensor<A>;

using spec::PlainNumber;  ///< beside tensors it takes their number type

namespace detail {
template <class T, Dims dims, std::size_t... I>
Tensor<T, Shape<dims.extent[I]...>> tensor_of(std::index_sequence<I...>);
}
/// The tensor type with these extents, named by the plain pack of numbers.
template <class T, Dims dims>
using TensorOf = decltype(detail::tensor_of<T, dims>(std::make_index_sequence<dims.rank>{}));

}  // namespace etalon::reference
