/// \file
/// `einsum` at compile time: `einsum<"ij,jk->ik">(a, b)` (docs/einsum.md).
#pragma once

#include <string_view>

#include "spec/einsum/translate.hpp"
#include "spec/library/operation.hpp"

namespace etalon::spec {

/// The tag type of the operation that a specification stands for.
template <FixedText specification, FixedText semiring, FixedText captures>
struct EinsumText {
  static constexpr EinsumTranslation translation = translate_einsum(specification.view(), semiring.view(), captures.view());
  static constexpr std::string_view text = translation.text.view();
  static constexpr bool generated = true;  ///< programs that call it need its definition
};

/// What is wrong with the specification is what is wrong with the definition.
template <FixedText specification, FixedText semiring, FixedText captures>
inline constexpr Definition definition_of<EinsumText<specification, semiring, captures>> = [] {
  using Einsum = EinsumText<specification, semiring, captures>;
  Definition d;
  if (Einsum::translation.diagnosis.ok()) return parse(Einsum::text);
  d.name = "einsum";
  d.diagnosis = Einsum::translation.diagnosis;
  return d;
}();

}  // namespace etalon::spec

namespace etalon::ops {

/// `captures` names indices and rows, parted by blanks, whose extents are results too.
template <spec::FixedText specification, spec::FixedText semiring = "sum_product", spec::FixedText captures = "">
inline constexpr spec::Operation<spec::EinsumText<specification, semiring, captures>> einsum{};

}  // namespace etalon::ops
