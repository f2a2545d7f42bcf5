/// \file
/// The loop of a competitor's process. Each request and each answer is one line of JSON; tensors lie in files.
///
///   {"do": "hello"}                                   → {"version": …}
///   {"do": "load"}                                    → {}     after some work that is none of anybody's
///   {"do": "prepare", "workload": …, "recipe": …, "sizes": {…}, "threads": n, "wide": false,
///    "inputs": [file, …], "outputs": folder}          → {"outputs": [file, …], "setting": …, "first_seconds": s,
///    "roundings": […]}
///   {"do": "sample", "runs": n, "warm": true}         → {"seconds": s}     for all n runs; one more before them where
///   warm
///   {"do": "memory"}                                  → {"before": bytes, "peak": bytes}   around what was prepared
///   last
///
/// An answer may instead be {"not_offered": why} or {"failed": why}. The end of the input ends the process.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/competitor.hpp"

namespace etalon::bench {

/// Answers requests until the input ends.
void serve(Competitor& competitor, std::istream& in, std::ostream& out);

/// Several ways to do the same work; the first element names the way.
using Ways = std::vector<std::pair<std::string, std::function<void()>>>;

/// The position of the way that is fastest in a short trial.
[[nodiscard]] std::size_t fastest(const Ways& ways);

}  // namespace etalon::bench
