/// \file
/// Trials of the bounds: a system on numbers of several kinds, evaluated by simulators and judged.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/simulator/admission.hpp"

namespace etalon::bounds_test {

/// Draws one number: benign, wide-ranging, cancelling, or from a lattice with ties and zeros.
inline double draw(std::mt19937& random, int family) {
  std::normal_distribution<double> normal;
  switch (family) {
    case 0: return normal(random);
    case 1: return std::exp(3 * normal(random)) * (random() % 2 == 0 ? 1 : -1);
    case 2: return 100 + 0.01 * normal(random);
    case 3: return static_cast<double>(static_cast<int>(random() % 9)) - 4;
    case 4: return 1e-3 * normal(random);
    default: return (random() % 2 == 0 ? 1e4 : -1e4) * (1 + 1e-5 * normal(random));
  }
}

inline HostTensor random_tensor(std::mt19937& random, const spec::TensorInfo& info, int family, bool positive) {
  HostTensor h(info.dtype, info.dims);
  for (std::size_t i = 0; i < static_cast<std::size_t>(info.dims.count()); ++i) {
    double x = draw(random, family);
    if (positive) x = std::fabs(x);
    if (info.dtype == DType::i64) h.view<std::int64_t>()[i] = 1 + static_cast<std::int64_t>(random() % 4);
    else if (info.dtype == DType::f32) h.view<float>()[i] = static_cast<float>(x);
    else h.view<double>()[i] = x;
  }
  return h;
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32 : DType::f64;

/// What came of trials.
struct Count {
  std::size_t comparisons = 0;
  std::size_t undecided = 0;
  std::size_t offenders = 0;
  std::size_t only_anew = 0;  ///< tensors that only elements computed anew explain
  double worst = 0;

  void add(const Judged& judged) {
    comparisons += judged.comparisons;
    undecided += judged.undecided;
    offenders += judged.worst.passed() ? 0 : 1;
    only_anew += judged.only_anew;
    worst = std::max(worst, judged.worst.worst_ratio);
  }

  [[nodiscard]] std::string text() const {
    return std::to_string(comparisons) + " comparisons, " + std::to_string(undecided) + " undecided, " + std::to_string(offenders) +
           " offenders, " + std::to_string(only_anew) + " tensors by elements anew, worst " + std::to_string(worst);
  }
};

/// Prints what came of the trials when the environment asks for it.
inline void report(const std::string& name, const Count& count) {
  if (std::getenv("ETALON_BOUNDS_REPORT") != nullptr) WARN(name << ": " << count.text());
}

/// Judges what `runs` simulators under the contract make of the inputs, under the contract `promised`.
template <class T>
void try_inputs(const spec::System& system, const std::vector<HostTensor>& inputs, const spec::Contract& contract,
                const spec::Contract& promised, Elements elements, unsigned first_run, unsigned runs, Count& count) {
  const Admission admission(system, inputs, promised, elements);
  for (unsigned run = first_run; run < first_run + runs; ++run) {
    const auto got = Simulator<T>(system, inputs, contract, run, elements).run();
    count.add(admission.judge(got));
  }
}

/// The inputs of the system from the family; those named in `positive` have no sign.
inline std::vector<HostTensor> random_inputs(const spec::System& system, std::mt19937& random, int family,
                                             const std::vector<std::string>& positive = {}) {
  std::vector<HostTensor> inputs;
  for (const auto t : system.inputs) {
    const bool sign = std::find(positive.begin(), positive.end(), system[t].name) != positive.end();
    inputs.push_back(random_tensor(random, system[t], family, sign));
  }
  return inputs;
}

}  // namespace etalon::bounds_test
