/// \file
/// Proofs that a change of a node changes nothing: by form, or by visiting every value of the index variables. What is
/// equal on all cases is not proved by that.
#pragma once

#include <string>

#include "tests/adequacy/node_changes.hpp"
#include "tests/adequacy/reach.hpp"
#include "tests/adequacy/sites.hpp"

namespace etalon::adequacy {

/// Why the equation means the same with the alternative at the site, or nothing where that is not proved.
/// \param reaches of the system \param first_output of those that are asked for
[[nodiscard]] std::string why_equivalent(const spec::System& system, const Site& site, const Alternative& alternative,
                                         Reaches& reaches, std::size_t first_output = 0);

/// The same of another system in place of the first one.
[[nodiscard]] std::string why_equivalent(const spec::System& system, const spec::System& other, std::size_t first_output = 0);

}  // namespace etalon::adequacy
