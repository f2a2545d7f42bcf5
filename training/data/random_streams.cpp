#include "training/data/random_streams.hpp"

#include <numeric>
#include <utility>

#include "spec/philox.hpp"

namespace etalon::training {

double uniform_draw(std::uint64_t seed, std::uint32_t step, Stream stream, std::uint64_t n) {
  const std::uint32_t word = spec::philox_word(seed, step, static_cast<std::uint32_t>(stream), n);
  return static_cast<double>(word >> 8U) / 16777216.0;
}

std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed, std::uint32_t step, Stream stream) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const auto word = [&](std::uint64_t n) {
    return std::uint64_t{spec::philox_word(seed, step, static_cast<std::uint32_t>(stream), n)};
  };
  for (std::size_t left = order.size(); left > 1; --left) {
    const std::uint64_t draw = word(2 * left) | word(2 * left + 1) << 32U;
    std::swap(order[left - 1], order[draw % left]);
  }
  return order;
}

}  // namespace etalon::training
