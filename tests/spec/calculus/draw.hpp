/// \file
/// Random inputs for systems, repeatable from a seed.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "reference/number.hpp"
#include "reference/array.hpp"
#include "tests/spec/calculus/systems.hpp"

namespace etalon::test {

using Real = reference::Real50;
using Values = reference::Array<Real>;

/// Numbers in [-1, 1] on a grid of 2^-20, integers in the given range.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}

  Values operator()(const spec::TensorInfo& t, std::int64_t low = 0, std::int64_t high = 1) {
    Values v(kind_of(t.dtype), t.dims);
    std::uniform_int_distribution<int> real(-(1 << 20), 1 << 20);
    std::uniform_int_distribution<std::int64_t> whole(low, high);
    std::uniform_int_distribution<std::int64_t> truth(0, 1);
    for (Real& x : v.real) x = Real(real(engine_)) / (1 << 20);
    for (std::int64_t& x : v.integer) x = v.kind == Kind::boolean ? truth(engine_) : whole(engine_);
    if (v.kind == Kind::integer && v.integer.size() > 1) {
      v.integer.front() = low;  // so that the drawn range is met whatever the seed
      v.integer.back() = high - 1;
    }
    return v;
  }

  std::vector<Values> inputs(const spec::System& s, std::int64_t low, std::int64_t high) {
    std::vector<Values> all;
    for (const spec::TensorId t : s.inputs) all.push_back((*this)(s[t], low, high));
    return all;
  }

  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

/// Positions of the real inputs.
[[nodiscard]] inline std::vector<std::size_t> real_inputs(const spec::System& s) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    if (kind_of(s[s.inputs[i]].dtype) == Kind::real) at.push_back(i);
  }
  return at;
}

/// The largest |a - b|; NaN differences count as infinite.
[[nodiscard]] inline Real distance(const Values& a, const Values& b) {
  Real worst = 0;
  if (a.real.size() != b.real.size() || a.integer != b.integer) return Real(1e99);
  for (std::size_t i = 0; i < a.real.size(); ++i) {
    const Real d = abs(a.real[i] - b.real[i]);
    if (!(d <= worst)) worst = isnan(d) ? Real(1e99) : d;
  }
  return worst;
}

[[nodiscard]] inline Real inner(const Values& a, const Values& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.real.size(); ++i) sum += a.real[i] * b.real[i];
  return sum;
}

}  // namespace etalon::test
