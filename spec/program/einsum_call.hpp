/// \file
/// Calls of `einsum` in programs: the specification becomes a definition of the program's own (docs/einsum.md).
#pragma once

#include "spec/program/program.hpp"

namespace etalon::spec {

/// Where the call names `einsum` and has the attribute `spec`: adds the definition that `spec`, `semiring` and `captures`
/// stand for to the program, once, and calls that.
/// \throws SpecViolation
void translate_einsum_call(Program& program, Call& call);

}  // namespace etalon::spec
