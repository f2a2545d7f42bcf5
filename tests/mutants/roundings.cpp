// Whole numbers, signs, comparisons and casts.
#include <array>
#include <cmath>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

using Formula = std::function<Expr(const Expr&)>;

void rewrite_function(System& system, Primitive function, const Formula& formula) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, function) || is_closed(e)) return std::nullopt;
    return formula(e);
  });
}

Expr number(double x) { return spec::binary64(x); }

void round_half_away(System& system, spec::Mode) {
  rewrite_function(system, Primitive::round, [](const Expr& e) {
    const Expr& x = e->args[0];
    return call(Primitive::sign, x) * call(Primitive::floor, call(Primitive::abs, x) + number(0.5));
  });
}

void floor_by_truncation(System& system, spec::Mode) {
  rewrite_function(system, Primitive::floor, [](const Expr& e) { return call(Primitive::trunc, e->args[0]); });
}

void ceil_by_next(System& system, spec::Mode) {
  rewrite_function(system, Primitive::ceil,
                   [](const Expr& e) { return call(Primitive::floor, e->args[0]) + number(1); });
}

void whole_part_by_integer(System& system, spec::Mode) {
  rewrite_function(system, Primitive::trunc, [](const Expr& e) {
    const Expr limited =
        call(Primitive::minimum, call(Primitive::maximum, e->args[0], number(-2147483648.0)), number(2147483647.0));
    return call(Primitive::trunc, limited);
  });
}

void remainder_by_truncation(System& system, spec::Mode) {
  rewrite_function(system, Primitive::modulo, [](const Expr& e) {
    return e->args[0] - call(Primitive::trunc, e->args[0] / e->args[1]) * e->args[1];
  });
}

void remainder_by_quotient(System& system, spec::Mode) {
  rewrite_function(system, Primitive::modulo, [](const Expr& e) {
    return e->args[0] - call(Primitive::floor, e->args[0] / e->args[1]) * e->args[1];
  });
}

void cast_rounds(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::to_integer)) return std::nullopt;
    return call(Primitive::to_integer, call(Primitive::round, e->args[0]));
  });
}

void sign_of_zero_is_one(System& system, spec::Mode) {
  rewrite_function(system, Primitive::sign, [](const Expr& e) {
    return spec::select(call(Primitive::ge, e->args[0], number(0)), number(1), number(-1));
  });
}

void sign_of_nan_is_zero(System& system, spec::Mode) {
  rewrite_function(system, Primitive::sign,
                   [](const Expr& e) { return spec::select(call(Primitive::is_nan, e->args[0]), number(0), e); });
}

void equal_within_tolerance(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::eq) && !is_real(e, Primitive::ne)) return std::nullopt;
    const Expr near = call(Primitive::le, call(Primitive::abs, e->args[0] - e->args[1]), number(1e-6));
    return e.is(Primitive::eq) ? near : call(Primitive::logical_not, near);
  });
}

void unequal_misses_nan(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::ne)) return std::nullopt;
    return call(Primitive::logical_or, call(Primitive::lt, e->args[0], e->args[1]),
                call(Primitive::gt, e->args[0], e->args[1]));
  });
}

void strict_for_equal(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_real(e, Primitive::ge)) return spec::apply(Primitive::gt, e->args);
    if (is_real(e, Primitive::le)) return spec::apply(Primitive::lt, e->args);
    return std::nullopt;
  });
}

void not_below_is_above(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || e->args[0].form() != Form::apply || e->args[0]->args.size() != 2)
      return std::nullopt;
    const Expr& c = e->args[0];
    if (is_real(c, Primitive::le))
      return spec::select(call(Primitive::gt, c->args[0], c->args[1]), e->args[2], e->args[1]);
    if (is_real(c, Primitive::lt))
      return spec::select(call(Primitive::ge, c->args[0], c->args[1]), e->args[2], e->args[1]);
    if (is_real(c, Primitive::gt))
      return spec::select(call(Primitive::le, c->args[0], c->args[1]), e->args[2], e->args[1]);
    return std::nullopt;
  });
}

void threshold_one_lower(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::apply || e->args.size() != 2 || !is_real(e, e->primitive)) return std::nullopt;
    if (!e.is(Primitive::gt) && !e.is(Primitive::le)) return std::nullopt;
    const auto threshold = constant(e->args[1]);
    if (!threshold || *threshold < 1) return std::nullopt;
    return call(e->primitive, e->args[0], number(*threshold - 1));
  });
}

constexpr std::array list{
    Mutant{"round_half_away", "halves are rounded away from 0", "C's round() taken for ties to even; ONNX Round",
           "round", round_half_away},
    Mutant{"floor_by_truncation", "floor cuts towards 0", "integer casts used as floor", "floor,floor_divide",
           floor_by_truncation},
    Mutant{"ceil_by_next", "ceil of a whole number is the next one", "floor + 1 taken for ceil", "ceil", ceil_by_next},
    Mutant{"whole_part_by_integer", "trunc passes through a 32-bit integer",
           "casts to int and back wrapped or saturated for large numbers", "trunc", whole_part_by_integer},
    Mutant{"remainder_by_truncation", "the remainder has the sign of the dividend",
           "MLX 4119, Numba 8574, Pythran 1103: fmod for mod", "remainder", remainder_by_truncation},
    Mutant{"remainder_by_quotient", "the remainder is what a rounded quotient leaves",
           "NumPy 6127: a - floor(a/b) b loses all digits for large quotients", "remainder", remainder_by_quotient},
    Mutant{"cast_rounds", "a real becomes the nearest integer", "cvtps2dq chosen where cvttps2dq was meant", "cast",
           cast_rounds},
    Mutant{"sign_of_zero_is_one", "the sign of 0 is 1", "sign by copying the sign bit", "sign,lion,abs",
           sign_of_zero_is_one},
    Mutant{"sign_of_nan_is_zero", "the sign of NaN is 0", "(x > 0) - (x < 0) swallows NaN; WebGL and NumPy differed",
           "sign", sign_of_nan_is_zero},
    Mutant{"equal_within_tolerance", "numbers within 1e-6 are equal", "shader compilers that compare with an epsilon",
           "eq,ne", equal_within_tolerance},
    Mutant{"unequal_misses_nan", "NaN is not unequal to itself", "fast-math turns != into < or >", "ne",
           unequal_misses_nan},
    Mutant{"strict_for_equal", "comparisons are strict where they should not be", "boundary tests off by the equality",
           "ge,le", strict_for_equal},
    Mutant{"nan_takes_other_branch", "a condition is inverted without regard to NaN",
           "XNNPACK and cuDNN rectified NaN to 0: max(x, 0) by a comparison the other way round", "relu,hinge,clamp",
           not_below_is_above},
    Mutant{"threshold_one_lower", "a threshold is one lower",
           "RAdam rectified from 4 on in one framework and from 5 on in another", "radam", threshold_one_lower},
};

}  // namespace

std::span<const Mutant> roundings() { return list; }

}  // namespace etalon::mutants
