// The formats in which numbers are stored, on the way in, on the way out and as constants.
#include <array>
#include <cmath>
#include <limits>

#include "conformance/values.hpp"
#include "spec/half.hpp"
#include "tests/mutants/answers.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

using spec::Answer;
using spec::Request;

using Change = double (*)(double, DType);

Answer with_results(const Request& request, const Sound& sound, Change change) {
  Answer answer = sound(request);
  if (spec::Numbers* numbers = numbers_of(answer)) change_reals(*numbers, change);
  return answer;
}

double through_bf16(double x, DType) { return spec::half_value(spec::nearest_half(x, DType::bf16), DType::bf16); }
double through_f16(double x, DType) { return spec::half_value(spec::nearest_half(x, DType::f16), DType::f16); }

Answer results_through_bf16(const Request& r, const Sound& sound, Memory&) {
  return with_results(r, sound, through_bf16);
}
Answer results_through_f16(const Request& r, const Sound& sound, Memory&) {
  return with_results(r, sound, through_f16);
}

Answer double_through_single(const Request& r, const Sound& sound, Memory&) {
  return with_results(
      r, sound, [](double x, DType d) { return d == DType::f64 ? static_cast<double>(static_cast<float>(x)) : x; });
}

Answer last_bit_lost(const Request& r, const Sound& sound, Memory&) {
  return with_results(r, sound, [](double x, DType d) {
    if (x == 0 || !std::isfinite(x)) return x;
    int exponent = 0;
    const double m = std::frexp(x, &exponent);
    const int bits = spec::format_of(d).precision - 1;
    return std::ldexp(std::trunc(std::ldexp(m, bits)), exponent - bits);
  });
}

double flushed(double x, DType d) {
  return std::fabs(x) < std::ldexp(1.0, spec::format_of(d).emin) ? std::copysign(0.0, x) : x;
}

Answer flushed_results(const Request& r, const Sound& sound, Memory&) { return with_results(r, sound, flushed); }

Answer flushed_operands(const Request& r, const Sound& sound, Memory&) {
  Request changed = r;
  change_operands(changed, flushed);
  return sound(changed);
}

double largest(DType d) {
  const spec::Format f = spec::format_of(d);
  return std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.emax);
}

Answer infinities_saturate(const Request& r, const Sound& sound, Memory&) {
  return with_results(r, sound, [](double x, DType d) { return std::isinf(x) ? std::copysign(largest(d), x) : x; });
}

Answer nan_becomes_zero(const Request& r, const Sound& sound, Memory&) {
  return with_results(r, sound, [](double x, DType) { return std::isnan(x) ? 0.0 : x; });
}

Answer integers_through_single(const Request& r, const Sound& sound, Memory&) {
  Request changed = r;
  for (HostTensor& t : changed.inputs) {
    if (kind_of(t.dtype) != Kind::integer) continue;
    for (std::size_t i = 0; i < count(t); ++i)
      conformance::set_element(t, i, static_cast<double>(static_cast<float>(conformance::element(t, i))));
  }
  return sound(changed);
}

// One number of a closed expression, where a host of the wrong precision would have computed it.
void rewrite_closed(System& system, const Rewrite& rewrite) { rewrite_values(system, rewrite); }

void constants_in_single(System& system, spec::Mode) {
  if (!is_double(system)) return;
  rewrite_closed(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::number || e.kind() != Kind::real) return std::nullopt;
    const double value = *constant(e);
    const double single = static_cast<double>(static_cast<float>(value));
    if (single == value || std::isnan(value)) return std::nullopt;
    return spec::binary64(single);
  });
}

void hyperparameters_in_single(System& system, spec::Mode) {
  rewrite_closed(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || !is_closed(e)) return std::nullopt;
    const auto a = constant(e->args[0]), b = constant(e->args[1]);
    if (!a || !b) return std::nullopt;
    return spec::binary64(static_cast<double>(static_cast<float>(*a) - static_cast<float>(*b)));
  });
}

