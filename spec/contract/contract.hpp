/// \file
/// What a backend promises of its arithmetic; the bounds are derived from it and from nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// |computed - exact| <= (k0 + k1·|x|)·ulp(exact) + absolute, where x is y·log(base) for a power and 0 for an angle;
/// with `exact_points`, the points where the exact result is a small integer for every format (exp 0, log 1, tanh 0,
/// erf 0, …) are exact. k0 = 0.5 means correctly rounded.
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

/// What the largest or smallest of several values is when one of them is NaN: either, NaN, or that of the others.
enum class NanPolicy : std::uint8_t { free, propagate, ignore };

/// How a number is made to fit.
enum class RoundingMode : std::uint8_t { nearest, toward_zero };

/// Trees in which n terms are added: `lanes` partial sums side by side, each of blocks of `block` terms in sequence
/// whose sums are joined by a tree, the lanes joined by a tree. Without a block a lane is one sequence.
struct SumTree {
  std::optional<std::int64_t> block;
  std::int64_t lanes = 1;
  /// The most additions that any of n terms goes through; n - 1 when nothing is promised.
  [[nodiscard]] std::int64_t height(std::int64_t n) const;
  [[nodiscard]] bool promises() const { return block.has_value() || lanes > 1; }
  [[nodiscard]] friend bool operator==(const SumTree&, const SumTree&) = default;
};

/// In which type the numbers between loading and storing 16-bit elements are held: its own 16 bits, or f32.
struct HalfArithmetic {
  bool own_temporaries = false;
  bool own_accumulators = false;
  [[nodiscard]] friend bool operator==(const HalfArithmetic&, const HalfArithmetic&) = default;
};

/// The promises of a backend. The default is what any careful IEEE implementation keeps: any summation order or tree,
/// FMA or not, functions within one ulp, gradual underflow. docs/contracts.md tells of each field.
struct Contract {
  std::string name = "ieee";
  /// Functions per type of the arithmetic (f32 is that of f16 and bf16 unless `halves` says otherwise); a missing one
  /// has the default below. `div` is the quotient, for which k0 alone counts.
  std::map<DType, std::map<Primitive, FunctionBound>> functions;
  FunctionBound default_function{1.0, 0, 0, false};
  SumTree sums;                      ///< of sums whose terms are not products
  SumTree contractions;              ///< of sums of products
  RoundingMode accumulation = RoundingMode::nearest;  ///< of every addition in a sum
  std::map<DType, HalfArithmetic> halves;             ///< of f16 and bf16; f32 where nothing is said
  bool flush_results = false;        ///< subnormal results may become zero (FTZ)
  bool flush_operands = false;       ///< subnormal operands may be read as zero (DAZ)
  bool reciprocal_division = false;  ///< a / b may be a · (1 / b)
  int product_operand_precision = 0; ///< operands of contractions rounded to this many bits (tf32: 11); 0 is not
  RoundingMode product_operand_rounding = RoundingMode::nearest;
  TiePolicy ties = TiePolicy::first;
  NanPolicy nan_of_extrema = NanPolicy::free;
  [[nodiscard]] friend bool operator==(const Contract&, const Contract&) = default;
};

/// The promise for a function in an element type: the listed one; else for sqrt and div correct rounding; else the
/// default.
[[nodiscard]] FunctionBound function_bound(const Contract& contract, DType dtype, Primitive function);

/// How f16 or bf16 is computed with.
[[nodiscard]] HalfArithmetic half_arithmetic(const Contract& contract, DType dtype);

/// The contract as one JSON object, every field present, and back; missing fields are those of the contract that it is `like`, or keep their defaults; `about` and
/// `measured` are for readers and are not kept.
/// \throws SpecViolation with the first of `contract_errors`.
[[nodiscard]] std::string to_json(const Contract& contract);
[[nodiscard]] Contract parse_contract(std::string_view json);
/// The same where another contract holds that the text says nothing of, instead of the one that it is `like`.
[[nodiscard]] Contract contract_on(Contract like, std::string_view json);

/// What is wrong with the text of a contract, a line each: where, what was expected, what was found. Empty when it is
/// one.
[[nodiscard]] std::vector<std::string> contract_errors(std::string_view json);

/// The JSON Schema (draft 2020-12) of contracts, made from the same table as the parser.
[[nodiscard]] std::string contract_schema();

/// The table of the fields in docs/contracts.md.
[[nodiscard]] std::string contract_fields_table();

/// What the contract promises, a sentence each.
[[nodiscard]] std::vector<std::string> promises_of(const Contract& contract);

/// The names of the shipped profiles, sorted.
[[nodiscard]] std::vector<std::string> contract_names();
/// The JSON text of a shipped profile; spec/contract/profiles holds them.
/// \throws SpecViolation naming the nearest profile.
[[nodiscard]] std::string_view contract_text(std::string_view name);
/// A shipped profile: `ieee` (any careful IEEE implementation), `cpu` (the compiled CPU backend), and others.
/// \throws SpecViolation naming the nearest profile.
[[nodiscard]] Contract contract_named(std::string_view name);

}  // namespace etalon::spec
