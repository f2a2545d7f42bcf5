/// \file
/// Of the failures of a run: which are made small, and what their records keep for readers.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "conformance/asking.hpp"
#include "conformance/shrink.hpp"

namespace etalon::conformance {

/// Of each operation and check the failing case with the fewest elements is made small, printed and, where the options
/// say so, saved; limits keep a broken backend from taking forever. Records of failures get their whole case.
void explain_failures(std::vector<Record>& records, const ConformOptions& options, const Held& held, Asked& backend,
                      std::ostream& console);

/// The counterexample with the exact value of its element and the cause that explains it, where there is one.
[[nodiscard]] Shrunk taught(Shrunk shrunk, Asked& backend, const spec::Contract& contract);

/// After a counterexample: whether there may be a smaller one, and the script that the backend writes of it, if any.
/// \returns the script
std::string tell_more(const Shrunk& shrunk, Asked& backend, std::ostream& console);

/// Writes the case file of a counterexample, where the options name a folder. \throws IoError
void save_case(const ConformOptions& options, const std::string& id, const Case& c, std::ostream& console);

/// What a replay says after `--backend`, for a shell.
[[nodiscard]] std::string backend_words(const ConformOptions& options);

/// The line that asks a case again.
[[nodiscard]] std::string replay_of(const ConformOptions& options, const std::string& id);

}  // namespace etalon::conformance
