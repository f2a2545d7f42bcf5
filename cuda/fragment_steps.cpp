#include "cuda/fragment_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "cuda/counting.hpp"

namespace etalon::cuda {

using compiled::FragmentAdder;
using compiled::Schedule;

namespace {

constexpr std::int64_t register_bytes = 4;
constexpr std::int64_t warp_lanes = 32;
/// Threads of a warp along the rows of a fragment, and along its columns or steps.
constexpr std::int64_t lanes_down = 8, lanes_across = 4;
/// Behind a row of numbers, so that threads of a warp meet in other banks.
constexpr std::int64_t room_bytes = 16;

std::int64_t row_bytes(const Schedule& s) { return s.shared->steps * static_cast<std::int64_t>(size_of(s.fragments->held)) + room_bytes; }

std::int64_t registers_of(const FragmentAdder& a, std::int64_t along) { return along * a.terms * static_cast<std::int64_t>(size_of(a.held)) / (warp_lanes * register_bytes); }

/// `{%4, %5}` and so on.
std::string places(std::int64_t first, std::int64_t count) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(fmt::format("%{}", first + i));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

std::string definition_of(const FragmentAdder& a) {
  constexpr std::int64_t sums = 4;
  const std::int64_t left = registers_of(a, a.rows), right = registers_of(a, a.columns);
  std::vector<std::string> out, in;
  for (std::int64_t i = 0; i < sums; ++i) out.push_back(fmt::format("\"+f\"(d{})", i));
  for (std::int64_t i = 0; i < left; ++i) in.push_back(fmt::format("\"r\"(a[{}])", i));
  for (std::int64_t i = 0; i < right; ++i) in.push_back(fmt::format("\"r\"(b[{}])", i));
  return fmt::format(
      "static __device__ __forceinline__ void {}(float &d0, float &d1, float &d2, float &d3, const uint32_t *a, const uint32_t *b) {{\n"
      "  asm volatile(\"{} {}, {}, {}, {};\" : {} : {});\n}}\n",
      name_of(*a.instruction), a.instruction->ptx, places(0, sums), places(sums, left), places(sums + left, right), places(0, sums), fmt::join(out, ", "), fmt::join(in, ", "));
}

}  // namespace

std::int64_t fragment_bytes(const Schedule& schedule, std::int64_t rows_and_columns) { return rows_and_columns * row_bytes(schedule); }

std::string fragment_definitions(std::string_view text) {
  std::string all;
  for (const FragmentAdder& a : compiled::fragment_adders()) {
    if (text.find(fmt::format("{}(", name_of(*a.instruction))) != std::string_view::npos) all += definition_of(a);
  }
  return all.empty() ? all : "#ifndef ET_EMULATED\n" + all + "#endif\n";
}

FragmentSteps::FragmentSteps(compiled::source::Scalars& scalars, compiled::source::Text& text, const Schedule& schedule, std::string thread)
    : scalars_(scalars), text_(text), s_(schedule), adder_(*schedule.fragments), thread_(std::move(thread)) {}

/// Numbers in a register.
std::int64_t FragmentSteps::packed() const { return register_bytes / static_cast<std::int64_t>(size_of(adder_.held)); }

std::string_view FragmentSteps::number_type() const { return packed() == 2 ? "uint16_t" : "uint32_t"; }

std::int64_t FragmentSteps::row_numbers() const { return row_bytes(s_) / static_cast<std::int64_t>(size_of(adder_.held)); }

std::string FragmentSteps::narrowed(const std::string& number, DType from) const {
  if (packed() == 1) return fmt::format("{}({})", scalars_.functions().use("narrow_tf32"), number);
  // Instructions keep subnormal numbers, of which fewer bits are left: they are dropped, as may be promised.
  const std::string normal = from == adder_.held ? number : fmt::format("{}({})", scalars_.functions().use("normal"), number);
  return scalars_.narrowed(normal, compiled::loops::Type::f32, adder_.held);
}

void FragmentSteps::begin() {
  lane_ = scalars_.claim("lane");
  warp_row_ = scalars_.claim("warp_row");
  warp_column_ = scalars_.claim("warp_column");
  const std::int64_t across = s_.tile_columns / s_.shared->columns / lanes_across;
  text_.line(fmt::format("const int {} = {} % {};", lane_, thread_, warp_lanes));
  text_.line(fmt::format("const int {0} = {2} / {3} / {4} * {5}, {1} = {2} / {3} % {4} * {6};", warp_row_, warp_column_, thread_, warp_lanes, across,
                         lanes_down * s_.shared->rows, lanes_across * s_.shared->columns));
}

/// Fragments of sums have two rows of a thread, as far apart as threads along them, and two columns side by side.
std::string FragmentSteps::row(const std::string& n) const {
  return fmt::format("{} + {} / 2 * {} + {} % 2 * {} + {} / {}", warp_row_, n, adder_.rows, n, lanes_down, lane_, lanes_across);
}

std::string FragmentSteps::column(const std::string& n) const {
  return fmt::format("{} + {} / 2 * {} + {} % {} * 2 + {} % 2", warp_column_, n, adder_.columns, lane_, lanes_across, n);
}

/// The registers of a warp's fragments along one side: those of the same steps lie `lanes_down` rows apart, then come those of later steps.
void FragmentSteps::load(const std::string& name, const std::string& from, const std::string& first, std::int64_t fragments, std::int64_t fragment_rows,
                         std::int64_t registers, const std::string& step) {
  const std::string f = scalars_.claim("f"), i = scalars_.claim("i");
  const std::int64_t down = fragment_rows / lanes_down;
  text_.line(fmt::format("uint32_t {}[{}][{}];", name, fragments, registers));
  open_unrolled(text_, f, fragments);
  open_unrolled(text_, i, registers);
  const std::string of_row = down == 1 ? "" : fmt::format(" + {} % {} * {}", i, down, lanes_down), later = down == 1 ? i : fmt::format("{} / {}", i, down);
  const std::string row = fmt::format("{} + {} * {}{} + {} / {}", first, f, fragment_rows, of_row, lane_, lanes_across);
  const std::string term = fmt::format("{} + {} % {} * {} + {} * {}", step, lane_, lanes_across, packed(), later, lanes_across * packed());
  text_.line(fmt::format("{}[{}][{}] = *(const uint32_t *)({} + ({}) * {} + {});", name, f, i, from, row, row_numbers(), term));
  text_.close();
  text_.close();
}

void FragmentSteps::multiply(const std::string& left, const std::string& right, const std::string& sums) {
  const std::int64_t down = s_.shared->rows / 2, across = s_.shared->columns / 2;
  const std::string step = scalars_.claim("step"), r = scalars_.claim("r"), c = scalars_.claim("c");
  const std::string own_left = scalars_.claim("own_left"), own_right = scalars_.claim("own_right");
  text_.raw("#pragma unroll");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", step, s_.shared->steps, adder_.terms));
  load(own_left, left, warp_row_, down, adder_.rows, registers_of(adder_, adder_.rows), step);
  load(own_right, right, warp_column_, across, adder_.columns, registers_of(adder_, adder_.columns), step);
  open_unrolled(text_, r, down);
  open_unrolled(text_, c, across);
  text_.line(fmt::format("{0}({1}[2 * {2}][2 * {3}], {1}[2 * {2}][2 * {3} + 1], {1}[2 * {2} + 1][2 * {3}], {1}[2 * {2} + 1][2 * {3} + 1], {4}[{2}], {5}[{3}]);",
                         name_of(*adder_.instruction), sums, r, c, own_left, own_right));
  text_.close();
  text_.close();
  text_.close();
}

}  // namespace etalon::cuda
