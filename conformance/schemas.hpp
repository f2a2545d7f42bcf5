/// \file
/// The other ways in which a definition lets an answer be computed: its parts. An answer conforms where each of its
/// tensors lies, as a whole, in the bounds of one of them. It knows no operation by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/undifferentiable.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// A system whose outputs are the first of those that the question asks for, and its inputs.
struct Schema {
  spec::System system;
  std::vector<HostTensor> inputs;
  std::vector<std::size_t> tangents = {};  ///< positions of the inputs that are tangents
  std::size_t first_tangent = 0;           ///< of the outputs, those that are linear in the tangents begin here
};

/// What the parts of the case's definition say in this mode: `also` of the results, `jvp` and `vjp` of the derivative too;
/// the adjoint of what `jvp` states, for cotangents, where it is not too long; and the definition's own equations divided by counts axis by axis, and
/// with elements computed anew where they are read.
[[nodiscard]] std::vector<Schema> other_schemas(const Case& c, spec::Mode mode);

/// Admits what the freedoms leave open in each envelope that does not admit its tensor, and puts in place of those that
/// still do not the first one of another schema that does, if none does then of a schema along one tangent after the
/// other. Where each tensor is admitted but no branch of the decisions explains them all, a schema that explains all of
/// them takes the place of the whole.
void admit_schemas(reference::Envelopes& bounds, std::span<const HostTensor> got, std::span<const Schema> schemas,
                   const Freedoms& freedoms, const spec::Contract& contract);

/// Widens the intervals to those of all schemas.
void widen_by_schemas(reference::Envelopes& bounds, std::span<const Schema> schemas, const spec::Contract& contract);

/// One line where a part of the definition differs from what the definition means, or from its derivative, at ordinary
/// numbers and with 50 digits; nothing where none does.
[[nodiscard]] std::optional<std::string> contradiction(const spec::Library& library, const std::string& operation);

}  // namespace etalon::conformance
