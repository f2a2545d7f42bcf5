// The precision in which products are formed and sums are kept.
#include <array>
#include <cmath>

#include "spec/system/naming.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

using Product = std::function<Expr(const Expr&, const Expr&)>;

void rewrite_products(System& system, bool derivatives_alone, const Product& product) {
  const Rewrite in_sums = [&](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum)) return std::nullopt;
    const Expr body = rewritten(e->args[1], [&](const Expr& sub) -> std::optional<Expr> {
      if (!is_real(sub, Primitive::mul)) return std::nullopt;
      return product(sub->args[0], sub->args[1]);
    });
    return reduced(e, e->binders, e->args[0], body);
  };
  derivatives_alone ? rewrite_derivatives(system, in_sums) : rewrite_values(system, in_sums);
}

Product rounded_operands(int bits, int precision) {
  return [=](const Expr& a, const Expr& b) { return upper_bits(a, bits, precision) * upper_bits(b, bits, precision); };
}

void tf32_products(System& system, spec::Mode) {
  rewrite_products(system, false, rounded_operands(11, precision_of(system)));
}

void tf32_in_the_backward_pass(System& system, spec::Mode) {
  rewrite_products(system, true, rounded_operands(11, precision_of(system)));
}

void bf16_products(System& system, spec::Mode) {
  rewrite_products(system, false, rounded_operands(8, precision_of(system)));
}

// Each operand is the sum of two bf16 numbers; the product of the lower ones is left out.
void three_pass_products(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_products(system, false, [p](const Expr& a, const Expr& b) {
    const Expr a_high = upper_bits(a, 8, p), b_high = upper_bits(b, 8, p);
    const Expr a_low = upper_bits(a - a_high, 8, p), b_low = upper_bits(b - b_high, 8, p);
    return a_high * b_high + (a_high * b_low + a_low * b_high);
  });
}

void one_operand_rounded(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_products(system, false, [p](const Expr& a, const Expr& b) { return upper_bits(a, 11, p) * b; });
}

// The sum in blocks of four, each partial sum stored with 11 bits.
void split_k_partials(System& system, spec::Mode) {
  constexpr std::int64_t block = 4;
  const int p = precision_of(system);
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum) || e.kind() != Kind::real || e->binders.empty()) return std::nullopt;
    const spec::Binder all = e->binders.back();
    if (all.extent <= block) return std::nullopt;
    std::vector<spec::Binder> outer(e->binders.begin(), e->binders.end() - 1);
    outer.push_back(system.bind("block", (all.extent + block - 1) / block));
    const spec::Binder inner = system.bind(all.name, block);
    const Expr index = spec::integer(block) * spec::variable(outer.back()) + spec::variable(inner);
    const spec::Substitution by{{all.variable, index}};
    const Expr inside = call(Primitive::le, index, spec::integer(all.extent - 1));
    const Expr guard = inside && spec::substitute(e->args[0], by);
    const Expr partial = spec::reduce(Reduction::sum, {inner}, guard, spec::substitute(e->args[1], by));
    return spec::reduce(Reduction::sum, outer, spec::boolean(true), upper_bits(partial, 11, p));
  });
}

// t[…] = sum[k] b becomes a[…, k] = round(a[…, k - 1] + b) in `bits` bits, one step after the other.
void accumulate_stepwise(System& system, const std::function<Expr(const Expr&)>& stored) {
  spec::name_reductions(system, 0, spec::Naming::every);
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    const spec::Equation equation = system.equations[i];
    const Expr& e = equation.value;
    if (!is_reduce(e, Reduction::sum) || e.kind() != Kind::real || e->binders.size() != 1) continue;
    const std::int64_t steps = e->binders[0].extent;
    if (steps < 2 || equation.binders.size() + 1 >= Dims::max_rank) continue;
    Dims dims;
    for (const spec::Binder& b : equation.binders) dims.push_back(b.extent);
    dims.push_back(steps);
    const spec::TensorInfo& info = system[equation.target];
    const spec::TensorId partial = system.add_tensor(info.name + ".partial", info.dtype, dims);
    const std::vector<spec::Binder> fresh = system.bind_all(partial);
    spec::Substitution by{{e->binders[0].variable, spec::variable(fresh.back())}};
    for (std::size_t b = 0; b < equation.binders.size(); ++b)
      by[equation.binders[b].variable] = spec::variable(fresh[b]);
    std::vector<Expr> earlier = spec::variables(fresh);
    earlier.back() = earlier.back() - spec::integer(1);
    const Expr started = call(Primitive::le, spec::integer(0), earlier.back());
    const Expr before = spec::select(started, system.at(partial, earlier), spec::decimal(0));
    const Expr term =
        spec::select(spec::substitute(e->args[0], by), spec::substitute(e->args[1], by), spec::decimal(0));
    std::vector<Expr> last = spec::variables(equation.binders);
    last.push_back(spec::integer(steps - 1));
    system.equations[i].value = system.at(partial, last);
    spec::Equation running;
    running.target = partial;
    running.binders = fresh;
    running.place = spec::variables(fresh);
    running.value = stored(before + term);
    running.origin = equation.origin;
    system.equations.insert(system.equations.begin() + static_cast<std::ptrdiff_t>(i), running);
    ++i;
  }
}

