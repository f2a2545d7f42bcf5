/// \file
/// Waivers: failures that are known, with a reason and a date until which they do not count. One that is out of date is
/// an error, so that no list of excuses outlives its causes. It knows no backend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/reports/report.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {

struct ConformOptions;

/// What is waived: every failure of these operations that has this mode, check and element type, each empty for all.
struct Waiver {
  std::vector<std::string> operations;  ///< one or more, of which one at least must fail
  std::string mode, check, dtype;
  std::string tier;  ///< the least tier that meets the failure; a smaller one need not
  std::string reason;
  std::string expires;  ///< the last day on which it holds, `2027-01-31`
};

/// The waivers in a JSON text, docs/waivers.schema.json. \param name stands in messages
/// \throws SpecViolation `name: waivers[1].expires: expected …, found …`
[[nodiscard]] std::vector<Waiver> parse_waivers(std::string_view text, const std::string& name, const spec::Library& library);

/// Gives failures that a waiver matches the verdict `waived`, and notes in the report which waivers were used and which
/// are out of date: expired, or matching no failure although the run asked all that they are about.
void apply_waivers(Report& report, const std::vector<Waiver>& waivers, const ConformOptions& options);

}  // namespace etalon::conformance
