#include "conformance/arrangement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace etalon::conformance {
namespace {

constexpr std::array unusual_names{"transposed", "strided", "expanded", "offset", "reversed", "padded"};
static_assert(unusual_names.size() == unusual_count);

/// Row-major strides of the dense tensor.
std::vector<std::size_t> dense_strides(const Dims& dims) {
  std::vector<std::size_t> strides(dims.rank, 1);
  for (std::size_t axis = dims.rank; axis-- > 1;) strides[axis - 1] = strides[axis] * static_cast<std::size_t>(dims[axis]);
  return strides;
}

/// The element that stands first along an axis, in the row of element i.
std::size_t first_along(std::size_t i, std::size_t axis, const Dims& dims, const std::vector<std::size_t>& strides) {
  const std::size_t index = i / strides[axis] % static_cast<std::size_t>(dims[axis]);
  return i - index * strides[axis];
}

bool is_constant_along(const HostTensor& t, std::size_t axis) {
  const auto strides = dense_strides(t.dims);
  const std::size_t size = size_of(t.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    const std::size_t first = first_along(i, axis, t.dims, strides);
    if (std::memcmp(t.bytes.data() + i * size, t.bytes.data() + first * size, size) != 0) return false;
  }
  return true;
}

std::int64_t step_of(const Arrangement& arrangement, std::size_t axis) {
  return axis < arrangement.steps.size() ? arrangement.steps[axis] : 1;
}

/// The axes from the slowest to the fastest.
std::vector<std::size_t> order_of(const Arrangement& arrangement, std::size_t rank) {
  std::vector<std::size_t> order;
  for (const std::size_t axis : arrangement.order) {
    if (axis < rank) order.push_back(axis);
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
  }
  return order;
}

void transpose(Arrangement& a, Draw& draw, std::size_t rank) {
  a.order.resize(rank);
  std::iota(a.order.begin(), a.order.end(), std::size_t{0});
  // At least the last axis moves.
  const auto to = static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(rank) - 2));
  std::rotate(a.order.begin() + static_cast<std::ptrdiff_t>(to), a.order.end() - 1, a.order.end());
}

std::size_t draw_axis(Draw& draw, std::size_t rank) {
  return static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(rank) - 1));
}

}  // namespace

std::string_view name_of(Unusual unusual) { return unusual_names[static_cast<std::size_t>(unusual)]; }

Arrangement draw_arrangement(Draw& draw, Unusual unusual, const Dims& dims, bool apart) {
  Arrangement a;
  a.steps.assign(dims.rank, 1);
  // Along an axis of one element any stride will do.
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    if (dims[axis] == 1 && draw.chance(0.7)) a.steps[axis] = draw.integer(-2, 3);
  }
  const bool needs_two = unusual == Unusual::transposed || unusual == Unusual::padded;
  const bool has_axes = dims.rank > (needs_two ? 1U : 0U);
  if (unusual == Unusual::offset || !has_axes || draw.chance(0.25)) {
    a.before = draw.integer(1, 5);
    a.after = draw.integer(0, 3);
  }
  if (!has_axes) return a;
  switch (unusual) {
    case Unusual::transposed: transpose(a, draw, dims.rank); break;
    case Unusual::strided: a.steps[apart ? 0 : draw_axis(draw, dims.rank)] = draw.integer(2, 3); break;
    case Unusual::expanded: a.steps[draw_axis(draw, dims.rank)] = 0; break;
    case Unusual::reversed: a.steps[draw_axis(draw, dims.rank)] = apart || draw.chance(0.25) ? -2 : -1; break;
    case Unusual::padded: a.steps[dims.rank - 1] = 1, a.steps[draw_axis(draw, dims.rank - 1)] = draw.integer(2, 3); break;
    case Unusual::offset: break;
  }
  // Who drops axes of one element may take what follows them for the outermost.
  for (std::size_t axis = 1; axis < dims.rank; ++axis) {
    if (dims[axis - 1] == 1 && dims[axis] > 1 && a.steps[axis] == 1 && draw.chance(0.7)) a.steps[axis] = -1;
  }
  return a;
}

void repeat_where_expanded(HostTensor& tensor, const Arrangement& arrangement) {
  const auto strides = dense_strides(tensor.dims);
  const std::size_t size = size_of(tensor.dtype);
  for (std::size_t axis = 0; axis < tensor.dims.rank; ++axis) {
    if (step_of(arrangement, axis) != 0) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.dims.count()); ++i) {
      const std::size_t first = first_along(i, axis, tensor.dims, strides);
      if (first != i) std::memcpy(tensor.bytes.data() + i * size, tensor.bytes.data() + first * size, size);
    }
  }
}

spec::Placement placement_of(const Arrangement& arrangement, const HostTensor& tensor) {
  spec::Placement placement;
  placement.strides.assign(tensor.dims.rank, 0);
  placement.offset = arrangement.before;
  const std::vector<std::size_t> order = order_of(arrangement, tensor.dims.rank);
  std::int64_t room = 1;  // places that the axes so far take
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t axis = order[k];
    std::int64_t step = step_of(arrangement, axis);
    if (step == 0 && is_constant_along(tensor, axis)) continue;
    if (step == 0) step = 1;
    const std::int64_t extent = std::max<std::int64_t>(tensor.dims[axis], 1);
    placement.strides[axis] = step * room;
    if (step < 0) placement.offset -= step * room * (extent - 1);
    room *= extent * std::abs(step);
  }
  placement.elements = arrangement.before + room + arrangement.after;
  return placement;
}

}  // namespace etalon::conformance
