#include "training/files/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "spec/error.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

namespace {

struct ElementType {
  std::uint8_t code;
  std::size_t bytes;
  bool is_signed;
  DType dtype;
};
constexpr std::array<ElementType, 6> types{{{0x08, 1, false, DType::i32},
                                            {0x09, 1, true, DType::i32},
                                            {0x0B, 2, true, DType::i32},
                                            {0x0C, 4, true, DType::i32},
                                            {0x0D, 4, true, DType::f32},
                                            {0x0E, 8, true, DType::f64}}};
constexpr std::size_t before_extents = 4, extent_bytes = 4;

[[nodiscard]] std::uint64_t whole(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte b : bytes) value = value << 8U | std::to_integer<std::uint64_t>(b);
  return value;
}

struct Header {
  ElementType type{};
  Dims dims;
  std::size_t bytes = 0;  ///< of the header
};

[[nodiscard]] Header header_of(std::span<const std::byte> file, std::string_view where) {
  const bool begins = file.size() >= before_extents && whole(file.first(2)) == 0;
  if (!begins) throw IoError(fmt::format("{}: no idx array, which begins with two zero bytes", where));
  const auto code = std::to_integer<std::uint8_t>(file[2]);
  const auto type = std::find_if(types.begin(), types.end(), [&](const ElementType& t) { return t.code == code; });
  if (type == types.end()) {
    throw IoError(fmt::format("{}: elements of the type {:#04x}, expected 0x08, 0x09 or 0x0b to 0x0e", where, code));
  }
  const auto rank = std::to_integer<std::size_t>(file[3]);
  if (rank > static_cast<std::size_t>(Dims::max_rank)) {
    throw IoError(fmt::format("{}: {} axes, expected at most {}", where, rank, Dims::max_rank));
  }
  Header header{*type, {}, before_extents + extent_bytes * rank};
  if (file.size() < header.bytes) {
    throw IoError(fmt::format("{}: {} bytes, expected {} of extents first", where, file.size(), header.bytes));
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto extent = whole(file.subspan(before_extents + extent_bytes * axis, extent_bytes));
    header.dims.push_back(static_cast<std::int64_t>(extent));
  }
  return header;
}

[[nodiscard]] std::int32_t integer_in(std::uint64_t bits, const ElementType& type) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * type.bytes - 1);
  const auto value = static_cast<std::int64_t>(bits);
  return static_cast<std::int32_t>(type.is_signed && (bits & sign) != 0 ? value - static_cast<std::int64_t>(2 * sign) : value);
}

}  // namespace

HostTensor read_idx(std::span<const std::byte> file, std::string_view where) {
  const Header header = header_of(file, where);
  const auto elements = file.subspan(header.bytes);
  const spec::ValueType type{header.type.dtype, header.dims};
  const bool fits = addressable(type);
  const std::size_t count = fits ? static_cast<std::size_t>(type.dims.count()) : 0;
  if (!fits || count != elements.size() / header.type.bytes || elements.size() % header.type.bytes != 0) {
    throw IoError(
        fmt::format("{}: {} bytes of elements, expected {} for each of {}", where, elements.size(), header.type.bytes, to_string(type)));
  }
  HostTensor tensor(type.dtype, type.dims);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = whole(elements.subspan(i * header.type.bytes, header.type.bytes));
    if (type.dtype == DType::f32)
      tensor.view<float>()[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else if (type.dtype == DType::f64)
      tensor.view<double>()[i] = std::bit_cast<double>(bits);
    else
      tensor.view<std::int32_t>()[i] = integer_in(bits, header.type);
  }
  return tensor;
}

}  // namespace etalon::training
