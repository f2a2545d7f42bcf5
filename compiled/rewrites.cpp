#include "compiled/rewrites.hpp"

#include <array>
#include <string>
#include <utility>

namespace etalon::compiled {

namespace {

using Options = CompileOptions;

constexpr std::array all{
    Rewrite{"lay_out", "let parameters lie in the panels in which tiles read them", [](Options& o) { o.schedule.kept = false; }, true},
    Rewrite{"contractions", "run sums of products in tiles that are held in registers", [](Options& o) { o.schedule.contractions = false; }, true},
    Rewrite{"split_products", "give each product of a sum of products a sum of its own", [](Options& o) { o.schedule.split = false; }, true},
    Rewrite{"lift", "add up long sums in parts, each over a piece of the factors", [](Options& o) { o.schedule.lift = false; }, true},
    Rewrite{"strips", "compute values much larger than what they are made of by strips of rows", [](Options& o) { o.schedule.strips = false; }, true},
    Rewrite{"windows", "read what slides over an image where it lies", [](Options& o) { o.schedule.windows = false; }, true},
    Rewrite{"share_loads", "load a row's number once for several steps of a window", [](Options& o) { o.schedule.share_loads = false; }},
    Rewrite{"pack", "copy factors into the panels or rows in which tiles read them", [](Options& o) { o.schedule.pack = false; }, true},
    Rewrite{"pieces", "copy a factor piece by piece, in the turns of the loop that reads it", [](Options& o) { o.schedule.turns = false; }, true},
    Rewrite{"fuse", "let equations share loops", [](Options& o) { o.plan.fuse = false; }, true},
    Rewrite{"turns", "use what one turn of a contraction computes while it is near", [](Options& o) { o.plan.turns = false; }, true},
    Rewrite{"passing", "add up sums over rows while another kernel visits the rows", [](Options& o) { o.plan.passing = false; }, true},
    Rewrite{"recompute", "compute cheap values again instead of storing them", [](Options& o) { o.plan.recompute = false; }, true},
    Rewrite{"reuse", "let intermediates share memory", [](Options& o) { o.plan.reuse = false; }},
    Rewrite{"in_place", "write new values of parameters where the old ones lie", [](Options& o) { o.plan.in_place = false; }},
    Rewrite{"budget", "compute values again until intermediates fit the memory budget", [](Options& o) { o.plan.memory_budget.reset(); }},
    Rewrite{"merge_rows", "let loops over the same row run as one", [](Options& o) { o.schedule.merge_rows = false; }},
    Rewrite{"stream", "store large results past the caches", [](Options& o) { o.schedule.stream = false; }},
    Rewrite{"fetch_rows", "ask for the next row of a tensor early", [](Options& o) { o.schedule.fetch_rows = false; }},
};

}  // namespace

std::span<const Rewrite> rewrites() { return all; }

CompileOptions with_left_out(CompileOptions options) {
  const auto off = options.pipeline.off;
  for (const Rewrite& rewrite : all) {
    if (off.contains("all") || off.contains(std::string(rewrite.name))) rewrite.leave_out(options);
  }
  return options;
}

}  // namespace etalon::compiled
