#include "reference/integer_math.hpp"

#include <algorithm>
#include <string>

#include "spec/philox.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

namespace {

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  // Negation through unsigned: the most negative integer divided by -1 wraps to itself.
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace

std::int64_t integer_value(spec::Primitive primitive, const std::int64_t* args) {
  using P = spec::Primitive;
  const auto bits = [&](int i) { return static_cast<std::uint64_t>(args[i]); };
  const auto wrapped = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  switch (primitive) {
    case P::add: return wrapped(bits(0) + bits(1));
    case P::sub: return wrapped(bits(0) - bits(1));
    case P::mul: return wrapped(bits(0) * bits(1));
    case P::neg: return wrapped(0 - bits(0));
    case P::abs: return args[0] < 0 ? wrapped(0 - bits(0)) : args[0];
    case P::sign: return args[0] < 0 ? -1 : (args[0] > 0 ? 1 : 0);
    case P::maximum: return std::max(args[0], args[1]);
    case P::minimum: return std::min(args[0], args[1]);
    case P::floor_div: return floor_quotient(args[0], args[1]);
    case P::modulo: return floor_remainder(args[0], args[1]);
    case P::philox: return static_cast<std::int64_t>(spec::philox_word(bits(0), bits(1), bits(2), bits(3)));
    default: throw InternalError("evaluate: " + std::string(spec::info(primitive).name) + " gives no integer");
  }
}

}  // namespace etalon::reference