void hyperparameters_in_half(System& system, spec::Mode) {
  rewrite_closed(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::number || e.kind() != Kind::real) return std::nullopt;
    const double value = *constant(e);
    const double half = through_bf16(value, DType::f32);
    if (half == value || std::isnan(value)) return std::nullopt;
    return spec::binary64(half);
  });
}

void counter_in_bf16(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::to_real) || !reads_something(e->args[0]) || e->args[0].kind() != Kind::integer)
      return std::nullopt;
    return upper_bits(e, 8, p);
  });
}

Answer state_in_bf16(const Request& r, const Sound& sound, Memory&) {
  Answer answer = sound(r);
  spec::Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || numbers->outputs.empty()) return answer;
  change_reals(numbers->outputs.front(), through_bf16);
  return answer;
}

constexpr std::array list{
    Mutant{"results_through_bf16", "float32 results pass through bfloat16",
           "XLA 47329: a pass that casts results chose the wrong type", "add,matmul,exp", nullptr, nullptr, nullptr,
           results_through_bf16},
    Mutant{"results_through_f16", "float32 results pass through float16 and overflow at 65504",
           "TensorRT and CoreML run float32 models in half precision unless told otherwise", "mul,square,matmul",
           nullptr, nullptr, nullptr, results_through_f16},
    Mutant{"double_through_single", "float64 results pass through float32",
           "JAX without x64, Metal: float64 accepted and silently computed in float32", "add,sin,matmul", nullptr,
           nullptr, nullptr, double_through_single},
    Mutant{"last_bit_lost", "results are cut to one bit less",
           "additions of early GPUs truncated instead of rounding to nearest", "add,mul,sqrt", nullptr, nullptr,
           nullptr, last_bit_lost},
    Mutant{"flushed_results", "subnormal results become 0",
           "flush-to-zero left switched on by a library loaded into the process", "mul,scale,sub", nullptr, nullptr,
           nullptr, flushed_results},
    Mutant{"flushed_operands", "subnormal operands count as 0",
           "denormals-are-zero mode of vector units and of GPUs' fast-math", "add,sign,where", nullptr, nullptr,
           nullptr, flushed_operands},
    Mutant{"infinities_saturate", "infinite results become the largest number",
           "saturating arithmetic of NPUs and of 8-bit formats", "exp,reciprocal,sum", nullptr, nullptr, nullptr,
           infinities_saturate},
    Mutant{"nan_becomes_zero", "NaN results become 0", "a nan_to_num left in a kernel to keep a training run alive",
           "log,sqrt,div", nullptr, nullptr, nullptr, nan_becomes_zero},
    Mutant{"integers_through_single", "integers pass through float32 and lose what is beyond 2^24",
           "runtimes that hold every tensor as float32 changed large indices and seeds", "uniform,dropout,scatter_add",
           nullptr, nullptr, nullptr, integers_through_single},
    Mutant{"constants_in_single", "constants of float64 programs are float32 numbers", "0.1f written in double kernels",
           "adam,gelu,scale", constants_in_single},
    Mutant{"hyperparameters_in_single", "1 - beta is computed in float32",
           "PyTorch's fused and foreach optimizers differed in where 1 - beta2 was rounded", "adam,adamw,lion",
           hyperparameters_in_single},
    Mutant{"hyperparameters_in_half", "attributes have 8 bits", "learning rates cast to the parameters' bfloat16",
           "sgd,scale,leaky_relu", hyperparameters_in_half},
    Mutant{"counter_in_bf16", "the step count has 8 bits and stops at 256",
           "step counters stored in the parameters' type stood still in bfloat16 training",
           "adam,warmup_schedule,radam", counter_in_bf16},
    Mutant{"state_in_bf16", "the new parameter has 8 bits", "updates lost when master weights were kept in bfloat16",
           "sgd,adamw,lion", nullptr, nullptr, nullptr, state_in_bf16},
};

}  // namespace

std::span<const Mutant> formats() { return list; }

}  // namespace etalon::mutants
