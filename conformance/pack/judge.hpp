/// \file
/// The verdict on an answer to a test of a pack, from what the pack says alone: any consumer comes to the same.
#pragma once

#include "conformance/outcome.hpp"
#include "conformance/pack/pack.hpp"

namespace etalon::conformance {

[[nodiscard]] Outcome judge(const PackedTest& test, const spec::Answer& answer);

}  // namespace etalon::conformance
