#include "tools/bench/variants.hpp"

#include <algorithm>

#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::bench {

const std::vector<Variant>& variants() {
  using Options = compiled::CompileOptions;
  static const std::vector<Variant> all{
      {"fusion", "one kernel per equation, every intermediate in memory", [](Options& o) { o.plan.fuse = false; }},
      {"inlining", "views and elementwise locals are computed and stored", [](Options& o) { o.pipeline.off.insert("inline_locals"); }},
      {"sharing", "equal tensors are computed as often as they are written", [](Options& o) { o.pipeline.off.insert("share_common"); }},
      {"reuse", "no two intermediates share memory", [](Options& o) { o.plan.reuse = false; }},
      {"recomputing", "cheap values that later kernels need are stored", [](Options& o) { o.plan.recompute = false; }},
      {"in-place", "updates are computed elsewhere and copied", [](Options& o) { o.plan.in_place = false; }},
      {"contractions", "sums of products run in plain loops", [](Options& o) { o.schedule.contractions = false; }},
      {"windows", "factors that slide over an image are copied once for each place of the window", [](Options& o) { o.schedule.windows = false; }},
      {"sharing-loads", "every step of a window loads the numbers of its rows", [](Options& o) { o.schedule.share_loads = false; }},
      {"pieces", "copies of factors are made as a whole before they are read", [](Options& o) { o.schedule.turns = false; }},
      {"parts", "a long sum has all its loops in one tile", [](Options& o) { o.schedule.lift = false; }},
      {"passing", "sums over rows run over them again", [](Options& o) { o.plan.passing = false; }},
      {"fetching", "the next row of a tensor is asked for when its turn comes", [](Options& o) { o.schedule.fetch_rows = false; }},
      {"merging", "each statement visits a row in a loop of its own", [](Options& o) { o.schedule.merge_rows = false; }},
      {"streaming", "results that nobody reads again go through the caches", [](Options& o) { o.schedule.stream = false; }},
      {"strips", "values that are much larger than what they are made of are stored as a whole", [](Options& o) { o.schedule.strips = false; }},
      {"keeping", "parameters lie in row-major order, and are copied into panels by each run", [](Options& o) { o.schedule.kept = false; }},
      {"turns", "only single elements of a contraction are used where they are computed", [](Options& o) { o.plan.turns = false; }},
      {"asking", "derivatives ask what was cut off at zero for its sign, so that it is kept", [](Options& o) { o.pipeline.off.insert("ask_results"); }},
      {"splitting", "sums of several products, as in tangents, run in plain loops", [](Options& o) { o.schedule.split = false; }},
  };
  return all;
}

const Variant& variant_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Variant& v : variants()) {
    if (v.name == name) return v;
    known.push_back(v.name);
  }
  throw SpecViolation(unknown_name("decision", name, known));
}

}  // namespace etalon::bench
