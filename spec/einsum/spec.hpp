/// \file
/// What a specification of `einsum` says, before it is given extents: axes by operand. It knows no grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/notation/diagnosis.hpp"

namespace etalon::spec::einsum_notation {

/// `2` or the name of an attribute.
struct Factor {
  std::int64_t number = 1;
  std::string_view name;
  [[nodiscard]] constexpr bool is_one() const { return name.empty() && number == 1; }
};

/// A part of a concatenated axis: a name, or a number of elements that nothing names.
struct Piece {
  std::string_view name;
  std::int64_t number = 0;
};

struct Axis {
  enum class Form : std::uint8_t {
    index,      ///< `i`
    fixed,      ///< `3`
    anonymous,  ///< `_`
    affine,     ///< `stride*over + offset + dilation*kernel`
    concat,     ///< `a^b^3`
    row         ///< `...`, `..name..`
  };
  static constexpr std::size_t max_pieces = 6;

  Form form = Form::index;
  std::size_t begin = 0;     ///< where in the specification
  std::string_view name;     ///< of the index, of the row, or of `over`
  std::int64_t number = 0;   ///< the fixed index, or the offset
  Factor stride, dilation;
  std::string_view kernel;   ///< empty where there is none
  bool padded = false;
  bool joins = false;        ///< of a row: `...`, which operands share by broadcasting
  Piece pieces[max_pieces] = {};
  std::size_t piece_count = 0;
};

/// The axes of a tensor in the order in which it has them.
struct Shape {
  static constexpr std::size_t max_axes = 12;
  std::size_t begin = 0;
  Axis axes[max_axes] = {};
  std::size_t count = 0;
};

struct Specification {
  static constexpr std::size_t max_operands = 8;
  std::string_view text;
  Shape operands[max_operands] = {};
  std::size_t operand_count = 0;
  Shape result;
  Diagnosis diagnosis;
};

}  // namespace etalon::spec::einsum_notation
