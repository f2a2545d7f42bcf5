/// \file
/// Of a case's index, what many cases share: which instance of the definition it is of, the choices behind that instance, and
/// the mode of what is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "conformance/assignment.hpp"
#include "conformance/case.hpp"
#include "conformance/draw.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// Several sets of numbers share one instance, so that a backend compiles it once.
inline constexpr std::uint64_t draws_per_instance = 4;

/// The second of two element types that are asked for beside each other: they share what neither could meet alone.
[[nodiscard]] constexpr bool is_second(DType dtype) { return dtype == DType::f64 || dtype == DType::bf16; }

/// What the case asks for; where that has no derivative, its values are asked for instead.
[[nodiscard]] spec::Mode mode_of(const CaseKey& key);

/// How many cases of values, from the 21st on, have operands of integers or truth values, where the definition takes them: all
/// pairs of such a type and one that an attribute names.
[[nodiscard]] std::size_t integer_cases(const spec::Definition& definition);

/// The number of the instance that the case is of.
[[nodiscard]] std::uint64_t instance_number(const CaseKey& key, const spec::Definition& definition);

/// Whether the instance is for sides of comparisons that are equal: there the derivatives have arms of their own.
[[nodiscard]] bool has_ties(const CaseKey& key, std::uint64_t instance);

/// The choices of the instance of this number, as the case takes them; nothing where no well-typed call was found.
/// \param types drawn from by every case of the instance alike
[[nodiscard]] std::optional<Assignment> choices_of(const CaseKey& key, const spec::Definition& definition, std::uint64_t number, Draw& types);

}  // namespace etalon::conformance