void bf16_accumulator(System& system, spec::Mode) {
  const int p = precision_of(system);
  accumulate_stepwise(system, [p](const Expr& e) { return upper_bits(e, 8, p); });
}

void integer_accumulator(System& system, spec::Mode) {
  accumulate_stepwise(system, [](const Expr& e) {
    const Expr scaled = e * spec::decimal(65536);
    return call(Primitive::floor, scaled + spec::decimal(5, -1)) / spec::decimal(65536);
  });
}

void double_sum_in_single(System& system, spec::Mode) {
  if (!is_double(system)) return;
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum) || e.kind() != Kind::real) return std::nullopt;
    return upper_bits(e, 24, 53);
  });
}

void division_by_reciprocal(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || is_closed(e)) return std::nullopt;
    return e->args[0] * (spec::decimal(1) / e->args[1]);
  });
}

void estimated_reciprocal(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_values(system, [p](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || is_closed(e)) return std::nullopt;
    return e->args[0] * upper_bits(spec::decimal(1) / e->args[1], 12, p);
  });
}

void estimated_root(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_values(system, [p](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || is_closed(e)) return std::nullopt;
    return upper_bits(e, 22, p);
  });
}

// What the reverse pass keeps of the forward pass is stored with 11 bits.
void saved_values_in_half(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || e.kind() != Kind::real || is_derivative(system, e->tensor)) return std::nullopt;
    const bool seed = is_input(system, e->tensor) && is_derivative(system, e->tensor);
    if (seed || is_input(system, e->tensor)) return std::nullopt;
    return upper_bits(e, 11, p);
  });
}

void squares_by_high_parts(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_values(system, [p](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::mul) || !(e->args[0] == e->args[1]) || is_closed(e)) return std::nullopt;
    const Expr high = upper_bits(e->args[0], p / 2, p);
    return high * high + spec::decimal(2) * (high * (e->args[0] - high));
  });
}

constexpr std::array list{
    Mutant{"tf32_products", "operands of products in sums are rounded to 11 bits",
           "PyTorch 53635, 67384, TensorFlow 127346: TF32 by default on Ampere, 1024.5 became 1025",
           "matmul,linear,conv2d", tf32_products},
    Mutant{"tf32_in_the_backward_pass", "products are rounded to 11 bits in derivatives alone",
           "PyTorch 75778: the switches for TF32 did not reach the backward convolutions", "matmul,linear,conv1d",
           tf32_in_the_backward_pass},
    Mutant{"bf16_products", "operands of products in sums are rounded to 8 bits",
           "default matmul precision of TPUs, reported again and again as wrong results by users of JAX",
           "matmul,dot,conv1d", bf16_products},
    Mutant{"three_pass_products", "products are put together from parts of 8 bits, without the smallest",
           "the three-pass product of XLA sold as float32 until a six-pass one was added", "matmul,dot,linear",
           three_pass_products},
    Mutant{"one_operand_rounded", "the first operand of products in sums has 11 bits",
           "MLX 3860: mixed precision kernels chosen when only weights were to be rounded", "matmul,linear,dot",
           one_operand_rounded},
    Mutant{"split_k_partials", "partial sums of blocks are stored with 11 bits",
           "split-K matrix products that reduce their blocks in half precision", "matmul,sum,dot", split_k_partials},
    Mutant{"bf16_accumulator", "a running sum is kept with 8 bits and stops growing at 256",
           "ml_dtypes 63, MLX 3909, Candle 3718, TensorFlow 27544: sums of bfloat16 saturate", "sum,mean,dot",
           bf16_accumulator},
    Mutant{"fixed_point_accumulator", "a running sum is kept in multiples of 2^-16",
           "deterministic sums by integers of a fixed scale, which suits no other scale of the data", "sum,dot,mean",
           integer_accumulator},
    Mutant{"double_sum_in_single", "sums of float64 are stored as float32",
           "accumulation type derived from the wrong operand, or devices without float64 that pretend", "sum,mean,dot",
           double_sum_in_single},
    Mutant{"division_by_reciprocal", "a/b is a times the rounded 1/b",
           "-prec-div=false and fast-math builds of CUDA kernels", "div,mean,softmax", division_by_reciprocal},
    Mutant{"estimated_reciprocal", "a/b is a times an estimate of 1/b with 12 bits",
           "SIMD estimate instructions used without the Newton step", "div,reciprocal,layer_norm",
           estimated_reciprocal},
    Mutant{"estimated_root", "square roots have 22 bits",
           "approximate square root instructions chosen by fast-math flags", "sqrt,norm,rms_norm", estimated_root},
    Mutant{"saved_values_in_half", "what the forward pass saves for the reverse pass has 11 bits",
           "activation compression switched on for layers that were to stay exact", "exp,softmax,layer_norm,lstm_cell",
           saved_values_in_half},
    Mutant{"squares_by_high_parts", "the square of the lower half of the significand is left out",
           "double-single multiplication on devices without float64 dropped the low product", "square,norm,mse",
           squares_by_high_parts},
};

}  // namespace

std::span<const Mutant> products() { return list; }

}  // namespace etalon::mutants
