/// \file
/// The lines of a contraction in tiles beside its schedule (schedule_lines.hpp). Each is read as a whole. \throws SpecViolation as the
/// reader of lines does
#pragma once

#include "compiled/ir/known_names.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/text_lines.hpp"

namespace etalon::compiled::loops {

/// ``only tiles where CONDITION holds somewhere``
[[nodiscard]] Expr read_wanted(const TextLine& text, const KnownNames& known);

/// ``each tile fetches its share of BYTES bytes from ELEMENT on, block NUMBER of BLOCKS``
[[nodiscard]] FetchAhead read_ahead(const TextLine& text, const KnownNames& known);

/// ``r1 = sum over k'2 < 64 of ELEMENT * ELEMENT where … unless zero ELEMENT, each added with one rounding``: what the tiles add up. The
/// loops of the sum and the register are known from there on.
void read_sum(Contract& contract, const TextLine& text, KnownNames& known);

}  // namespace etalon::compiled::loops
