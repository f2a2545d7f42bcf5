// The functions that come with a text. `$` stands for the real type's name in C, `@` for its suffix here, `~` for <math.h>'s.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "compiled/emit/text/names.hpp"
#include "compiled/emit/text/own_function_text.hpp"
#include "compiled/emit/text/words.hpp"
#include "spec/error.hpp"
#include "spec/philox.hpp"

namespace etalon::compiled::source {

namespace {

struct Row {
  std::string_view name;  ///< with `@` where there is one per real type
  std::string_view text;  ///< what follows the prefix of own functions, from the type of the result on
  std::string_view needs = {};  ///< names, separated by spaces
};

// Operands that are NaN give NaN, and -0 is less than 0.
constexpr std::array rows{
    Row{"maximum_@", R"($ #maximum_@($ a, $ b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
})"},
    Row{"minimum_@", R"($ #minimum_@($ a, $ b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
})"},
    Row{"sign_@", R"($ #sign_@($ x) {
  if (isnan(x)) return x;
  return x > 0 ? ($)1 : x < 0 ? ($)-1 : ($)0;
})"},
    Row{"modulo_@", R"(// The remainder with the divisor's sign.
$ #modulo_@($ a, $ b) {
  const $ r = fmod~(a, b);
  if (r == 0) return copysign~(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
})"},
    Row{"add_i64", R"(// Integers wrap.
int64_t #add_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); })"},
    Row{"sub_i64", "int64_t #sub_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }"},
    Row{"mul_i64", "int64_t #mul_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }"},
    Row{"neg_i64", "int64_t #neg_i64(int64_t a) { return (int64_t)(0 - (uint64_t)a); }"},
    Row{"maximum_i64", "int64_t #maximum_i64(int64_t a, int64_t b) { return a > b ? a : b; }"},
    Row{"minimum_i64", "int64_t #minimum_i64(int64_t a, int64_t b) { return a < b ? a : b; }"},
    Row{"absolute_i64", "int64_t #absolute_i64(int64_t a) { return a < 0 ? #neg_i64(a) : a; }", "neg_i64"},
    Row{"sign_i64", "int64_t #sign_i64(int64_t a) { return (a > 0) - (a < 0); }"},
    Row{"floor_div_i64", R"(// Rounds toward minus infinity; by 0 it is 0.
int64_t #floor_div_i64(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return #neg_i64(a);
  return a / b - ((a % b != 0) & ((a % b < 0) != (b < 0)));
})", "neg_i64"},
    Row{"modulo_i64", R"(// The remainder with the divisor's sign; by 0 it is 0.
int64_t #modulo_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
})"},
    Row{"integer_f64", R"(// Toward zero; out of range the nearest end, NaN as 0.
int64_t #integer_f64(double x) {
  if (isnan(x)) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  return x < -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
})"},
    Row{"odd_i64", R"(// A double; where none is the integer one that rounds to a shorter type as it would.
double #odd_i64(int64_t x) {
  if ((uint64_t)x + 0x20000000000000u <= 0x40000000000000u) return (double)x;
  return (double)((x - (x & 2047)) | ((x & 2047) != 0 ? 1024 : 0));
})"},
    Row{"bits", R"(uint32_t #bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
})"},
    Row{"float", R"(float #float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
})"},
    Row{"scaled", R"(// e * 2^n, rounded once, for whole n from -151 to 129 and e about 1: the first product is exact.
float #scaled(float e, float n) {
  const int32_t whole = (int32_t)(#bits(n + 12582912.0f) - #bits(12582912.0f)), half = whole >> 1;
  return e * #float((uint32_t)(half + 127) << 23) * #float((uint32_t)(whole - half + 127) << 23);
})", "bits float"},
    Row{"scaled_exactly", R"(// e * 2^n, for whole n, where that is a normal number.
float #scaled_exactly(float e, float n) { return #float(#bits(e) + ((uint32_t)(int32_t)n << 23)); })", "bits float"},
    Row{"exponent", "float #exponent(float x) { return (float)((int32_t)(#bits(x) >> 23 & 255u) - 127); }", "bits"},
    Row{"widen_bf16", "float #widen_bf16(uint16_t half) { return #float((uint32_t)half << 16); }", "float"},
    Row{"widen_f16", R"(// Exact: the exponent is moved by 112.
float #widen_f16(uint16_t half) {
  const uint32_t size = ((uint32_t)half & 0x7fffu) << 13;
  const uint32_t sign = ((uint32_t)half & 0x8000u) << 16;
  const uint32_t moved = #bits(#float(size) * 5192296858534827628530496329220096.0f);
  return #float((size >= 0x0f800000u ? size | 0x7f800000u : moved) | sign);
})", "bits float"},
    Row{"normal", R"(// Subnormal numbers are zero.
float #normal(float x) { return (#bits(x) & 0x7f800000u) == 0 ? #float(#bits(x) & 0x80000000u) : x; })", "bits float"},
    Row{"narrow_tf32", R"(// The nearest number of eleven bits, ties away from zero; subnormal numbers are zero.
uint32_t #narrow_tf32(float x) {
  const uint32_t size = #bits(x) & 0x7fffffffu;
  if (size > 0x7f800000u) return 0x7fc00000u;
  return size < 0x00800000u ? #bits(x) & 0x80000000u : (#bits(x) + 0x1000u) & 0xffffe000u;
})", "bits"},
    Row{"round_to_odd", R"(// An inexact result is the neighbour with an odd last bit: rounding it again gives what rounding the double would give.
float #round_to_odd(double x) {
  const float nearest = (float)x;
  const uint32_t bits = #bits(nearest);
  if (isnan(x) || (double)nearest == x || (bits & 1u) != 0) return nearest;
  return #float(fabs((double)nearest) < fabs(x) ? bits + 1u : bits - 1u);
})", "bits float"},
    Row{"narrow_bf16", R"(// The nearest number, ties to even.
uint16_t #narrow_bf16(float x) {
  const uint32_t sign = (#bits(x) & 0x80000000u) >> 16, size = #bits(x) & 0x7fffffffu;
  if (size > 0x7f800000u) return (uint16_t)(0x7fc0u | sign);
  return (uint16_t)(((size + 0x7fffu + ((size >> 16) & 1u)) >> 16) | sign);
})", "bits"},
    Row{"narrow_f16", R"(// The nearest number, ties to even. Below the normal numbers the last place is that of 0.5 in binary32: adding rounds.
uint16_t #narrow_f16(float x) {
  const uint32_t sign = (#bits(x) & 0x80000000u) >> 16, size = #bits(x) & 0x7fffffffu;
  if (size > 0x7f800000u) return (uint16_t)(0x7e00u | sign);
  if (size >= 0x47800000u) return (uint16_t)(0x7c00u | sign);
  if (size < 0x38800000u) return (uint16_t)((#bits(#float(size) + 0.5f) - 0x3f000000u) | sign);
  return (uint16_t)(((size + 0xfffu + ((size >> 13) & 1u) - 0x38000000u) >> 13) | sign);
})", "bits float"},
    Row{"wait_@", R"(// The sum of a block waits for another of its size, as the digits of the number of blocks do: a balanced tree.
int64_t #wait_@($ *sums, int64_t blocks, $ sum) {
  int digit = 0;
  for (; ((blocks >> digit) & 1) != 0; ++digit) sum = sums[digit] + sum;
  sums[digit] = sum;
  return blocks + 1;
})"},
    Row{"join_@", R"(// The sum of what waits, smallest first, behind one that does not.
$ #join_@(const $ *sums, int64_t blocks, $ sum) {
  for (int digit = 0; (blocks >> digit) != 0; ++digit) {
    if (((blocks >> digit) & 1) != 0) sum = sums[digit] + sum;
  }
  return sum;
})"},
};

