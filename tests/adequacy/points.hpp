/// \file
/// Every value that the index variables of a place can have, and with them the positions of extrema that are read there and integers
/// that are compared: whether indices and conditions are the same at all of them. It knows no other numbers.
#pragma once

#include <utility>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// Whether both of each pair are the same integer, or truth, at every value of the binders where no condition forbids it. A tensor
/// that says where an extremum is has any position that the guard of its reduction allows; an integer that is read is any, where it is
/// compared and nothing else. False where too many are to be
/// visited, or none.
[[nodiscard]] bool are_equal_at_all_points(const spec::System& system, const std::vector<spec::Binder>& binders,
                                           std::vector<spec::Expr> conditions, std::vector<std::pair<spec::Expr, spec::Expr>> pairs);

}  // namespace etalon::adequacy
