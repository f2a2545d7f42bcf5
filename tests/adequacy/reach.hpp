/// \file
/// Which numbers a part of an equation can be, whatever the inputs are: an interval over the reals, and whether only
/// whole numbers are in it. It knows forms, and no operation.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// What is no NaN lies in [low, high].
struct Reach {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool whole = false;  ///< infinite or an integer
};

class Reaches {
 public:
  explicit Reaches(const spec::System& system) : system_(system) {}

  /// Where these conditions hold. \param binders in whose scope the expression stands
  [[nodiscard]] Reach of(const spec::Expr& e, const std::vector<spec::Binder>& binders,
                         const std::vector<spec::Expr>& conditions);
  [[nodiscard]] Reach of(spec::TensorId tensor);

  /// Whether the condition holds nowhere, where these others do. A comparison with NaN does not hold.
  [[nodiscard]] bool never(const spec::Expr& condition, const std::vector<spec::Binder>& binders,
                           const std::vector<spec::Expr>& conditions);

  /// The same where the elements of this tensor lie in that reach; others stay as they were.
  [[nodiscard]] Reaches where(spec::TensorId tensor, const Reach& reach);

 private:
  class Look;

  const spec::System& system_;
  std::map<spec::TensorId, std::optional<Reach>> tensors_;  ///< nothing while it is looked for
  std::set<spec::TensorId> given_;  ///< of which another reach was given
};

}  // namespace etalon::adequacy
