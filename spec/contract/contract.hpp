/// \file
/// What a backend promises of its arithmetic; the bounds are derived from it and from nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "spec/dtype.hpp"
#include "spec/scalar.hpp"

namespace etalon::spec {

/// A binary floating-point format: precision in bits (hidden one included) and exponent range of normal numbers.
struct Format {
  int precision = 24;
  int emin = -126;
  int emax = 127;
  [[nodiscard]] friend constexpr bool operator==(const Format&, const Format&) = default;
};

/// The format of a real element type.
[[nodiscard]] constexpr Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return {53, -1022, 1023};
    case DType::f16: return {11, -14, 15};
    case DType::bf16: return {8, -126, 127};
    default: return {24, -126, 127};
  }
}

/// |computed - exact| <= (k0 + k1·|x|)·ulp(exact) + absolute; with `exact_points`, the points where the exact result
/// is a small integer for every format (exp 0, log 1, tanh 0, erf 0, …) are exact. k0 = 0.5 means correctly rounded.
/// Exact under every contract are x^0, 0^y for y > 0, and the angle 0 of the half line y = 0, x > 0; x^1 is not.
struct FunctionBound {
  double k0 = 0.5;
  double k1 = 0;
  double absolute = 0;
  bool exact_points = false;
  [[nodiscard]] friend bool operator==(const FunctionBound&, const FunctionBound&) = default;
};

/// How derivatives at ties of max reductions are routed.
enum class TiePolicy : std::uint8_t { first, last, even };

/// The promises of a backend. The default is what any careful IEEE implementation keeps: any summation order or tree,
/// FMA or not, functions within one ulp, gradual underflow.
struct Contract {
  std::string name = "ieee";
  /// Functions per type of the arithmetic, f32 (that of f16 and bf16 too) or f64; a missing one has the default below.
  std::map<DType, std::map<Primitive, FunctionBound>> functions;
  FunctionBound default_function{1.0, 0, 0, false};
  /// Largest height of a summation tree as blocks of sequential sums joined by a tree: height(n) = min(n - 1, block +
  /// ceil(log2(n / block))); nothing means any tree, height n - 1.
  std::optional<std::int64_t> sum_block;
  bool flush_results = false;        ///< subnormal results may become zero (FTZ)
  bool flush_operands = false;       ///< subnormal operands may be read as zero (DAZ)
  bool reciprocal_division = false;  ///< a / b may be a · (1 / b)
  int product_operand_precision = 0; ///< operands of contractions rounded to this many bits (tf32: 11); 0 is not
  TiePolicy ties = TiePolicy::first;
  [[nodiscard]] friend bool operator==(const Contract&, const Contract&) = default;
};

/// The promise for a function in an element type: the listed one; else for sqrt correct rounding; else the default.
[[nodiscard]] FunctionBound function_bound(const Contract& contract, DType dtype, Primitive function);

/// The contract as one JSON object, every field present, and back; missing fields keep their defaults.
/// \throws SpecViolation on malformed JSON, an unknown key (with the nearest known one) or a value of the wrong kind.
[[nodiscard]] std::string to_json(const Contract& contract);
[[nodiscard]] Contract parse_contract(std::string_view json);

/// A shipped profile: `ieee` (any careful IEEE implementation) or `cpu` (the compiled CPU backend).
/// \throws SpecViolation naming the nearest profile.
[[nodiscard]] Contract contract_named(std::string_view name);

}  // namespace etalon::spec
