#include "tools/bench/variants.hpp"

#include <algorithm>

#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::bench {

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {"fusion", "one kernel per equation, every intermediate in memory", "fuse"},
      {"inlining", "views and elementwise locals are computed and stored", "inline_locals"},
      {"sharing", "equal tensors are computed as often as they are written", "share_common"},
      {"reuse", "no two intermediates share memory", "reuse"},
      {"recomputing", "cheap values that later kernels need are stored", "recompute"},
      {"in-place", "updates are computed elsewhere and copied", "in_place"},
      {"contractions", "sums of products run in plain loops", "contractions"},
      {"windows", "factors that slide over an image are copied once for each place of the window", "windows"},
      {"sharing-loads", "every step of a window loads the numbers of its rows", "share_loads"},
      {"pieces", "copies of factors are made as a whole before they are read", "pieces"},
      {"parts", "a long sum has all its loops in one tile", "lift"},
      {"passing", "sums over rows run over them again", "passing"},
      {"fetching", "the next row of a tensor is asked for when its turn comes", "fetch_rows"},
      {"merging", "each statement visits a row in a loop of its own", "merge_rows"},
      {"lanes", "elements of results are computed one after the other; sums keep their lanes", "lanes"},
      {"streaming", "results that nobody reads again go through the caches", "stream"},
      {"strips", "values that are much larger than what they are made of are stored as a whole", "strips"},
      {"keeping", "parameters lie in row-major order, and are copied into panels by each run", "keep"},
      {"asking", "derivatives ask what was cut off at zero for its sign, so that it is kept", "ask_results"},
      {"splitting", "sums of several products, as in tangents, run in plain loops", "split_products"},
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
