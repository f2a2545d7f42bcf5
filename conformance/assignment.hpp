/// \file
/// The choices from which the types of a call follow: what each row, extent, attribute and pack of a definition stands
/// for. Shrinking works on these choices, so that a smaller case is again well-typed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/dtype.hpp"

namespace etalon::conformance {

struct Assignment {
  std::map<std::string, std::vector<std::int64_t>>
      rows;                                     ///< extents of each row variable; `..r#1` in a pack's member 1
  std::map<std::string, std::int64_t> extents;  ///< named extents; `n#1` in a pack's member 1
  std::map<std::string, std::size_t> packs;     ///< members of each pack
  std::set<std::string> absent;                 ///< optional operands left out
  spec::Attributes attributes;
  std::optional<DType> shared_type;  ///< T, where it is not the element type of the case
  [[nodiscard]] friend bool operator==(const Assignment&, const Assignment&) = default;
};

}  // namespace etalon::conformance
