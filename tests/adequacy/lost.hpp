/// \file
/// Whether a small change of numbers on their way is lost in the roundings behind it, whatever the inputs are. It knows
/// forms, and no operation.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tests/adequacy/reach.hpp"
#include "tests/adequacy/sites.hpp"

namespace etalon::adequacy {

/// By how much the numbers change that do, and where those lie, before and after.
struct Shift {
  double by = 0;
  Reach near;
  bool to_zero = false;  ///< each of them becomes 0
};

class Lost {
 public:
  /// \param first_output of those that are asked for
  Lost(const spec::System& system, Reaches& reaches, std::size_t first_output)
      : system_(system), reaches_(reaches), first_output_(first_output) {}

  /// Whether no output shows such a change of elements of the tensor: behind each of them a function, a sum or a product is
  /// rounded whose value changes by less than half a unit in the last place of binary64, or is 0 both times; where all terms are
  /// multiplied by one element of another input, whatever that is.
  [[nodiscard]] bool is_lost(spec::TensorId tensor, const Shift& shift);
  /// The same of what stands at the site, where the condition holds alone.
  [[nodiscard]] bool is_lost(const Site& site, const Shift& shift, const spec::Expr& condition);

 private:
  bool reaches_no_output(std::vector<std::optional<Shift>>& shifts, std::size_t from, const Site* site, const Shift& at, const std::vector<spec::Expr>& conditions);
  [[nodiscard]] bool is_lost_per_unit(const std::vector<std::optional<Shift>>& shifts, const spec::Equation& e);

  const spec::System& system_;
  Reaches& reaches_;
  std::size_t first_output_;
};

}  // namespace etalon::adequacy
