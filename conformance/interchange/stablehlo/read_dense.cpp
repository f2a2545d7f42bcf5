#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "conformance/interchange/stablehlo/read_attribute.hpp"
#include "conformance/values.hpp"
#include "spec/half.hpp"
#include "spec/quoted.hpp"
#include "spec/value_type.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10); }

/// The bytes that hexadecimal digits say; nothing where they are none.
[[nodiscard]] std::optional<Bytes> bytes_of(std::string_view text) {
  if (!text.starts_with("0x") || text.size() % 2 != 0) return std::nullopt;
  Bytes bytes;
  for (std::size_t i = 2; i < text.size(); i += 2) {
    for (const char c : text.substr(i, 2)) {
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    }
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  return bytes;
}

/// All elements from their bits: each its own, or one that stands for all; truth values are single bits.
[[nodiscard]] bool set_bits(HostTensor& tensor, const Bytes& bytes) {
  const std::size_t number = static_cast<std::size_t>(tensor.dims.count()), size = size_of(tensor.dtype);
  if (tensor.dtype == DType::boolean) {
    if (bytes.size() != (number + 7) / 8 && bytes.size() != 1) return false;
    for (std::size_t i = 0; i < number; ++i) {
      const bool is_one = bytes.size() < (number + 7) / 8;
      const auto byte = static_cast<unsigned>(bytes[is_one ? 0 : i / 8]);
      tensor.bytes[i] = static_cast<std::byte>(is_one ? byte & 1U : (byte >> (i % 8)) & 1U);
    }
    return true;
  }
  if (bytes.size() != number * size && bytes.size() != size) return false;
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i) tensor.bytes[i] = bytes[bytes.size() == size ? i % size : i];
  return true;
}

template <class T>
[[nodiscard]] bool set_integer(HostTensor& tensor, std::size_t i, std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  tensor.view<T>()[i] = value;
  return true;
}

/// Hexadecimal digits are the element's bits.
[[nodiscard]] bool set_real(HostTensor& tensor, std::size_t i, const std::string& text) {
  if (text.find('x') == std::string::npos) {
    const double value = tensor.dtype == DType::f32 ? static_cast<double>(std::strtof(text.c_str(), nullptr))
                                                    : std::strtod(text.c_str(), nullptr);
    set_element(tensor, i, value);
    return true;
  }
  std::uint64_t bits = 0;
  const std::size_t size = size_of(tensor.dtype);
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (!text.starts_with("0x") || error != std::errc() || end != text.data() + text.size() ||
      (size < 8 && bits >> (8 * size) != 0))
    return false;
  for (std::size_t k = 0; k < size; ++k) tensor.bytes[i * size + k] = static_cast<std::byte>(bits >> (8 * k));
  return true;
}

[[nodiscard]] bool set_text(HostTensor& tensor, std::size_t i, const std::string& text) {
  switch (tensor.dtype) {
    case DType::boolean:
      if (text != "true" && text != "false") return false;
      tensor.bytes[i] = std::byte{static_cast<unsigned char>(text == "true" ? 1 : 0)};
      return true;
    case DType::i32:
      return set_integer<std::int32_t>(tensor, i, text);
    case DType::i64:
      return set_integer<std::int64_t>(tensor, i, text);
    default:
      return text != "true" && text != "false" && set_real(tensor, i, text);
  }
}

}  // namespace

Literal AttributeReader::literal() {
  Literal read;
  read.at = scan_.here();
  scan_.expect("dense");
  scan_.expect("<");
  if (scan_.sees("\""))
    read.bits = scan_.quoted();
  else if (!scan_.sees(">"))
    read_elements(read, 0);
  else
    read.extents = Extents{0};
  scan_.expect(">");
  return read;
}

/// Lists of lists, of which all on one level have one length.
void AttributeReader::read_elements(Literal& read, std::size_t axis) {
  const bool is_first = !read.extents || axis >= read.extents->size();
  if (is_first && !read.elements.empty() && scan_.sees("[")) scan_.fail("an element");
  if (!scan_.takes("[")) {
    if (scan_.sees("(")) {  // complex numbers, whose type is refused
      scan_.pass_over_brackets();
      read.elements.emplace_back();
      return;
    }
    if (read.extents && axis < read.extents->size()) scan_.fail("a list");
    std::string element(scan_.number());
    if (element.empty()) element = std::string(scan_.word());
    if (element.empty()) scan_.fail("an element");
    return read.elements.push_back(std::move(element));
  }
  if (axis >= deepest) scan_.fail(fmt::format("nothing that stands more than {} deep", deepest));
  if (!read.extents) read.extents.emplace();
  if (is_first) read.extents->push_back(0);
  std::int64_t length = 0;
  while (!scan_.takes("]")) {
    if (length > 0) scan_.expect(",");
    read_elements(read, axis + 1);
    ++length;
  }
  std::int64_t& extent = (*read.extents)[axis];
  if (is_first) extent = length;
  if (extent != length) scan_.fail_at(read.at, "lists of different lengths in dense<…>");
}

Numbers AttributeReader::numbers(const Literal& read, const Type& type) const {
  if (const auto* why = std::get_if<std::string>(&type)) return *why;
  const auto& tensor_type = std::get<TensorType>(type);
  if (tensor_type.extents.size() > Dims::max_rank)
    return fmt::format("tensors of {} axes are not offered", tensor_type.extents.size());
  Dims dims;
  for (const std::int64_t extent : tensor_type.extents) dims.push_back(extent);
  const bool is_splat = read.extents ? false : !read.elements.empty() && read.bits.empty();
  const std::int64_t most = std::int64_t{1} << (is_splat ? 24U : 31U);
  if (!spec::addressable({tensor_type.dtype, dims}) || dims.count() > most)
    return fmt::format("constants of more than {} elements are not offered", most);
  if (!read.bits.empty()) {
    const std::optional<Bytes> bytes = bytes_of(read.bits);
    const std::size_t size = bytes ? bytes->size() : 0;
    const bool may_fit = size * 8 >= static_cast<std::size_t>(dims.count()) || dims.count() <= (1 << 24);
    HostTensor tensor = bytes && may_fit ? HostTensor(tensor_type.dtype, dims) : HostTensor();
    if (!bytes || !may_fit || !set_bits(tensor, *bytes))
      scan_.fail_at(read.at, fmt::format("expected the bits of {}, found {} bytes", to_text(tensor_type), size));
    return tensor;
  }
  const bool is_empty = dims.count() == 0 && read.elements.empty();
  if (!is_splat && !is_empty &&
      (read.extents.value_or(Extents{}) != tensor_type.extents ||
       read.elements.size() != static_cast<std::size_t>(dims.count())))
    scan_.fail_at(read.at, fmt::format("dense<…> has other extents than {}", to_text(tensor_type)));
  HostTensor tensor(tensor_type.dtype, dims);
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims.count()); ++i) {
    const std::string& element = read.elements[is_splat ? 0 : i];
    if (!set_text(tensor, i, element))
      scan_.fail_at(read.at, fmt::format("expected a number of {}, found '{}'", element_name(tensor_type.dtype),
                                         as_quoted(element)));
  }
  return tensor;
}

}  // namespace etalon::conformance::stablehlo