/// philox(seed, step, stream, n), with the generator's own numbers.
std::string philox_text() {
  return fmt::format(R"(// Word n % 4 of block n / 4 of the stream, by Philox4x32-10.
int64_t #philox_i64(int64_t seed, int64_t step, int64_t stream, int64_t n) {{
  const uint64_t block = (uint64_t)n >> 2;
  uint32_t c[4] = {{(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)step, (uint32_t)stream}};
  uint32_t k[2] = {{(uint32_t)seed, (uint32_t)((uint64_t)seed >> 32)}};
  for (int round = 0; round < {}; ++round) {{
    const uint64_t p0 = (uint64_t){}u * c[0], p1 = (uint64_t){}u * c[2];
    const uint32_t next[4] = {{(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k[1], (uint32_t)p0}};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k[0] += {}u;
    k[1] += {}u;
  }}
  return (int64_t)c[n & 3];
}})",
                     spec::philox_rounds, spec::philox_multipliers[0], spec::philox_multipliers[1], spec::philox_weyl[0],
                     spec::philox_weyl[1]);
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

/// A row for one real type, or as it is.
struct Definition {
  std::string name;
  std::string text;
  std::string needs;
};

std::vector<Definition> definitions_of_all() {
  std::vector<Definition> all;
  for (const Row& row : rows) {
    const bool by_type = row.name.find('@') != std::string_view::npos;
    for (const loops::Type type : {loops::Type::f32, loops::Type::f64}) {
      Definition d{std::string(row.name), std::string(row.text), std::string(row.needs)};
      replace_all(d.name, "@", type_suffix(type));
      replace_all(d.text, "@", type_suffix(type));
      replace_all(d.text, "$", type_name(type));
      replace_all(d.text, "~", type == loops::Type::f32 ? "f" : "");
      if (by_type || type == loops::Type::f32) all.push_back(std::move(d));
    }
  }
  for (const OwnFunction& function : own_functions) {
    OwnFunctionText own = own_function_text(function);
    replace_all(own.text, "~", "f");
    all.push_back({std::move(own.name), std::move(own.text), std::move(own.needs)});
  }
  all.push_back({"philox_i64", philox_text(), {}});
  return all;
}

