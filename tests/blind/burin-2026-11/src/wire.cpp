#include "wire.h"

#include <cstring>

namespace {

const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string bytes_of(const std::string& text) {
  static const std::vector<int> value = [] {
    std::vector<int> v(256, -1);
    for (int i = 0; i < 64; ++i) v[(unsigned char)alphabet[i]] = i;
    return v;
  }();
  std::string out;
  unsigned acc = 0;
  int bits = 0;
  for (unsigned char c : text) {
    if (c == '=') break;
    if (value[c] < 0) throw std::runtime_error("data is not base64");
    acc = acc << 6 | unsigned(value[c]);
    bits += 6;
    if (bits >= 8) { bits -= 8; out.push_back(char(acc >> bits & 255)); }
  }
  return out;
}

std::string text_of(const std::string& b) {
  std::string out;
  for (std::size_t i = 0; i < b.size(); i += 3) {
    unsigned v = 0;
    for (std::size_t k = 0; k < 3; ++k) v = v << 8 | (i + k < b.size() ? (unsigned char)b[i + k] : 0);
    for (std::size_t k = 0; k < 4; ++k) out.push_back(k <= b.size() - i ? alphabet[v >> (18 - 6 * k) & 63] : '=');
  }
  return out;
}

std::size_t width(DT dt) { return dt == DT::boolean ? 1 : dt == DT::f32 || dt == DT::i32 ? 4 : 8; }

template <class T> T read(const std::string& b, std::size_t i) {
  T v;
  std::memcpy(&v, b.data() + i * sizeof v, sizeof v);
  return v;
}
template <class T> void write(std::string& b, T v) { b.append(reinterpret_cast<const char*>(&v), sizeof v); }

Attr value_of(const Json& v) {
  Attr a;
  if (v.is_boolean()) a.num = {v.get<bool>() ? Real(1) : Real(0)};
  else if (v.is_number_integer()) a.num = {Real(v.get<Int>())};
  else if (v.is_number()) a.num = {Real(v.get<double>())};
  else if (v.is_array()) {
    a.list = true;
    for (const Json& e : v) a.num.push_back(value_of(e).num.at(0));
  } else if (v.is_string()) {
    std::string s = v;
    if (s == "nan") a.num = {nanq("")};
    else if (s == "inf") a.num = {HUGE_VALQ};
    else if (s == "-inf") a.num = {-HUGE_VALQ};
    else if (!s.empty() && s.find_first_not_of("-0123456789") == std::string::npos) a.num = {Real(Int(std::stoll(s)))};
    else a.sym = s;
  } else {
    throw Unsupported("attribute", "attributes that are values of the program are not offered");
  }
  return a;
}

}  // namespace

DT dtype_of(const std::string& name) {
  Attrs a;
  a.m["dtype"].sym = name;
  return a.dtype("dtype", DT::f32);
}

Given decode(const Json& t) {
  Given r;
  r.dt = dtype_of(t.at("dtype"));
  r.shape = t.at("shape").get<Dims>();
  std::string b = bytes_of(t.at("data").get<std::string>());
  std::size_t n = b.size() / width(r.dt);
  r.data.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (r.dt) {
      case DT::f32: r.data[i] = read<float>(b, i); break;
      case DT::f64: r.data[i] = read<double>(b, i); break;
      case DT::i32: r.data[i] = read<std::int32_t>(b, i); break;
      case DT::i64: r.data[i] = read<Int>(b, i); break;
      default: r.data[i] = b[i] != 0;
    }
  }
  bool strided = t.contains("strides") && !t["strides"].is_null();
  r.stride = strided ? t["strides"].get<Dims>() : row_major(r.shape);
  if (t.contains("offset") && !t["offset"].is_null()) r.offset = t["offset"].get<Int>();
  if (!strided && Int(n) < size_of(r.shape) + r.offset) throw std::runtime_error("data has too few bytes");
  if (b.size() % width(r.dt)) throw std::runtime_error("data has a part of an element");
  if (BUG(negative_stride_after_axis_of_one) && strided) {
    // An axis of one element has no stride; the next one is then taken for the outermost, which runs forwards.
    for (std::size_t i = 1; i < r.shape.size(); ++i) {
      if (r.shape[i - 1] == 1 && r.stride[i] < 0) {
        r.offset += r.stride[i] * (r.shape[i] - 1);
        r.stride[i] = -r.stride[i];
      }
    }
  }
  return r;
}

Json encode(const std::vector<Real>& v, DT dt, const Dims& shape) {
  std::string b;
  for (Real e : v) {
    switch (dt) {
      case DT::f32: write(b, float(e)); break;
      case DT::f64: write(b, double(e)); break;
      case DT::i32: write(b, std::int32_t(Int(e))); break;
      case DT::i64: write(b, Int(e)); break;
      default: b.push_back(e != 0);
    }
  }
  Json names[] = {"f32", "f64", "i32", "i64", "bool"};
  return {{"dtype", names[int(dt)]}, {"shape", shape}, {"data", text_of(b)}};
}

Attrs attributes_of(const Json& a) {
  Attrs r;
  if (a.is_object()) {
    for (auto& [k, v] : a.items()) if (!v.is_null()) r.m[k] = value_of(v);
  }
  return r;
}
