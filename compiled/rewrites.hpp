/// \file
/// What follows the passes and may be left out, by name: rewrites of the system on the way to loops, and decisions about loops and
/// memory. Where each is done is its own file's business; here stand its name and its switch.
#pragma once

#include <span>
#include <string_view>

#include "compiled/executable.hpp"

namespace etalon::compiled {

/// A rewrite or a decision. No bit of an output depends on it but, where it says so, by the order in which sums are added.
struct Rewrite {
  std::string_view name;
  std::string_view what;  ///< one line for `--list`
  void (*leave_out)(CompileOptions&);
  bool orders_sums = false;  ///< without it sums are added in another order, or products are rounded before they are added
};

/// All of them, in the order in which they are made.
[[nodiscard]] std::span<const Rewrite> rewrites();

/// The options without what `pipeline.off` names.
[[nodiscard]] CompileOptions with_left_out(CompileOptions options);

}  // namespace etalon::compiled
