#include <limits>
#include <span>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/placement.hpp"
#include "spec/protocol/base64.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::spec {
namespace {

/// Of elements side by side in row-major order.
std::vector<std::int64_t> dense_strides(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.rank, 1);
  for (std::size_t axis = dims.rank; axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

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

[[nodiscard]] Placement placement_of(const Json& json, const Dims& dims, const std::string& field) {
  Placement placement;
  if (const Json* strides = fields::optional_member(json, "strides", field)) {
    placement.strides = fields::integers(*strides, fields::key(field, "strides"));
    if (placement.strides.size() != dims.rank)
      fields::mismatch(fields::key(field, "strides"), "one stride per axis of " + to_string(dims), *strides);
  } else {
    placement.strides = dense_strides(dims);
  }
  if (const Json* offset = fields::optional_member(json, "offset", field)) {
    placement.offset = fields::integer(*offset, fields::key(field, "offset"));
    if (placement.offset < 0) fields::mismatch(fields::key(field, "offset"), "an offset that is not negative", *offset);
  }
  return placement;
}

/// How many elements the buffer must have.
[[nodiscard]] std::int64_t needed_elements(const Placement& placement, const Dims& dims, const std::string& field) {
  const auto reach = reach_of(placement, dims);
  if (!reach || reach->highest == std::numeric_limits<std::int64_t>::max())
    throw SpecViolation(field + ".strides: they address elements beyond any buffer");
  if (reach->lowest < 0) throw SpecViolation(field + ".strides: they address elements before the buffer");
  return reach->highest + 1;
}

[[nodiscard]] Json to_array(std::span<const std::int64_t> integers) {
  Json array = Json::array();
  for (const std::int64_t i : integers) array.push_back(i);
  return array;
}

}  // namespace

Json tensor_to_json(const HostTensor& tensor) {
  return {{"dtype", name_of(tensor.dtype)}, {"shape", to_array({tensor.dims.begin(), tensor.dims.end()})}, {"data", to_base64(tensor.bytes)}};
}

Json tensor_to_json(const HostTensor& tensor, const Placement& placement) {
  Json json = {{"dtype", name_of(tensor.dtype)}, {"shape", to_array({tensor.dims.begin(), tensor.dims.end()})}};
  // Those that go without saying stay away at odd offsets: a reader may take them for what announces an offset, or for all there is.
  if (placement.strides != dense_strides(tensor.dims) || placement.offset % 2 == 0) json["strides"] = to_array(placement.strides);
  json["offset"] = placement.offset;
  json["data"] = to_base64(buffer_of(tensor, placement).bytes);
  return json;
}

HostTensor tensor_from_json(const Json& json, const std::string& field) {
  const DType dtype = fields::dtype(fields::member(json, "dtype", field), fields::key(field, "dtype"));
  const Dims dims = fields::dims(fields::member(json, "shape", field), fields::key(field, "shape"));
  const Json& text = fields::member(json, "data", field);
  const auto data = from_base64(fields::string(text, fields::key(field, "data")));
  if (!data) fields::mismatch(fields::key(field, "data"), "base64", text);
  const std::int64_t count = checked_count(dims, dtype, field);
  const Placement placement = placement_of(json, dims, field);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto bytes = static_cast<std::int64_t>(data->size());
  const std::int64_t needed = count == 0 ? 0 : needed_elements(placement, dims, field);
  const bool whole_buffer = json.contains("strides") || json.contains("offset");
  const bool fits = bytes % size == 0 && (whole_buffer ? needed <= bytes / size : needed * size == bytes);
  if (!fits)
    throw SpecViolation(field + ".data: expected " + (whole_buffer ? "at least " : "") + std::to_string(needed) + " elements of " +
                        std::to_string(size) + " bytes, found " + std::to_string(bytes) + " bytes");
  HostTensor tensor;
  if (whole_buffer) {
    tensor = read_placed(*data, placement, dtype, dims);
  } else {
    tensor = HostTensor(dtype, dims);
    tensor.bytes = *data;
  }
  if (dtype == DType::boolean) {
    for (const std::byte b : tensor.bytes) {
      if (std::to_integer<int>(b) > 1) throw SpecViolation(field + ".data: a bool is one byte, 0 or 1, found " + std::to_string(std::to_integer<int>(b)));
    }
  }
  return tensor;
}

std::optional<Placement> placement_from_json(const Json& json, const std::string& field) {
  if (!json.contains("strides") && !json.contains("offset")) return std::nullopt;
  const DType dtype = fields::dtype(fields::member(json, "dtype", field), fields::key(field, "dtype"));
  Placement placement = placement_of(json, fields::dims(fields::member(json, "shape", field), fields::key(field, "shape")), field);
  const auto data = from_base64(fields::string(fields::member(json, "data", field), fields::key(field, "data")));
  placement.elements = data ? static_cast<std::int64_t>(data->size() / size_of(dtype)) : 0;
  return placement;
}

}  // namespace etalon::spec
