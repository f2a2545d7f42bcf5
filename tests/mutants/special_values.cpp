// NaN, infinities and what is done with them.
#include <array>
#include <limits>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

Expr number(double x) { return spec::binary64(x); }
constexpr double infinity = std::numeric_limits<double>::infinity();

void nan_never_found(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::is_nan)) return std::nullopt;
    return spec::boolean(false);
  });
}

void everything_finite(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::is_finite)) return std::nullopt;
    return spec::boolean(true);
  });
}

void infinity_of_one_sign(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::is_inf)) return std::nullopt;
    return call(Primitive::eq, e->args[0], number(infinity));
  });
}

void nan_counts_as_infinite(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::is_inf)) return std::nullopt;
    return call(Primitive::logical_not, call(Primitive::le, call(Primitive::abs, e->args[0]), number(3e38)));
  });
}

void zero_times_anything(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::mul) || is_closed(e)) return std::nullopt;
    const Expr zero = call(Primitive::logical_or, call(Primitive::eq, e->args[0], number(0)),
                           call(Primitive::eq, e->args[1], number(0)));
    return spec::select(zero, number(0), e);
  });
}

// if c then a else b becomes c*a + (1 - c)*b.
std::optional<Expr> blended(const Expr& e) {
  if (e.form() != Form::select || e.kind() != Kind::real) return std::nullopt;
  bool of_indices = false;
  spec::for_each(e->args[0], [&](const Expr& sub) {
    of_indices =
        of_indices || (sub.form() == Form::apply && !sub->args.empty() && sub->args[0].kind() == Kind::integer);
  });
  if (of_indices) return std::nullopt;
  const Expr chosen = call(Primitive::to_real, e->args[0]);
  return chosen * e->args[1] + (spec::decimal(1) - chosen) * e->args[2];
}

void branches_blended(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) { return blended(e); });
}

void masked_by_factor(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || (constant(e->args[1]) != 0.0 && constant(e->args[2]) != 0.0)) return std::nullopt;
    return blended(e);
  });
}

void root_of_negative_is_zero(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || is_closed(e)) return std::nullopt;
    return spec::select(call(Primitive::lt, e->args[0], number(0)), number(0), e);
  });
}

void logarithm_of_size(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if ((!e.is(Primitive::log) && !e.is(Primitive::log2)) || is_closed(e)) return std::nullopt;
    return call(e->primitive, call(Primitive::abs, e->args[0]));
  });
}

void division_by_zero_is_zero(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || is_closed(e->args[1])) return std::nullopt;
    return spec::select(call(Primitive::eq, e->args[1], number(0)), number(0), e);
  });
}

void divisor_kept_from_zero(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || is_closed(e->args[1])) return std::nullopt;
    return e->args[0] / (e->args[1] + spec::decimal(1, -12));
  });
}

void infinite_less_infinite_is_zero(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || is_closed(e)) return std::nullopt;
    return spec::select(call(Primitive::eq, e->args[0], e->args[1]), number(0), e);
  });
}

void bounds_swallow_nan(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || !is_real(e->args[0], Primitive::lt) || !is_closed(e->args[1])) return std::nullopt;
    return spec::select(call(Primitive::is_nan, e->args[0]->args[0]), e->args[1], e);
  });
}

constexpr std::array list{
    Mutant{"nan_never_found", "isnan is always false",
           "JAX 276, Paddle 13807: -ffast-math assumes that there is no NaN", "isnan", nan_never_found},
    Mutant{"everything_finite", "isfinite is always true", "-ffinite-math-only folds the test away", "isfinite",
           everything_finite},
    Mutant{"infinity_of_one_sign", "isinf misses -inf", "ONNX IsInf with detect_negative mapped the wrong way", "isinf",
           infinity_of_one_sign},
    Mutant{"nan_counts_as_infinite", "isinf holds for NaN and for large float64 numbers",
           "tests against a float32 constant", "isinf", nan_counts_as_infinite},
    Mutant{"zero_times_anything", "a product with 0 is 0, also of infinity",
           "sparse and zero-skipping kernels; BLAS with beta = 0", "mul,matmul", zero_times_anything},
    Mutant{"branches_blended", "a choice is a weighted sum of both branches",
           "PyTorch 18287, 52248, Burn 3727: NaN of the branch not taken leaks", "where,relu", branches_blended},
    Mutant{"masked_by_factor", "derivatives are masked by multiplication",
           "tinygrad 12409, PyTorch 68425: 0 times infinity in the gradient of where", "where,norm,max",
           masked_by_factor},
    Mutant{"root_of_negative_is_zero", "the root of a negative number is 0", "GPU drivers clamp the argument of sqrt",
           "sqrt", root_of_negative_is_zero},
    Mutant{"logarithm_of_size", "the logarithm takes the size of its argument", "shader log of negative arguments",
           "log,log2", logarithm_of_size},
    Mutant{"division_by_zero_is_zero", "a quotient by 0 is 0", "divide_no_nan used for every division in a converter",
           "div,reciprocal", division_by_zero_is_zero},
    Mutant{"divisor_kept_from_zero", "1e-12 is added to every divisor",
           "a guard against division by zero that changes small divisors", "div,norm,reciprocal",
           divisor_kept_from_zero},
    Mutant{"equal_differences_are_zero", "inf - inf is 0", "x - x simplified to 0 by an algebraic rewrite",
           "sub,softmax", infinite_less_infinite_is_zero},
    Mutant{"bounds_swallow_nan", "clamping turns NaN into the lower bound",
           "clamp by max and min of hardware that prefers numbers", "clamp", bounds_swallow_nan},
};

}  // namespace

std::span<const Mutant> special_values() { return list; }

}  // namespace etalon::mutants
