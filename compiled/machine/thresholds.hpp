/// \file
/// Every number by which the compiler trades one cost for another, once, with its reason. What a machine has is in machine.hpp.
///
/// No threshold depends on the machine a program is compiled on: most of them decide in which order terms are added.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace etalon::compiled {

struct Threshold {
  std::string_view name;
  std::int64_t value = 0;
  std::string_view unit;
  std::string_view reason;
};

inline constexpr std::array thresholds{
    // What caches and pages are.
    Threshold{"line_bytes", 64, "bytes", "a cache keeps so many together, and vectors are no longer"},
    Threshold{"page_bytes", 4096, "bytes", "a translation of an address holds for so many"},
    Threshold{"conflicting_bytes", 2048, "bytes", "lines at a multiple of this distance meet in the same few sets of a cache: all those of a sum's depth"},
    Threshold{"conflicting_row_bytes", 4096, "bytes", "the same for the few rows of a tile"},
    Threshold{"conflicting_strip_bytes", 1024, "bytes", "the same for the rows of a strip, those of a tile too"},
    Threshold{"times_the_last_cache", 2, "times", "what is visited from a kernel on is so many times the last cache where its result will be gone"},
    Threshold{"large_part_of_the_last_cache", 16, "th part", "a result is large from this part of the last cache on"},

    // Tiles of contractions.
    Threshold{"least_products", 600, "products", "with fewer, plain loops are done before a tile has filled its registers"},
    Threshold{"least_rows", 4, "rows", "fewer leave most of a tile idle"},
    Threshold{"least_columns", 8, "columns", "shorter loops are no vectors"},
    Threshold{"least_window_rows", 2, "rows", "plain loops cannot read a window in vectors"},
    Threshold{"least_window_products", 300, "products", "the same"},
    Threshold{"most_tile_rows", 24, "rows", "each is a register of sums"},
    Threshold{"tile_vectors", 2, "vectors", "columns of a tile: two share each number of a row that is loaded"},
    Threshold{"registers_beside_sums", 2, "registers", "a row's number and an address's"},
    Threshold{"sums_of_a_full_turn", 16, "sums", "from so many on a turn of the depth has work enough in one step"},
    Threshold{"steps_of_a_short_turn", 4, "steps", "of the depth in one turn of tiles with fewer sums"},
    Threshold{"sums_in_flight", 8, "sums", "two units that take four cycles for an addition each are busy with so many"},
    Threshold{"most_taps", 49, "steps", "steps of the depth that are written out; more of them are too much code"},
    Threshold{"longest_tap_loop", 7, "turns", "a longer loop is one"},
    Threshold{"most_window_growth", 4, "times", "a copy with zeros around may be so many times as large as what it copies"},
    Threshold{"least_reads_of_a_copy", 4, "tiles", "a factor that fewer read is read too rarely to be copied"},
    Threshold{"most_lines_in_place", 64, "lines", "page tables and the hardware's streams follow about so many at once"},
    Threshold{"row_block_percent", 75, "percent", "of the second cache for the rows that meet one panel of columns after the other; the rest is the panel's"},
    Threshold{"far_factor_percent", 25, "percent", "of the second cache; panels of a larger factor are fetched ahead"},
    Threshold{"near_factor_percent", 50, "percent", "of the second cache; a larger factor is fetched again for each block, and copied for tiles that read it often"},
    Threshold{"copied_piece_percent", 25, "percent", "of the usual second cache for the piece of a factor that one turn copies for itself, beside what it multiplies"},
    Threshold{"least_turns", 8, "turns", "of a loop let the threads that share it finish together"},

    // Sums in parts.
    Threshold{"most_lifted_parts", 64, "parts", "more are too long an expression where they are added"},
    Threshold{"least_lifted_terms", 64, "terms", "of a part; with fewer its tile is soon done"},
    Threshold{"least_passing_terms", 8, "terms", "of a part: parts are so many times smaller than what is read for them"},
    Threshold{"least_passing_elements", 16, "elements", "of a row of sums fill a vector"},
    Threshold{"most_passing_parts", 64, "parts", "that are added in one equation; more of them take another one"},

    // Strips of wide values.
    Threshold{"most_wide_terms", 128, "terms", "more cost more than to store a sum and read it again"},
    Threshold{"least_wide_growth", 4, "times", "a result so many times larger than what it is made of is cheaper made than fetched"},
    Threshold{"wide_percent", 25, "percent", "of the usual second cache: a matrix that is smaller stays near anyway"},
    Threshold{"slight_operations", 4, "operations", "that readers do again rather than read the result"},
    Threshold{"most_strip_tiles", 4, "tiles", "of rows in a strip: with more, a contraction's other factor is fetched less often, and less stays near"},
    Threshold{"strip_percent", 50, "percent", "of the second cache for what is kept of a strip"},

    // What shares loops.
    Threshold{"most_statements", 48, "statements", "of a kernel; more make one function too long to generate well"},
    Threshold{"most_kernel_nodes", 1024, "nodes", "of a kernel's expressions, for the same reason"},
    Threshold{"largest_expression", 160, "nodes", "expressions are generated one by one up to this size; inlining makes none longer but of views"},
    Threshold{"longest_inlined", 2560, "nodes", "a longer wish to inline is refused: it would be computed again and again"},
    Threshold{"most_followers", 16, "tensors", "are looked at behind a contraction; sums of residuals follow each other through a whole network"},
    Threshold{"most_beside_a_contraction", 4, "tensors",
              "of its size, read and written along with its elements: a tile visits them a few short rows at a time, and with more a pass from beginning to end takes less"},
    Threshold{"cheap_operations", 4, "operations", "additions and the like are done again; a division or a function costs more than to read its result"},
    Threshold{"cheap_operand_part", 16, "th part", "an operand that is so many times smaller costs nothing to read"},

    // Lanes: costs beside one addition; only their order matters.
    Threshold{"function_cost", 20, "additions", "a function of the library, in lanes"},
    Threshold{"philox_cost", 60, "additions", "ten rounds of a random generator"},
    Threshold{"division_cost", 8, "additions", "a division or a root"},
    Threshold{"join_cost", 10, "additions", "adding up the lanes of a sum"},

    // Memory.
    Threshold{"most_turn_bytes", 32768, "bytes", "an iteration's own elements stay in the nearest caches"},
    Threshold{"most_own_stack_bytes", 32768, "bytes", "of a kernel's own memory on the stack; machine code takes some besides"},
    Threshold{"most_stack_bytes", 65536, "bytes", "no kernel takes more of a thread's stack, whatever the extents"},
    Threshold{"longest_chain", 8, "kernels", "are tried together for another order: packing, contraction and optimizer of a weight are three"},
    Threshold{"small_recomputed_part", 16, "th part", "what is so many times smaller is kept rather than computed again"},
    Threshold{"most_budget_trials", 64, "plans", "candidates for a memory budget are tried by planning, the cheapest first"},
    Threshold{"small_budget_part", 1024, "th part", "values that are so many times smaller than all are not worth a thought"},

    // Loops and code.
    Threshold{"least_row_visits", 2, "visits", "of a row in between which its stream is lost"},
    Threshold{"many_operations", 16, "operations", "per element: with more a loop has time to fetch ahead; one of functions has not, and measured 5 to 10 % slower"},
    Threshold{"least_row_bytes", 1024, "bytes", "shorter rows come with the line before"},
    Threshold{"most_times_wider", 8, "times", "a vector of a host row is made of at most so many of its guest's"},
    Threshold{"idle_share", 8, "th part", "a guest that computes functions may idle one of so many lanes more than alone"},
    Threshold{"most_merged_tensors", 8, "tensors", "that one loop visits"},
    Threshold{"least_streamed_bytes", 32, "bytes", "of a vector; smaller pieces leave a line half written for long"},
    Threshold{"most_unrolled", 9, "turns", "of a reduction's loops stand one by one"},
    Threshold{"most_vectors_before_tail", 4, "vectors", "of a row of which the cut last one is a good part"},
    Threshold{"farthest_neighbour", 4, "elements", "farther apart, a gather asks for less than neighbours that are shuffled"},
    Threshold{"most_neighbour_bytes", 128, "bytes", "lanes of more fill too many registers at a time"},
    Threshold{"little_work", 32768, "operations", "a program of fewer is generated in haste: generating takes longer than it runs"},

    // Threads.
    Threshold{"least_shared_work", 200000, "operations", "a kernel of fewer ends before a second thread has woken up"},
    Threshold{"spins", 1000, "looks", "of a thread before it sleeps, some tens of microseconds: waking a sleeper costs about as much"},
    Threshold{"parts_per_thread", 2, "parts", "of a loop, each a call: a thread that comes late leaves little to wait for"},
    Threshold{"much_memory", 1048576, "bytes", "from so many on an arena is moved to a page's beginning"},
};

/// The value of a threshold. A name that is in no row does not compile.
template <class T = std::int64_t>
consteval T threshold(std::string_view name) {
  for (const Threshold& t : thresholds) {
    if (t.name == name) return static_cast<T>(t.value);
  }
  throw "no such threshold";
}

/// So many percent of a number of bytes, rounded down.
[[nodiscard]] constexpr std::int64_t percent(std::int64_t bytes, std::int64_t hundredths) { return bytes * hundredths / 100; }

}  // namespace etalon::compiled
