#include "spec/placement.hpp"

#include <algorithm>
#include <cstring>

namespace etalon::spec {
namespace {

/// Calls `visit` with the number of each element, row-major, and its position in the buffer.
template <class Visit>
void for_each_place(const Placement& placement, const Dims& dims, const Visit& visit) {
  std::vector<std::int64_t> index(dims.rank, 0);
  for (std::int64_t i = 0; i < dims.count(); ++i) {
    std::int64_t position = placement.offset;
    for (std::size_t axis = 0; axis < dims.rank; ++axis) position += index[axis] * placement.strides[axis];
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(position));
    for (std::size_t axis = dims.rank; axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

/// The bytes of a quiet NaN of a real type, of 0 or false otherwise.
[[nodiscard]] Bytes nothing_of(DType dtype) {
  Bytes bytes(size_of(dtype));
  if (kind_of(dtype) != Kind::real) return bytes;
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  bytes.back() = std::byte{0x7f};  // all bits but the sign's
  return bytes;
}

}  // namespace

std::optional<Reach> reach_of(const Placement& placement, const Dims& dims) {
  if (dims.count() == 0) return std::nullopt;
  Reach reach{placement.offset, placement.offset};
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    std::int64_t step = 0;
    std::int64_t& end = placement.strides[axis] < 0 ? reach.lowest : reach.highest;
    if (__builtin_mul_overflow(placement.strides[axis], dims[axis] - 1, &step) || __builtin_add_overflow(end, step, &end))
      return std::nullopt;
  }
  return reach;
}

HostTensor buffer_of(const HostTensor& tensor, const Placement& placement) {
  HostTensor buffer(tensor.dtype, Dims{placement.elements});
  const Bytes nothing = nothing_of(tensor.dtype);
  const std::size_t size = nothing.size();
  for (std::size_t i = 0; i < static_cast<std::size_t>(placement.elements); ++i)
    std::memcpy(buffer.bytes.data() + i * size, nothing.data(), size);
  for_each_place(placement, tensor.dims, [&](std::size_t element, std::size_t position) {
    std::memcpy(buffer.bytes.data() + position * size, tensor.bytes.data() + element * size, size);
  });
  return buffer;
}

HostTensor read_placed(const Bytes& buffer, const Placement& placement, DType dtype, const Dims& dims) {
  HostTensor tensor(dtype, dims);
  const std::size_t size = size_of(dtype);
  for_each_place(placement, dims, [&](std::size_t element, std::size_t position) {
    std::memcpy(tensor.bytes.data() + element * size, buffer.data() + position * size, size);
  });
  return tensor;
}

}  // namespace etalon::spec
