/// \file
/// Functions that compiled code brings with it instead of calling a library's: one list of steps each, from which the processor's code
/// and kernels of a GPU are made, so that both have the same bits. A new one is a row here.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "compiled/machine/instructions.hpp"
#include "compiled/machine/function_step.hpp"
#include "spec/scalar.hpp"

namespace etalon::compiled {

namespace function_steps {

inline constexpr StepVerb add{StepForm::row, &instruction("vadd")};
inline constexpr StepVerb sub{StepForm::row, &instruction("vsub")};
inline constexpr StepVerb mul{StepForm::row, &instruction("vmul")};
inline constexpr StepVerb div{StepForm::row, &instruction("vdiv")};
inline constexpr StepVerb fma{StepForm::row, &instruction("vfma")};
inline constexpr StepVerb neg{StepForm::row, &instruction("vneg")};
inline constexpr StepVerb abs{StepForm::row, &instruction("vabs")};
inline constexpr StepVerb nearest{StepForm::row, &instruction("vround")};
inline constexpr StepVerb lesser{StepForm::lesser};
inline constexpr StepVerb greater{StepForm::greater};
inline constexpr StepVerb choose_below{StepForm::choose_below};
inline constexpr StepVerb keep_nan{StepForm::keep_nan};
inline constexpr StepVerb with_sign{StepForm::with_sign};
inline constexpr StepVerb scaled{StepForm::scaled};
inline constexpr StepVerb scaled_exactly{StepForm::scaled_exactly};
inline constexpr StepVerb exponent{StepForm::exponent};

inline constexpr double per_log_2 = 0x1.715476p0;
inline constexpr double log_2_high = 0x1.62e400p-1;
inline constexpr double log_2_low = 0x1.7f7d1cp-20;
/// The number of single precision that is nearest, and what it lacks.
inline constexpr double log_2_nearest = 0x1.62e43p-1;
inline constexpr double log_2_rest = -0x1.05c61p-29;
/// Added to a number of less than 2^22 and taken away again, it leaves the nearest whole one.
inline constexpr double rounds = 0x1.8p23;

/// The error is at most 0.894234 units in the last place (docs/contracts.md).
inline constexpr FunctionStep exp_f32[] = {
    // e^x is beyond the largest number, or less than half the smallest one. What is no number stays what it is.
    {"below", lesser, {89, "x"}},
    {"within", greater, {-104, "below"}},
    {"marked", fma, {"within", per_log_2, rounds}},
    {"n", sub, {"marked", rounds}},
    {"m", neg, {"n"}},
    {"most", fma, {"m", log_2_high, "within"}},
    {"r", fma, {"m", log_2_low, "most"}},
    // e^r = 1 + r·(1 + r·Q(r)), for |r| at most half the logarithm of 2; least largest error, 2^-28.2 of the result.
    {"e", fma, {0x1.6a2412p-10, "r", 0x1.1239f6p-7}},
    {"e", fma, {"e", "r", 0x1.5558f2p-5}},
    {"e", fma, {"e", "r", 0x1.555492p-3}},
    {"e", fma, {"e", "r", 0x1.fffffcp-2}},
    {"e", fma, {"e", "r", 1}},
    {"e", fma, {"e", "r", 1}},
    {"y", scaled, {"e", "n"}},
};
static_assert(is_well_formed(exp_f32));

/// The error is at most 0.949355 units in the last place (docs/contracts.md).
inline constexpr FunctionStep tanh_f32[] = {
    // x + x·z·P(z) with z = x², for x in [0, 1]; least largest error, 2^-31.3 of the result.
    {"size", abs, {"x"}},
    {"z", mul, {"size", "size"}},
    {"p", fma, {0x1.fd7c06p-14, "z", -0x1.b8ff70p-11}},
    {"p", fma, {"p", "z", 0x1.938472p-9}},
    {"p", fma, {"p", "z", -0x1.19a50ap-7}},
    {"p", fma, {"p", "z", 0x1.64ebc8p-6}},
    {"p", fma, {"p", "z", -0x1.b9fbdap-5}},
    {"p", fma, {"p", "z", 0x1.11105ep-3}},
    {"p", fma, {"p", "z", -0x1.555552p-2}},
    {"cube", mul, {"size", "z"}},
    {"small", fma, {"cube", "p", "size"}},
    // From 1 on 1 - 2/(e^2x + 1), from 10 on 1.
    {"within", lesser, {"size", 10}},
    {"twice", mul, {"within", 2}},
    {"turns", mul, {"twice", per_log_2}},
    {"n", nearest, {"turns"}},
    {"m", neg, {"n"}},
    {"most", fma, {"m", log_2_high, "twice"}},
    {"r", fma, {"m", log_2_low, "most"}},
    // e^r = 1 + r + r²·Q(r), for |r| at most half the logarithm of 2.
    {"q", fma, {0x1.6d7f5ep-10, "r", 0x1.1239a4p-7}},
    {"q", fma, {"q", "r", 0x1.5554a2p-5}},
    {"q", fma, {"q", "r", 0x1.55546ap-3}},
    {"q", fma, {"q", "r", 0.5}},
    {"r2", mul, {"r", "r"}},
    {"e", fma, {"r2", "q", "r"}},
    {"e", add, {"e", 1}},
    {"e", scaled_exactly, {"e", "n"}},
    {"e", add, {"e", 1}},
    {"rest", div, {2, "e"}},
    {"large", sub, {1, "rest"}},
    {"t", choose_below, {"size", 1, "small", "large"}},
    {"t", keep_nan, {"x", "t"}},
    {"y", with_sign, {"t", "x"}},
};
static_assert(is_well_formed(tanh_f32));

/// As SLEEF has it, so that nothing changed where its steps took the place of a call: at most 0.628299 units in the last place.
inline constexpr FunctionStep log_f32[] = {
    // x = m·2^k, m in [3/4, 3/2). A subnormal number is scaled before.
    {"large", mul, {"x", 0x1p64}},
    {"d", choose_below, {"x", 0x1p-126, "large", "x"}},
    {"third", mul, {"d", 0x1.555556p0}},
    {"k", exponent, {"third"}},
    {"back", neg, {"k"}},
    {"m", scaled_exactly, {"d", "back"}},
    {"less", sub, {"k", 64}},
    {"k", choose_below, {"x", 0x1p-126, "less", "k"}},
    // k·log 2 is s, with what rounding takes off it.
    {"s", mul, {log_2_nearest, "k"}},
    {"minus_s", neg, {"s"}},
    {"s_rest", fma, {log_2_nearest, "k", "minus_s"}},
    {"s_rest", fma, {log_2_rest, "k", "s_rest"}},
    // So is (m - 1)/(m + 1) f: the difference is exact, the sum is not.
    {"n", sub, {"m", 1}},
    {"q", add, {"m", 1}},
    {"v", sub, {"q", 1}},
    {"q_rest", sub, {"m", "v"}},
    {"t", div, {1, "q"}},
    {"f", mul, {"n", "t"}},
    {"minus_f", neg, {"f"}},
    {"u", fma, {"t", "n", "minus_f"}},
    {"minus_q", neg, {"q"}},
    {"w", fma, {"minus_q", "t", 1}},
    {"minus_q_rest", neg, {"q_rest"}},
    {"w", fma, {"minus_q_rest", "t", "w"}},
    {"f_rest", fma, {"f", "w", "u"}},
    // log m = 2f + f³·P(f²).
    {"z", mul, {"f", "f"}},
    {"p", fma, {0x1.35feb8p-2, "z", 0x1.993394p-2}},
    {"p", fma, {"p", "z", 0x1.5555b4p-1}},
    {"f2", mul, {"f", 2}},
    {"f2_rest", mul, {"f_rest", 2}},
    {"a", add, {"s", "f2"}},
    {"a_rest", sub, {"s", "a"}},
    {"a_rest", add, {"a_rest", "f2"}},
    {"a_rest", add, {"a_rest", "s_rest"}},
    {"a_rest", add, {"a_rest", "f2_rest"}},
    {"cube", mul, {"z", "f"}},
    {"c", mul, {"cube", "p"}},
    {"y", add, {"a", "c"}},
    {"y_rest", sub, {"a", "y"}},
    {"y_rest", add, {"y_rest", "c"}},
    {"y_rest", add, {"y_rest", "a_rest"}},
    {"y", add, {"y", "y_rest"}},
    // Of infinity, of 0, and of what has no logarithm.
    {"y", choose_below, {std::numeric_limits<float>::max(), "x", "x", "y"}},
    {"size", abs, {"x"}},
    {"other", choose_below, {"size", std::numeric_limits<float>::denorm_min(), -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}},
    {"y", choose_below, {0.0, "x", "y", "other"}},
};
static_assert(is_well_formed(log_f32));

}  // namespace function_steps

/// A function of single precision; the last step's result is its value.
struct OwnFunction {
  spec::Primitive primitive;
  std::span<const FunctionStep> steps;
};

inline constexpr std::array own_functions{
    OwnFunction{spec::Primitive::exp, function_steps::exp_f32},
    OwnFunction{spec::Primitive::tanh, function_steps::tanh_f32},
    OwnFunction{spec::Primitive::log, function_steps::log_f32},
};

/// \returns null where the function is a library's
[[nodiscard]] constexpr const OwnFunction* own_function(spec::Primitive primitive, DType type) {
  if (type != DType::f32) return nullptr;
  const auto found = std::ranges::find(own_functions, primitive, &OwnFunction::primitive);
  return found == own_functions.end() ? nullptr : &*found;
}

/// Whether the machine has all its instructions. One without fused multiplication and addition takes the library's.
[[nodiscard]] constexpr bool is_had_by(const OwnFunction& function, const Machine& machine) {
  return std::ranges::all_of(function.steps, [&](const FunctionStep& s) { return s.verb.instruction == nullptr || is_had_by(*s.verb.instruction, machine); });
}

}  // namespace etalon::compiled
