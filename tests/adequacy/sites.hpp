/// \file
/// The places of a system at which something can be changed, with what encloses each. It changes nothing by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// What an expression is used as.
enum class Use : std::uint8_t { value, index, condition };

/// One node of an equation's right side.
struct Site {
  std::size_t equation = 0;
  std::vector<std::size_t> path;  ///< which child, from the right side down
  std::string place;              ///< the same in words: `y2: select.then/mul.1`
  spec::Expr node;
  Use use = Use::value;
  std::vector<spec::Binder> binders;   ///< in whose scope it stands
  std::vector<spec::Expr> conditions;  ///< that hold where it is evaluated
  std::optional<spec::Expr> parent;
};

/// Every node of the chosen equations, parents first.
[[nodiscard]] std::vector<Site> sites_of(const spec::System& system, const std::vector<bool>& chosen);

/// The nodes that the site's stands in, the nearest first, up to the right side.
[[nodiscard]] std::vector<Site> around(const spec::System& system, const Site& site);

/// `whole` with another node at the end of the path.
[[nodiscard]] spec::Expr replaced(const spec::Expr& whole, const std::vector<std::size_t>& path, const spec::Expr& by);

}  // namespace etalon::adequacy
