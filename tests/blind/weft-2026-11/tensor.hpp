/// \file
/// Element types, shapes and tensors of wide numbers: long double holds f64 and i64 exactly.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {

using Wide = long double;
using Int = std::int64_t;
using Shape = std::vector<Int>;
using Map = std::vector<Int>;  ///< of each element of a result its place in the operand, -1 for none

enum class Type : unsigned char { f32, f64, i32, i64, boolean };

inline bool is_real(Type t) { return t == Type::f32 || t == Type::f64; }
inline bool is_integer(Type t) { return t == Type::i32 || t == Type::i64; }

struct Tensor {
  Type type = Type::f32;
  Shape shape;
  std::vector<Wide> data;
};

inline Int size_of(const Shape& shape) {
  Int n = 1;
  for (const Int e : shape) n *= e;
  return n;
}

/// Not offered: what of the question it is, and why.
struct Unsupported : std::runtime_error {
  Unsupported(std::string what_is, const std::string& why) : std::runtime_error(why), what_is(std::move(what_is)) {}
  std::string what_is;
};

/// The number as one of the type: reals rounded to nearest, integers wrapped.
Wide stored_as(Type type, Wide x);

}  // namespace weft
