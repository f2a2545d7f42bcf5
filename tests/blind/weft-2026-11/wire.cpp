/// \file
/// Base64, little-endian elements, strides.
#include "wire.hpp"

#include <cstring>
#include <string>

#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string unpacked(const std::string& text) {
  int value[256];
  std::fill(std::begin(value), std::end(value), -1);
  for (int i = 0; i < 64; ++i) value[static_cast<unsigned char>(digits[i])] = i;
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int v = value[static_cast<unsigned char>(c)];
    if (v < 0) throw std::runtime_error("data: no base64");
    held = held << 6 | static_cast<unsigned>(v);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(held >> bits & 255);
    }
  }
  return bytes;
}

std::string packed(const std::string& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned v = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) v = v << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digits[v >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

template <class T>
std::vector<Wide> elements(const std::string& bytes) {
  std::vector<Wide> found(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < found.size(); ++i) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    found[i] = static_cast<Wide>(v);
  }
  return found;
}

template <class T>
std::string bytes_of(const std::vector<Wide>& data) {
  std::string bytes(data.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < data.size(); ++i) {
    const T v = static_cast<T>(data[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return bytes;
}

const char* name_of(Type type) {
  switch (type) {
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
    case Type::i32:
      return "i32";
    case Type::i64:
      return "i64";
    default:
      return "bool";
  }
}

}  // namespace

Tensor decoded(const Json& t) {
  Tensor found;
  found.type = type_named(t.at("dtype").get<std::string>());
  found.shape = t.at("shape").get<Shape>();
  const std::string bytes = unpacked(t.at("data").get<std::string>());
  std::vector<Wide> all;
  switch (found.type) {
    case Type::f32:
      all = elements<float>(bytes);
      break;
    case Type::f64:
      all = elements<double>(bytes);
      break;
    case Type::i32:
      all = elements<std::int32_t>(bytes);
      break;
    case Type::i64:
      all = elements<std::int64_t>(bytes);
      break;
    default:
      all = elements<std::uint8_t>(bytes);
      break;
  }
  const bool strided = t.contains("strides") && !t["strides"].is_null();
  Int at = t.contains("offset") && !t["offset"].is_null() ? t["offset"].get<Int>() : 0;
  const std::vector<Int> strides = strided ? t["strides"].get<std::vector<Int>>() : strides_of(found.shape);
  each_index(found.shape, [&](const std::vector<Int>& index) {
    Int place = at;
    for (std::size_t d = 0; d < index.size(); ++d) {
      place += index[d] * strides[d];
    }
    if (place < 0 || place >= static_cast<Int>(all.size())) throw std::runtime_error("data: too few elements");
    found.data.push_back(all[static_cast<std::size_t>(place)]);
  });
  return found;
}

Json encoded(const Tensor& t) {
  std::string bytes;
  switch (t.type) {
    case Type::f32:
      bytes = bytes_of<float>(t.data);
      break;
    case Type::f64:
      bytes = bytes_of<double>(t.data);
      break;
    case Type::i32:
      bytes = bytes_of<std::int32_t>(t.data);
      break;
    case Type::i64:
      bytes = bytes_of<std::int64_t>(t.data);
      break;
    default:
      bytes = bytes_of<std::uint8_t>(t.data);
      break;
  }
  return {{"dtype", name_of(t.type)}, {"shape", t.shape}, {"data", packed(bytes)}};
}

}  // namespace weft
