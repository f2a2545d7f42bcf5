#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/protocol/base64.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::spec {
namespace {

/// Where the elements lie in the buffer, in elements.
struct Layout {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

[[nodiscard]] std::int64_t checked_count(const Dims& dims, DType dtype, const std::string& field) {
  for (const std::int64_t extent : dims) {
    if (extent == 0) return 0;
  }
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t extent : dims) {
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > largest_tensor_bytes)
      throw Unsupported(field + ".shape: " + to_string(dims) + " has more than " + std::to_string(largest_tensor_bytes) + " bytes");
  }
  return bytes / static_cast<std::int64_t>(size_of(dtype));
}

[[nodiscard]] Layout layout_of(const Json& json, const Dims& dims, const std::string& field) {
  Layout layout;
  if (const Json* strides = fields::optional_member(json, "strides", field)) {
    layout.strides = fields::integers(*strides, fields::key(field, "strides"));
    if (layout.strides.size() != dims.rank)
      fields::mismatch(fields::key(field, "strides"), "one stride per axis of " + to_string(dims), *strides);
    for (const std::int64_t stride : layout.strides) {
      if (stride < 0) fields::mismatch(fields::key(field, "strides"), "strides that are not negative", *strides);
    }
  } else {
    layout.strides.assign(dims.rank, 1);
    for (std::size_t axis = dims.rank; axis-- > 1;) layout.strides[axis - 1] = layout.strides[axis] * dims[axis];
  }
  if (const Json* offset = fields::optional_member(json, "offset", field)) {
    layout.offset = fields::integer(*offset, fields::key(field, "offset"));
    if (layout.offset < 0) fields::mismatch(fields::key(field, "offset"), "an offset that is not negative", *offset);
  }
  return layout;
}

/// The largest position addressed; the tensor is not empty.
[[nodiscard]] std::int64_t last_position(const Layout& layout, const Dims& dims, const std::string& field) {
  std::int64_t last = layout.offset;
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    std::int64_t step = 0;
    if (__builtin_mul_overflow(layout.strides[axis], dims[axis] - 1, &step) || __builtin_add_overflow(last, step, &last))
      throw SpecViolation(field + ".strides: they address elements beyond any buffer");
  }
  return last;
}

void copy_elements(const std::vector<std::byte>& data, const Layout& layout, HostTensor& into) {
  const std::size_t size = size_of(into.dtype);
  std::vector<std::int64_t> index(into.dims.rank, 0);
  for (std::int64_t i = 0; i < into.dims.count(); ++i) {
    std::int64_t position = layout.offset;
    for (std::size_t axis = 0; axis < into.dims.rank; ++axis) position += index[axis] * layout.strides[axis];
    std::memcpy(into.bytes.data() + static_cast<std::size_t>(i) * size, data.data() + static_cast<std::size_t>(position) * size, size);
    for (std::size_t axis = into.dims.rank; axis-- > 0;) {
      if (++index[axis] < into.dims[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

Json tensor_to_json(const HostTensor& tensor) {
  Json shape = Json::array();
  for (const std::int64_t extent : tensor.dims) shape.push_back(extent);
  return {{"dtype", name_of(tensor.dtype)}, {"shape", std::move(shape)}, {"data", to_base64(tensor.bytes)}};
}

HostTensor tensor_from_json(const Json& json, const std::string& field) {
  const DType dtype = fields::dtype(fields::member(json, "dtype", field), fields::key(field, "dtype"));
  const Dims dims = fields::dims(fields::member(json, "shape", field), fields::key(field, "shape"));
  const Json& text = fields::member(json, "data", field);
  const auto data = from_base64(fields::string(text, fields::key(field, "data")));
  if (!data) fields::mismatch(fields::key(field, "data"), "base64", text);
  const std::int64_t count = checked_count(dims, dtype, field);
  const Layout layout = layout_of(json, dims, field);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto bytes = static_cast<std::int64_t>(data->size());
  const std::int64_t needed = count == 0 ? 0 : last_position(layout, dims, field) + 1;
  const bool whole_buffer = json.contains("strides") || json.contains("offset");
  const bool fits = bytes % size == 0 && (whole_buffer ? needed <= bytes / size : needed * size == bytes);
  if (!fits)
    throw SpecViolation(field + ".data: expected " + (whole_buffer ? "at least " : "") + std::to_string(needed) + " elements of " +
                        std::to_string(size) + " bytes, found " + std::to_string(bytes) + " bytes");
  HostTensor tensor(dtype, dims);
  if (whole_buffer) copy_elements(*data, layout, tensor);
  else tensor.bytes = *data;
  if (dtype == DType::boolean) {
    for (const std::byte b : tensor.bytes) {
      if (std::to_integer<int>(b) > 1) throw SpecViolation(field + ".data: a bool is one byte, 0 or 1, found " + std::to_string(std::to_integer<int>(b)));
    }
  }
  return tensor;
}

}  // namespace etalon::spec
