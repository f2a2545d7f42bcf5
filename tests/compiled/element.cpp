#include "tests/compiled/element.hpp"

#include <cstring>
#include <stdexcept>

namespace etalon::test {
namespace {

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

Scalar load(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::f32:
      return {static_cast<double>(get<float>(from)), 0};
    case DType::f64:
      return {get<double>(from), 0};
    case DType::i32:
      return {0, get<std::int32_t>(from)};
    case DType::i64:
      return {0, get<std::int64_t>(from)};
    case DType::boolean:
      return {0, get<std::uint8_t>(from)};
    default:
      throw std::logic_error("the interpreter of the tests lacks a type");
  }
}

void store(DType dtype, std::byte* to, const Scalar& s) {
  switch (dtype) {
    case DType::f32:
      return put(to, static_cast<float>(s.real));
    case DType::f64:
      return put(to, s.real);
    case DType::i32:
      return put(to, static_cast<std::int32_t>(static_cast<std::uint32_t>(s.integer)));
    case DType::i64:
      return put(to, s.integer);
    case DType::boolean:
      return put(to, static_cast<std::uint8_t>(s.integer != 0));
    default:
      throw std::logic_error("the interpreter of the tests lacks a type");
  }
}

}  // namespace etalon::test
