/// \file
/// From a definition and a call's types to equations with numeric extents: rows, packs, attributes and absent operands
/// are gone afterwards. It knows no operation by name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/located.hpp"
#include "spec/notation/definition.hpp"
#include "spec/system/system.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

/// An operation at given types and attributes.
struct Instance {
  System system;                    ///< see instantiate
  std::vector<ValueType> results;   ///< one per output
  Attributes attributes;            ///< complete: defaults filled in, axes non-negative, `all` expanded
};

/// A call or an equation breaks a rule of its definition.
class IllTyped : public SpecViolation {
 public:
  explicit IllTyped(const Diagnosis& diagnosis) : SpecViolation(std::string(diagnosis.message())), diagnosis_(diagnosis) {}
  [[nodiscard]] const Diagnosis& diagnosis() const { return diagnosis_; }

 private:
  Diagnosis diagnosis_;
};

/// A definition that, at the types of a call, reads beyond a tensor or does not give each element of a result exactly once.
class Unsound : public LocatedViolation {
 public:
  using LocatedViolation::LocatedViolation;
};

/// Elaborates a call and verifies what came of it: whoever evaluates or compiles an operation has its equations from here.
/// `operands` holds one entry per declared operand in order, the members of a pack consecutively,
/// nothing for an absent optional one; trailing absent ones may be left out. `packs` gives the number of members of each
/// pack and may be empty where there is at most one pack.
///
/// The system's inputs are the present operands in order, then one real scalar for every attribute given as a
/// ValueName, in order of the attributes' names; its element type is that of the operation's reals, and a caller that
/// joins systems may bind it to a scalar of another real type. The outputs are the results in order.
/// \throws Unsound with the place in the definition, the index or element, and what it should have been
/// \throws IllTyped with the diagnosis of parsing, typing or elaboration.
[[nodiscard]] Instance instantiate(const Definition& definition, std::span<const std::optional<ValueType>> operands,
                                   std::span<const std::size_t> packs, const Attributes& attributes);

/// The same by a part of the definition, counted from 1. An `also` part gives the results by other equations. A `vjp`
/// part has the cotangents of the real results as further inputs, and after the results as outputs those of the real
/// operands that are there; a `jvp` part has the tangents of those operands as further inputs, and those of the real
/// results as outputs.
[[nodiscard]] Instance instantiate_part(const Definition& definition, std::size_t part,
                                        std::span<const std::optional<ValueType>> operands,
                                        std::span<const std::size_t> packs, const Attributes& attributes);

/// `instantiate` without its proof: for equations that give some of the elements of a result. Who asks for it verifies what
/// they become.
[[nodiscard]] Instance elaborate(const Definition& definition, std::span<const std::optional<ValueType>> operands);

}  // namespace etalon::spec
