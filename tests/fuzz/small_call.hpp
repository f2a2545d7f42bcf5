/// \file
/// Small operands and attributes for a call of whatever definition. It knows no operation's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/notation/definition.hpp"
#include "spec/value_type.hpp"

namespace etalon::fuzz {

/// How small: axes of each row, the extent of all axes, the number for attributes without default (0 also leaves out what
/// is optional), members of each pack.
struct Smallness {
  std::size_t row = 1;
  std::int64_t extent = 2;
  std::int64_t value = 1;
  std::size_t members = 1;
};

struct SmallCall {
  std::vector<std::optional<spec::ValueType>> operands;
  std::vector<std::size_t> packs;
  spec::Attributes attributes;
};

[[nodiscard]] SmallCall small_call(const spec::Definition& definition, const Smallness& size);

/// One of each kind: flat, of two axes, of nothing.
[[nodiscard]] std::vector<Smallness> small_sizes();

}  // namespace etalon::fuzz
