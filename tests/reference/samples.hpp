/// \file
/// Sample calls of every operation, small and covering its forms: test data, like the golden cases.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "three_ways.hpp"

namespace etalon::test {

/// A call. An operand is its type, `f64[2, 3]`; with `>0` its values are positive; `i64[2] = 1 0` states them; `absent`.
struct Sample {
  std::string operation;
  std::string attributes;
  std::vector<std::string> operands;
};

[[nodiscard]] const std::vector<Sample>& samples();

/// Off kinks: values at random. At kinks: values from -1, 0 and 1, so that comparisons meet ties and zeros. Positive:
/// off kinks and above 0, for operations that are defined there only.
enum class Draw { off_kinks, at_kinks, positive };

struct Drawn {
  spec::Instance instance;
  Point point;
  std::vector<std::size_t> wrt;  ///< the real operands, where some result is real
};
[[nodiscard]] Drawn draw(const Sample& sample, Draw how, std::mt19937_64& engine);

}  // namespace etalon::test
