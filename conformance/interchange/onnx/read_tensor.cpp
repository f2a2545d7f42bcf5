#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "conformance/interchange/onnx/external_data.hpp"
#include "conformance/interchange/onnx/model.hpp"
#include "conformance/interchange/onnx/wire.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/value_type.hpp"

namespace etalon::conformance::onnx {
namespace {

/// TensorProto.DataType: the number is the place.
constexpr std::array<std::string_view, 24> type_names{
    "undefined", "float",        "uint8",          "int8",       "uint16",         "int16",  "int32",     "int64",
    "string",    "bool",         "float16",        "double",     "uint32",         "uint64", "complex64", "complex128",
    "bfloat16",  "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",  "int4",      "float4e2m1"};

/// A tensor as its message has it.
struct Parts {
  std::string name;
  std::int64_t type = 0;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> integers;       ///< of int32_data or int64_data
  std::vector<std::byte> reals;             ///< of float_data or double_data
  std::optional<std::span<const std::byte>> raw;
  bool is_elsewhere = false;
  std::vector<std::span<const std::byte>> elsewhere;  ///< entries that say where
};

[[nodiscard]] Parts read_parts(std::span<const std::byte> message, std::string_view where) {
  Parts parts;
  WireReader reader(message, where);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1: add_integers(field, where, parts.extents); break;
      case 2: parts.type = static_cast<std::int64_t>(field.integer); break;
      case 4: add_words(field, 4, where, parts.reals); break;
      case 5:
      case 7: add_integers(field, where, parts.integers); break;
      case 8: parts.name = text_of(field, where); break;
      case 9: parts.raw = field.bytes; break;
      case 10: add_words(field, 8, where, parts.reals); break;
      case 13: parts.elsewhere.push_back(field.bytes); break;
      case 14: parts.is_elsewhere = field.integer == 1; break;
      default: break;
    }
  }
  return parts;
}

/// The extents of a tensor whose elements can be no more than `most`.
[[nodiscard]] Dims dims_of(const Parts& parts, std::size_t most, std::string_view where) {
  Dims dims;
  for (const std::int64_t extent : parts.extents) {
    if (extent < 0) throw IoError(fmt::format("{}: tensor \"{}\": {} is no extent", where, as_quoted(parts.name), extent));
    dims.push_back(extent);
  }
  if (!spec::addressable({DType::f64, dims}))
    throw IoError(fmt::format("{}: tensor \"{}\": the extents {} are more than memory has", where, as_quoted(parts.name), to_string(dims)));
  const std::int64_t elements = dims.count();
  if (static_cast<std::uint64_t>(elements) != most)
    throw IoError(fmt::format("{}: tensor \"{}\": expected {} elements for the extents {}, found {}", where, as_quoted(parts.name),
                              elements, to_string(dims), most));
  return dims;
}

template <class T>
void put(HostTensor& tensor, std::size_t i, std::int64_t integer) {
  const auto value = static_cast<T>(integer);
  std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

/// An integer of int32_data or int64_data as an element: halves stand there by their bits.
void put_element(HostTensor& tensor, std::size_t i, std::int64_t integer) {
  switch (tensor.dtype) {
    case DType::f16:
    case DType::bf16: return put<std::uint16_t>(tensor, i, integer);
    case DType::i32: return put<std::int32_t>(tensor, i, integer);
    case DType::i64: return put<std::int64_t>(tensor, i, integer);
    default: return put<std::uint8_t>(tensor, i, integer);
  }
}

[[nodiscard]] HostTensor of_bytes(const Parts& parts, DType dtype, std::span<const std::byte> bytes, std::string_view where) {
  if (bytes.size() % size_of(dtype) != 0)
    throw IoError(fmt::format("{}: tensor \"{}\": expected elements of {} bytes, found {} bytes", where, as_quoted(parts.name),
                              size_of(dtype), bytes.size()));
  HostTensor tensor(dtype, dims_of(parts, bytes.size() / size_of(dtype), where));
  std::copy(bytes.begin(), bytes.end(), tensor.bytes.begin());
  return tensor;
}

[[nodiscard]] HostTensor numbers_of(const Parts& parts, DType dtype, std::string_view where, const std::filesystem::path& folder) {
  HostTensor tensor;
  if (parts.is_elsewhere) {
    const std::string name = fmt::format("{}: tensor \"{}\"", where, as_quoted(parts.name));
    const std::string bytes = bytes_elsewhere(folder, elsewhere_of(parts.elsewhere, name), name);
    tensor = of_bytes(parts, dtype, std::as_bytes(std::span(bytes)), where);
  } else if (parts.raw) {
    tensor = of_bytes(parts, dtype, *parts.raw, where);
  } else if (dtype == DType::f32 || dtype == DType::f64) {
    tensor = of_bytes(parts, dtype, parts.reals, where);
  } else {
    tensor = HostTensor(dtype, dims_of(parts, parts.integers.size(), where));
    for (std::size_t i = 0; i < parts.integers.size(); ++i) put_element(tensor, i, parts.integers[i]);
  }
  const bool is_truth = std::all_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte b) { return std::to_integer<int>(b) < 2; });
  if (dtype == DType::boolean && !is_truth)
    throw IoError(fmt::format("{}: tensor \"{}\": expected truth values 0 and 1, found others", where, as_quoted(parts.name)));
  return tensor;
}

}  // namespace

std::optional<DType> dtype_of(std::int64_t type) {
  switch (type) {
    case 1: return DType::f32;
    case 6: return DType::i32;
    case 7: return DType::i64;
    case 9: return DType::boolean;
    case 10: return DType::f16;
    case 11: return DType::f64;
    case 16: return DType::bf16;
    default: return std::nullopt;
  }
}

std::string type_name(std::int64_t type) {
  const auto place = static_cast<std::uint64_t>(type);
  return place < type_names.size() ? std::string(type_names[static_cast<std::size_t>(place)]) : fmt::format("the type number {}", type);
}

std::pair<std::string, Tensor> read_tensor(std::span<const std::byte> message, std::string_view where,
                                           const std::optional<std::filesystem::path>& folder) {
  Parts parts = read_parts(message, where);
  const std::optional<DType> dtype = dtype_of(parts.type);
  if (!dtype) return {parts.name, fmt::format("tensors of {} are not offered", type_name(parts.type))};
  if (parts.is_elsewhere && !folder) return {parts.name, std::string("numbers in another file are not offered")};
  if (parts.extents.size() > Dims::max_rank)
    return {parts.name, fmt::format("a tensor of {} axes, and at most {} are offered", parts.extents.size(), Dims::max_rank)};
  Tensor tensor = numbers_of(parts, *dtype, where, folder.value_or(std::filesystem::path()));
  return {std::move(parts.name), std::move(tensor)};
}

}  // namespace etalon::conformance::onnx