/// The words before a definition go before its type, which stands behind its comment.
std::string qualified(std::string text, std::string_view qualifiers) {
  const std::size_t at = text.starts_with("//") ? text.find('\n') + 1 : 0;
  text.insert(at, qualifiers);
  replace_all(text, "#", own_prefix);
  return text;
}

}  // namespace

std::string Functions::use(std::string_view name, std::string_view suffix) {
  const std::string full = std::string(name) + (suffix.empty() ? "" : "_") + std::string(suffix);
  if (!used_.contains(full)) {
    const std::vector<Definition> all = definitions_of_all();
    const auto it = std::find_if(all.begin(), all.end(), [&](const Definition& d) { return d.name == full; });
    if (it == all.end()) throw InternalError("emit: no function `" + full + "`");
    used_.insert(full);
    for (std::string_view rest(it->needs); !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      use(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return std::string(own_prefix) + full;
}

std::string Functions::text_of(std::string_view c, DType type) {
  std::string text(c);
  replace_all(text, "@", name_of(type));
  replace_all(text, "~", type == DType::f32 ? "f" : "");
  if (!text.starts_with('#')) return text;
  const std::size_t end = std::min(text.find('('), text.size());
  return use(std::string_view(text).substr(1, end - 1)) + text.substr(end);
}

std::string Functions::library(spec::Primitive p, loops::Type type) {
  const OwnFunction* own = dialect_ == Dialect::cuda ? own_function(p, type == loops::Type::f32 ? DType::f32 : DType::f64) : nullptr;
  if (own != nullptr) return use(words_of(p).real.word, type_suffix(type));
  return std::string(words_of(p).real.word) + (type == loops::Type::f32 ? "f" : "");
}

std::string Functions::definitions() const {
  std::string text;
  for (const Definition& d : definitions_of_all()) {
    if (!used_.contains(d.name)) continue;
    text += qualified(d.text, dialect_ == Dialect::cuda ? "static __device__ inline " : "static inline ") + "\n\n";
  }
  return text;
}

}  // namespace etalon::compiled::source
