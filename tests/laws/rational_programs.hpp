/// \file
/// Random programs whose values and derivatives are rational, and rational points for them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "conformance/draw.hpp"
#include "reference/array.hpp"
#include "reference/number.hpp"
#include "spec/program/program.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

using Numbers = std::vector<reference::Array<reference::Rational>>;

/// A program, its system, and a point where it and its first and second derivatives can be evaluated over rationals.
struct RationalProgram {
  spec::Program program;
  spec::System system;
  Numbers point;
  std::vector<std::size_t> wrt;  ///< the real inputs
};

/// Nothing when the program drawn has no real input or output, or leaves the rationals.
[[nodiscard]] std::optional<RationalProgram> draw_rational_program(std::size_t calls, conformance::Draw& draw);

/// Random multiples of 1/8 in [-2, 2]; integers in [0, 3]; truth values.
[[nodiscard]] reference::Array<reference::Rational> random_numbers(Kind kind, const Dims& dims, conformance::Draw& draw);
/// One per `wrt` input.
[[nodiscard]] Numbers random_tangents(const RationalProgram& p, conformance::Draw& draw);
/// One per real output.
[[nodiscard]] Numbers random_cotangents(const RationalProgram& p, conformance::Draw& draw);

/// Tangents of the real outputs.
[[nodiscard]] Numbers tangents_of(const RationalProgram& p, const Numbers& tangents);
/// Cotangents of the `wrt` inputs.
[[nodiscard]] Numbers cotangents_of(const RationalProgram& p, const Numbers& cotangents);

/// As `tangents_of`, carried from call to call by each call's own JVP.
[[nodiscard]] Numbers tangents_call_by_call(const RationalProgram& p, const Numbers& tangents);
/// The second derivative along two directions: the tangents along `second` of the tangents along `first`.
[[nodiscard]] Numbers second_tangents_of(const RationalProgram& p, const Numbers& first, const Numbers& second);

[[nodiscard]] Numbers combine(const reference::Rational& s, const Numbers& a, const reference::Rational& t, const Numbers& b);
[[nodiscard]] reference::Rational inner(const Numbers& a, const Numbers& b);
/// How many real elements are not 0.
[[nodiscard]] std::size_t nonzero(const Numbers& a);
/// Whether all elements are equal, exactly; false for different shapes.
[[nodiscard]] bool equal(const Numbers& a, const Numbers& b);

}  // namespace etalon::test
