// The sum over leaves: the bits that the definition gives, for any workers, with few nodes held.
#include "training/leaves/tree_sum.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

/// Numbers whose sums round differently in another order.
std::vector<float> rough_numbers(std::int64_t count) {
  std::mt19937 random(11);
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    const float mantissa = 1 + static_cast<float>(random() % 8388608) / 8388608;
    const float scale = std::ldexp(1.0F, static_cast<int>(random() % 50) - 27);
    numbers.push_back(random() % 2 == 0 ? mantissa * scale : -mantissa * scale);
  }
  return numbers;
}

/// T(a, b) word for word.
float defined_sum(const std::vector<float>& x, std::int64_t a, std::int64_t b) {
  if (b - a == 1) return x[static_cast<std::size_t>(a)];
  std::int64_t k = 1;
  while (2 * k < b - a) k *= 2;
  return defined_sum(x, a, a + k) + defined_sum(x, a + k, b);
}

SumNode leaf(const std::vector<float>& x, std::int64_t j) {
  return {{j, j + 1}, {HostTensor::of<float>({}, {x[static_cast<std::size_t>(j)]})}};
}

std::uint32_t bits_of(const Summands& sum) { return std::bit_cast<std::uint32_t>(sum.at(0).view<float>()[0]); }

}  // namespace

TEST_CASE("any_number_of_workers_adds_leaves_to_the_bits_of_the_definition", "[leaves]") {
  const std::vector<float> x = rough_numbers(200);
  std::size_t most_held = 0, most_sent = 0;
  for (std::int64_t leaves = 1; leaves <= 200; ++leaves) {
    const auto expected = std::bit_cast<std::uint32_t>(defined_sum(x, 0, leaves));
    for (std::int64_t workers = 1; workers <= 17; ++workers) {
      TreeSum joined(leaves);
      for (std::int64_t w = 0; w < workers; ++w) {
        const LeafRange part{w * leaves / workers, (w + 1) * leaves / workers};
        TreeSum own(leaves);
        for (std::int64_t j = part.first; j < part.end; ++j) {
          own.add(leaf(x, j));
          most_held = std::max(most_held, own.nodes().size());
        }
        std::vector<SumNode> sent = own.take();
        const std::vector<LeafRange> planned = largest_nodes(part, leaves);
        if (!std::ranges::equal(sent, planned, {}, &SumNode::leaves))
          FAIL("other nodes than planned: worker " << w << " of " << workers);
        most_sent = std::max(most_sent, sent.size());
        for (SumNode& node : sent) joined.add(std::move(node));
      }
      if (bits_of(joined.take_root()) != expected)
        FAIL("other bits: " << leaves << " leaves, " << workers << " workers");
    }
  }
  // Of fewer than 2^8 leaves a range has at most two nodes a level, one of the top: 2·7; of a beginning, one a level.
  CHECK(most_sent <= 14);
  CHECK(most_held <= 14);
  CHECK(most_held >= 7);  // of [0, 127)
}

TEST_CASE("the order of a sum matters, so that equal bits say something", "[leaves]") {
  const std::vector<float> x = rough_numbers(200);
  int different = 0;
  for (std::int64_t leaves = 3; leaves <= 200; ++leaves) {
    float in_turn = 0;
    for (std::int64_t j = 0; j < leaves; ++j) in_turn += x[static_cast<std::size_t>(j)];
    different += in_turn != defined_sum(x, 0, leaves) ? 1 : 0;
  }
  CHECK(different > 100);
}

TEST_CASE("doubles_are_added_as_doubles_and_every_element_by_itself", "[leaves]") {
  TreeSum sum(3);
  const auto at = [](std::int64_t j, double a, float b) {
    return SumNode{{j, j + 1}, {HostTensor::of<double>({2}, {a, -a}), HostTensor::of<float>({1}, {b})}};
  };
  sum.add(at(0, 1, 1));
  sum.add(at(1, 0x1p-51, 0x1p-24F));
  CHECK(sum.nodes().size() == 1);
  sum.add(at(2, 2, 2));
  const Summands root = sum.take_root();
  CHECK(root[0] == HostTensor::of<double>({2}, {3 + 0x1p-51, -3 - 0x1p-51}));
  CHECK(root[1] == HostTensor::of<float>({1}, {3}));
}

TEST_CASE("a_sum_refuses_what_is_not_the_next_node", "[leaves]") {
  const std::vector<float> x = rough_numbers(6);
  TreeSum sum(6);
  CHECK_THROWS_WITH(sum.take_root(), "leaves: the sum of 6 leaves has none");
  sum.add(leaf(x, 0));
  CHECK_THROWS_WITH(sum.add(leaf(x, 2)), "leaves: [2, 3) comes after [0, 1), expected leaf 1");
  CHECK_THROWS_WITH(sum.add(leaf(x, 0)), "leaves: [0, 1) comes after [0, 1), expected leaf 1");
  CHECK_THROWS_WITH(sum.add({{1, 3}, {HostTensor::of<float>({}, {1})}}),
                    "leaves: [1, 3) is no node of the tree over 6 leaves");
  CHECK_THROWS_WITH(sum.add({{1, 2}, {HostTensor::of<double>({}, {1})}}),
                    "leaves: tensor 0 is f64[], expected f32[] as before");
  CHECK_THROWS_WITH(sum.add({{1, 2}, {}}), "leaves: 0 tensors, expected 1 as before");
  CHECK_THROWS_WITH(sum.add({{1, 2}, {HostTensor(DType::f16, {})}}),
                    Catch::StartsWith("leaves: a leaf's tensor is f16, expected f32 or f64"));
  CHECK(sum.nodes().size() == 1);
  CHECK_THROWS_WITH(sum.take_root(), "leaves: the sum of 6 leaves has 0 to 0");
  CHECK_THROWS_WITH(TreeSum(0), "leaves: a sum of 0 leaves, expected at least 1");
  CHECK_THROWS_WITH(largest_nodes({2, 7}, 6), "leaves: [2, 7) is no range of 6 leaves");
  CHECK(largest_nodes({1, 6}, 6) == std::vector<LeafRange>{{1, 2}, {2, 4}, {4, 6}});
}
