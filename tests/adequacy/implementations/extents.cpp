// Loops over blocks, strides and ranks.
#include <algorithm>

#include "tests/adequacy/implementations/tensors.hpp"
#include "tests/mutants/answers.hpp"

namespace etalon::adequacy {
namespace {

std::size_t extent(const HostTensor& t, std::size_t axis) { return static_cast<std::size_t>(t.dims[axis]); }
std::size_t rank(const HostTensor& t) { return t.dims.rank; }

std::size_t row_of(const HostTensor& t) { return rank(t) == 0 ? 1 : extent(t, rank(t) - 1); }

enum class Wrong : std::uint8_t { zero, from_the_last_block };

// What stands behind the last whole block of each line; shorter lines are done one by one and right.
void spoil_tails(HostTensor& t, std::size_t line, std::size_t block, Wrong wrong) {
  if (line < block || line % block == 0) return;
  const HostTensor zero(t.dtype, Dims{1});
  for (std::size_t i = 0; i < elements(t); ++i) {
    if (i % line < line - line % block) continue;
    if (wrong == Wrong::zero)
      copy_element(zero, 0, t, i);
    else
      copy_element(t, i - block, t, i);
  }
}

void add_tails(std::vector<Defect>& to) {
  for (const std::size_t block : {4U, 8U, 16U, 32U, 64U}) {
    const std::string behind = " behind the last whole " + std::to_string(block);
    to.push_back(of_answers("tails", "rows are 0" + behind,
                            [=](HostTensor& t) { spoil_tails(t, row_of(t), block, Wrong::zero); }));
    to.push_back(of_answers("tails", "rows repeat a block" + behind,
                            [=](HostTensor& t) { spoil_tails(t, row_of(t), block, Wrong::from_the_last_block); }));
    to.push_back(of_answers("tails", "results are 0" + behind,
                            [=](HostTensor& t) { spoil_tails(t, elements(t), block, Wrong::zero); }));
    to.push_back(of_inputs("tails", "rows of operands are read as 0" + behind,
                           [=](HostTensor& t) { spoil_tails(t, row_of(t), block, Wrong::zero); }));
    to.push_back(of_inputs("tails", "operands are read as 0" + behind,
                           [=](HostTensor& t) { spoil_tails(t, elements(t), block, Wrong::zero); }));
  }
}

// The matrix of the axes k and k + 1 with rows taken for columns.
void transpose(HostTensor& t, std::size_t k) {
  const std::size_t n = extent(t, k);
  std::size_t inner = 1;
  for (std::size_t a = k + 2; a < rank(t); ++a) inner *= extent(t, a);
  gather(t, [&](std::size_t i) {
    const std::size_t within = i % inner, column = i / inner % n, row = i / inner / n % n, outer = i / inner / n / n;
    return ((outer * n + column) * n + row) * inner + within;
  });
}

void exchange_last(HostTensor& t) {
  if (rank(t) >= 2 && extent(t, rank(t) - 1) == extent(t, rank(t) - 2)) transpose(t, rank(t) - 2);
}
void exchange_first(HostTensor& t) {
  if (rank(t) >= 3 && extent(t, 0) == extent(t, 1)) transpose(t, 0);
}

// Rows begin as many elements apart as there are rows.
void stride_of_columns(HostTensor& t) {
  if (rank(t) < 2) return;
  const std::size_t columns = extent(t, rank(t) - 1), rows = extent(t, rank(t) - 2);
  gather(t, [=](std::size_t i) {
    const std::size_t matrix = i / (rows * columns) * rows * columns;
    return matrix + (i / columns % rows * rows + i % columns) % (rows * columns);
  });
}

void add_squares(std::vector<Defect>& to) {
  to.push_back(
      of_inputs("square", "the last two axes of operands are exchanged where their extents agree", exchange_last));
  to.push_back(
      of_answers("square", "the last two axes of results are exchanged where their extents agree", exchange_last));
  to.push_back(
      of_inputs("square", "the first two axes of operands are exchanged where their extents agree", exchange_first));
  to.push_back(of_inputs("square", "rows of operands are as far apart as columns are long", stride_of_columns));
}

// Loops over `most` axes: what has more is done at the first place of the others.
void lose_axes(HostTensor& t, std::size_t most) {
  if (rank(t) <= most) return;
  std::size_t inner = 1;
  for (std::size_t a = rank(t) - most; a < rank(t); ++a) inner *= extent(t, a);
  std::fill(t.bytes.begin() + static_cast<std::ptrdiff_t>(std::min(inner, elements(t)) * size_of(t.dtype)),
            t.bytes.end(), std::byte{0});
}

void add_limits(std::vector<Defect>& to) {
  for (const std::size_t most : {2U, 3U, 4U, 5U})
    to.push_back(of_answers("ranks", "axes before the last " + std::to_string(most) + " are not looped over",
                            [=](HostTensor& t) { lose_axes(t, most); }));
  for (const int bits : {8, 10, 15, 16}) {
    const std::size_t end = std::size_t{1} << bits;
    to.push_back(of_answers("offsets", "results are written with positions of " + std::to_string(bits) + " bits",
                            [=](HostTensor& t) {
                              if (elements(t) > end) gather(t, [=](std::size_t i) { return i % end; });
                            }));
    to.push_back(of_inputs("offsets", "operands are read with positions of " + std::to_string(bits) + " bits",
                           [=](HostTensor& t) {
                             if (elements(t) > end) gather(t, [=](std::size_t i) { return i % end; });
                           }));
  }
}

// Of operands without elements.
Defect over_nothing(double instead) {
  return {"nothing", "results of operands without elements are " + std::to_string(static_cast<int>(instead)),
          [=](const spec::Request& r, const Sound& sound, Past&) {
            spec::Answer answer = sound(r);
            spec::Numbers* numbers = mutants::numbers_of(answer);
            const bool empty =
                std::any_of(r.inputs.begin(), r.inputs.end(), [](const auto& t) { return elements(t) == 0; });
            if (numbers != nullptr && empty)
              mutants::for_each_tensor(*numbers, [=](HostTensor& t) { mutants::fill(t, instead); });
            return answer;
          }};
}

}  // namespace

std::vector<Defect> defects_of_extents() {
  std::vector<Defect> all;
  add_tails(all);
  add_squares(all);
  add_limits(all);
  for (const double instead : {0.0, 1.0}) all.push_back(over_nothing(instead));
  return all;
}

}  // namespace etalon::adequacy
