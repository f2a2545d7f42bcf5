/// \file
/// The other ways in which a definition lets an answer be computed: its parts. It knows no operation by name, and no
/// answer.
#pragma once

#include <cstddef>
#include <vector>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// A system whose outputs are the first of those that the question asks for, and its inputs.
struct Schema {
  spec::System system;
  std::vector<HostTensor> inputs;
  std::vector<std::size_t> tangents = {};  ///< positions of the inputs that are tangents
  std::size_t first_tangent = 0;           ///< of the outputs, those that are linear in the tangents begin here
  bool by_law = false;                     ///< the meaning rewritten: a number wherever the meaning is one
  bool beside_nothing = false;             ///< an operand has no elements: this counts where it and the meaning are numbers
  bool by_reciprocals = false;             ///< a/b may be a*(1/b), where the text rounds more than once
  const std::vector<std::vector<std::size_t>>* wanted = nullptr;  ///< these elements of each output alone, as lists
};

/// What follows from the form of a system's equations: the equations by laws of the real numbers (`conformance/schemas`),
/// and with elements computed anew where they are read, both with reciprocals for quotients. The last are the equations
/// with elements computed anew, and no reciprocals.
[[nodiscard]] std::vector<Schema> schemas_by_form(Schema own);

/// What the parts of the case's definition say in this mode: `also` of the results, `jvp` and `vjp` of the derivative too;
/// the adjoint of what `jvp` states, for cotangents, where it is not too long; these by laws of the real numbers; all with
/// reciprocals for quotients. Then what follows from the form of the definition's own equations.
[[nodiscard]] std::vector<Schema> other_schemas(const Case& c, spec::Mode mode);

/// What one part of the case's definition says of it; parts count from 1.
[[nodiscard]] Schema stated_by(const Case& c, std::size_t part);

/// What the definition itself says of the case, derivatives as they follow from its equations.
[[nodiscard]] Schema meaning_of(const Case& c);

}  // namespace etalon::conformance
