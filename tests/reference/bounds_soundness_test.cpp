// No conforming evaluation lies outside its envelope.
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "tests/simulator/simulator.hpp"
#include "bounds_systems.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

/// Draws one number: benign, wide-ranging, cancelling, or from a lattice with ties and zeros.
double draw(std::mt19937& random, int family) {
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

HostTensor random_tensor(std::mt19937& random, const spec::TensorInfo& info, int family, bool positive) {
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

struct Count {
  std::size_t comparisons = 0;
  std::size_t undecided = 0;
  std::size_t offenders = 0;
  double worst = 0;
};

template <class T>
Count simulate(const std::function<spec::System(DType)>& build, int seeds, int runs, const std::vector<std::string>& positive = {}) {
  const spec::System system = build(std::is_same_v<T, float> ? DType::f32 : DType::f64);
  const spec::Contract contract;
  Count count;
  for (int seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<HostTensor> inputs;
    for (const auto t : system.inputs) {
      const bool sign = std::find(positive.begin(), positive.end(), system[t].name) != positive.end();
      inputs.push_back(random_tensor(random, system[t], seed % 6, sign));
    }
    const auto bounds = reference::envelopes(system, inputs, contract);
    for (int run = 0; run < runs; ++run) {
      const auto got = Simulator<T>(system, inputs, contract, static_cast<unsigned>(seed * 1000 + run)).run();
      const auto verdict = reference::judge(got, bounds);
      count.comparisons += verdict.comparisons;
      count.undecided += verdict.undecided;
      count.offenders += verdict.offenders;
      count.worst = std::max(count.worst, verdict.worst_ratio);
      INFO("seed " << seed << " run " << run << " output " << verdict.output << " element " << verdict.first_offender);
      INFO("expected [" << verdict.expected.lower << ", " << verdict.expected.upper << "]");
      CHECK(verdict.message.empty());
      CHECK(verdict.offenders == 0);
      if (verdict.offenders != 0) return count;
    }
  }
  return count;
}

template <class T>
void sound(const char* name, const std::function<spec::System(DType)>& build, const std::vector<std::string>& positive = {},
           double useful = 0.9) {
  INFO(name);
  const Count c = simulate<T>(build, 12, 16, positive);
  CHECK(c.offenders == 0);
  CHECK(c.comparisons > 0);
  INFO("comparisons " << c.comparisons << " undecided " << c.undecided << " worst " << c.worst);
  CHECK(static_cast<double>(c.comparisons) >= useful * static_cast<double>(c.comparisons + c.undecided));
  // The bound is near what happens: some run comes within a factor of 2000 of it.
  CHECK(c.worst > 0.0005);
  if (std::getenv("ETALON_BOUNDS_REPORT") != nullptr) WARN(name << " " << c.comparisons << " " << c.undecided << " " << c.worst);
}

}  // namespace

TEMPLATE_TEST_CASE("conforming evaluations lie inside", "[bounds]", float, double) {
  sound<TestType>("sum", [](DType d) { return sum_system(d, 97); });
  sound<TestType>("matmul", [](DType d) { return matmul_system(d, 3, 33, 4); });
  sound<TestType>("linear", [](DType d) { return matmul_system(d, 3, 17, 4, true); });
  sound<TestType>("softmax", [](DType d) { return softmax_system(d, 3, 9); });
  sound<TestType>("log_softmax", [](DType d) { return log_softmax_system(d, 3, 9); });
  sound<TestType>("layer_norm", [](DType d) { return layer_norm_system(d, 3, 12); });
  sound<TestType>("chain", [](DType d) { return chain_system(d, 40); });
  sound<TestType>("functions", [](DType d) { return functions_system(d, 20); }, {}, 0.6);
  sound<TestType>("cross_entropy", [](DType d) { return cross_entropy_system(d, 5, 7); });
  sound<TestType>("adam", [](DType d) { return adam_system(d, 20); }, {"v"});
  sound<TestType>("hinge", [](DType d) { return hinge_vjp_system(d, 40); });
  sound<TestType>("product", [](DType d) { return product_system(d, 6); }, {}, 0.5);
}

}  // namespace etalon
