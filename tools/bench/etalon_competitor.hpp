/// \file
/// Etalon's compiled CPU backend as a competitor, and a copy of the same bytes as the limit of what memory allows.
#pragma once

#include <memory>

#include "tools/bench/competitor.hpp"

namespace etalon::bench {

/// \param without a decision of the compiler that is left out (variants.hpp); empty for none
[[nodiscard]] std::unique_ptr<Competitor> make_etalon_competitor(const std::string& without = {});
[[nodiscard]] std::unique_ptr<Competitor> make_copy_competitor();

}  // namespace etalon::bench
