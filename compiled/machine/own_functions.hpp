/// \file
/// Functions that compiled code brings with it instead of calling a library's: one list of steps each, from which the processor's code
/// and kernels of a GPU are made, so that both have the same bits. A new one is a row here.
#pragma once

#include <array>
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

inline constexpr double per_log_2 = 0x1.715476p0;
inline constexpr double log_2_high = 0x1.62e400p-1;
inline constexpr double log_2_low = 0x1.7f7d1cp-20;
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
    {"square", mul, {"r", "r"}},
    {"e", fma, {"square", "q", "r"}},
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

}  // namespace function_steps

/// A function of single precision; the last step's result is its value.
struct OwnFunction {
  spec::Primitive primitive;
  std::span<const FunctionStep> steps;
};

inline constexpr std::array own_functions{
    OwnFunction{spec::Primitive::exp, function_steps::exp_f32},
    OwnFunction{spec::Primitive::tanh, function_steps::tanh_f32},
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
