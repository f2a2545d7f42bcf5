/// \file
/// Dense f32 tensors between Etalon's structs and oneDNN's memory. It knows no operation.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dnnl.hpp>

#include "spec/backend.h"

namespace etalon::onednn {

using Dims = std::vector<std::int64_t>;

/// What is not offered, and why.
struct Gap {
  std::string what;
  std::string why;
};

inline void need(bool condition, const char* what, const char* why) {
  if (!condition) throw Gap{what, why};
}

[[nodiscard]] inline std::int64_t count(const Dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

struct Tensor {
  Dims shape;
  std::vector<float> data;
  bool truth = false;  ///< answers go out as bool
  std::string name{};  ///< of its numbers, where they are written down
};

[[nodiscard]] inline Tensor zeros(const Dims& shape) {
  return {shape, std::vector<float>(static_cast<std::size_t>(count(shape)), 0.0F), false, {}};
}

[[nodiscard]] inline Dims dense_strides(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// A copy of what the request holds. \throws Gap for other types and for tensors without elements
[[nodiscard]] inline Tensor tensor_of(const etalon_tensor& from) {
  need(from.dtype == ETALON_F32, "dtype", "only f32 is offered");
  Tensor t = zeros(Dims(from.shape, from.shape + from.rank));
  need(!t.data.empty(), "shape", "oneDNN computes nothing of tensors without elements");
  Dims index(t.shape.size(), 0);
  for (float& x : t.data) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * from.strides[axis];
    x = static_cast<const float*>(from.data)[at];
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < t.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return t;
}

[[nodiscard]] inline dnnl::engine& engine() {
  static dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

using Desc = dnnl::memory::desc;

[[nodiscard]] inline Desc desc(const Dims& shape, const Dims& strides) { return {shape, dnnl::memory::data_type::f32, strides}; }
[[nodiscard]] inline Desc desc(const Dims& shape) { return desc(shape, dense_strides(shape)); }
/// For the primitive to choose the layout.
[[nodiscard]] inline Desc any(const Dims& shape) { return {shape, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any}; }

}  // namespace etalon::onednn
