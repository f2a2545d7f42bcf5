/// \file
/// Whether the tensors that a definition reads and promises are there, before any call of it.
#pragma once

#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// What is wrong: a read of a tensor that stands neither in the signature nor above the equation, or a result without
/// an equation. No text where nothing is.
[[nodiscard]] Diagnosis undefined_name(const Definition& definition);

}  // namespace etalon::spec
