#include "conformance/python/strided.hpp"

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstring>

namespace etalon::python {
namespace {

/// The elements of one place of the outer axes, and so on inwards.
void copy_axis(const Strided& from, std::size_t axis, const std::byte* at, std::byte*& to) {
  const std::size_t size = size_of(from.dtype);
  if (axis == from.dims.rank) {
    std::memcpy(to, at, size);
    to += size;
    return;
  }
  if (axis + 1 == from.dims.rank && from.strides[axis] == static_cast<std::int64_t>(size)) {
    const std::size_t row = size * static_cast<std::size_t>(from.dims[axis]);
    std::memcpy(to, at, row);
    to += row;
    return;
  }
  for (std::int64_t i = 0; i < from.dims[axis]; ++i) copy_axis(from, axis + 1, at + i * from.strides[axis], to);
}

}  // namespace

HostTensor dense_of(const Strided& strided) {
  HostTensor tensor(strided.dtype, strided.dims);
  if (tensor.bytes.empty()) return tensor;
  auto* to = reinterpret_cast<std::byte*>(tensor.bytes.data());
  copy_axis(strided, 0, strided.origin, to);
  if (strided.dtype == DType::boolean) {
    for (std::uint8_t& truth : tensor.view<std::uint8_t>()) truth = truth != 0 ? 1 : 0;
  }
  return tensor;
}

Dims dims_of(const std::int64_t* extents, std::size_t rank, const std::string& name) {
  if (rank > Dims::max_rank)
    throw pybind11::type_error(fmt::format("{}: expected at most {} axes, found {}", name, Dims::max_rank, rank));
  Dims dims;
  for (std::size_t axis = 0; axis < rank; ++axis) dims.push_back(extents[axis]);
  return dims;
}

}  // namespace etalon::python
