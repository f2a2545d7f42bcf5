#include "spec/program/number_text.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include <fmt/format.h>

namespace etalon::spec {
namespace {

template <class T>
[[nodiscard]] std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
[[nodiscard]] T element(const HostTensor& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(HostTensor& tensor, std::size_t i, T value) {
  std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

template <class Bits, class T>
[[nodiscard]] std::string float_text(const HostTensor& tensor, std::size_t i) {
  const T value = element<T>(tensor, i);
  const T plain = std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(value) && std::memcmp(&value, &plain, sizeof(T)) != 0) return fmt::format("bits:{:x}", element<Bits>(tensor, i));
  return shortest(value);
}

[[nodiscard]] std::string element_text(const HostTensor& tensor, std::size_t i) {
  switch (tensor.dtype) {
    case DType::f32: return float_text<std::uint32_t, float>(tensor, i);
    case DType::f64: return float_text<std::uint64_t, double>(tensor, i);
    case DType::i32: return std::to_string(element<std::int32_t>(tensor, i));
    case DType::i64: return std::to_string(element<std::int64_t>(tensor, i));
    case DType::boolean: return element<std::uint8_t>(tensor, i) != 0 ? "true" : "false";
    case DType::f16:
    case DType::bf16: return fmt::format("bits:{:x}", element<std::uint16_t>(tensor, i));
  }
  return "?";
}

template <class T>
[[nodiscard]] bool parse_all(std::string_view token, T& value) {
  const char* end = token.data() + token.size();
  const auto result = std::from_chars(token.data(), end, value);
  return result.ec == std::errc{} && result.ptr == end;
}

template <class T>
[[nodiscard]] bool read_number(std::string_view token, HostTensor& into, std::size_t i) {
  T value{};
  if (!parse_all(token, value)) return false;
  store(into, i, value);
  return true;
}

template <class Bits>
[[nodiscard]] bool read_bits(std::string_view hexadecimal, HostTensor& into, std::size_t i) {
  Bits bits = 0;
  const char* end = hexadecimal.data() + hexadecimal.size();
  const auto result = std::from_chars(hexadecimal.data(), end, bits, 16);
  if (result.ec != std::errc{} || result.ptr != end) return false;
  store(into, i, bits);
  return true;
}

template <class Bits, class T>
[[nodiscard]] bool read_float(std::string_view token, HostTensor& into, std::size_t i) {
  if (token.substr(0, 5) == "bits:") return read_bits<Bits>(token.substr(5), into, i);
  if (token == "nan") {
    store(into, i, std::numeric_limits<T>::quiet_NaN());
    return true;
  }
  return read_number<T>(token, into, i);
}

}  // namespace

std::string real_text(double value) { return shortest(value); }

std::string elements_text(const HostTensor& tensor) {
  if (tensor.dims.rank == 0) return element_text(tensor, 0);
  std::string text = "[";
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.dims.count()); ++i)
    text += (i == 0 ? "" : ", ") + element_text(tensor, i);
  return text + "]";
}

bool read_element(std::string_view token, HostTensor& into, std::size_t position) {
  switch (into.dtype) {
    case DType::f32: return read_float<std::uint32_t, float>(token, into, position);
    case DType::f64: return read_float<std::uint64_t, double>(token, into, position);
    case DType::i32: return read_number<std::int32_t>(token, into, position);
    case DType::i64: return read_number<std::int64_t>(token, into, position);
    case DType::boolean:
      if (token != "true" && token != "false") return false;
      store(into, position, static_cast<std::uint8_t>(token == "true" ? 1 : 0));
      return true;
    case DType::f16:
    case DType::bf16: return token.substr(0, 5) == "bits:" && read_bits<std::uint16_t>(token.substr(5), into, position);
  }
  return false;
}

}  // namespace etalon::spec
