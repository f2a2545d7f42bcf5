/// \file
/// What can be done wrong at one node of an equation, by its form. It knows nothing of questions and answers.
#pragma once

#include <string>
#include <vector>

#include "tests/adequacy/mutant.hpp"
#include "tests/adequacy/sites.hpp"

namespace etalon::adequacy {

/// Another node for the one of a site.
struct Alternative {
  Sort sort = Sort::index;
  std::string text;
  spec::Expr node;
};

/// Changes of the equations. A cotangent's sums are told by `cotangents`.
[[nodiscard]] std::vector<Alternative> equation_alternatives(const spec::System& system, const Site& site,
                                                             bool cotangents);

/// Changes of the arithmetic: functions that give up early, integers that saturate.
[[nodiscard]] std::vector<Alternative> arithmetic_alternatives(const spec::System& system, const Site& site);

}  // namespace etalon::adequacy
