/// \file
/// What a run looks like: in a terminal, as a page of Markdown, as a plot. It knows records only.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include "tools/bench/record.hpp"

namespace etalon::bench {

/// The best of the peers at a cell against Etalon.
struct Standing {
  const Measurement* etalon = nullptr;  ///< null where its time is not quoted
  const Measurement* peer = nullptr;    ///< the peer with the least median; null where none has a time
  const Measurement* copy = nullptr;    ///< null where a copy is no limit
  std::optional<double> ratio;          ///< the peer's median over Etalon's: above 1 Etalon is faster
};
[[nodiscard]] Standing standing_of(const Cell& cell);

/// Whether a run has Etalon without decisions of its compiler in the place of peers; it has no plot.
[[nodiscard]] bool is_ablation(const Run& run);

/// Whether a run is one of `etalon bench scale`: its groups vary one size each, Etalon is alone.
[[nodiscard]] bool is_scale(const Run& run);

/// The table of a run for a terminal.
void write_table(std::ostream& out, const Run& run);
/// A page about the runs, each in a section; `plots` are the names of their plots beside the page.
void write_markdown(std::ostream& out, std::span<const Run> runs, std::span<const std::string> plots);
/// The ratios of a run as bars on a logarithmic scale, SVG.
void write_plot(std::ostream& out, const Run& run);
/// The section of a run of scale: a table per group.
void write_scale(std::ostream& out, const Run& run);
/// Its plot: time, memory and steps a second against size, both logarithmic, SVG.
void write_scale_plot(std::ostream& out, const Run& run);

}  // namespace etalon::bench
