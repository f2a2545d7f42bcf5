// Inputs in boxes: whatever point of the box is taken, what a conforming evaluation makes of it lies in the ranges.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bounds_systems.hpp"
#include "bounds_trials.hpp"
#include "reference/bounds/ranges.hpp"
#include "spec/program/program.hpp"

namespace etalon {
namespace {

using namespace bounds_test;
using reference::Box;
using reference::Combination;
using reference::Range;
using reference::bounds::Narrowing;

constexpr Narrowing narrowings[] = {Narrowing::intervals, Narrowing::sweep, Narrowing::lines, Narrowing::both};

struct Boxes {
  std::vector<HostTensor> centres;
  std::vector<std::optional<Box>> boxes;
};

double number_at(const HostTensor& t, std::size_t i) { return t.dtype == DType::f32 ? t.view<float>()[i] : t.view<double>()[i]; }

/// Boxes about the real inputs, of that relative and absolute half width.
Boxes boxes_about(const std::vector<HostTensor>& centres, double relative, double absolute) {
  Boxes all{centres, {}};
  for (const HostTensor& t : centres) {
    if (kind_of(t.dtype) != Kind::real) {
      all.boxes.emplace_back();
      continue;
    }
    Box box;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      const double x = number_at(t, i);
      const double half = std::abs(x) * relative + absolute;
      box.lower.push_back(x - half);
      box.upper.push_back(x + half);
    }
    all.boxes.emplace_back(std::move(box));
  }
  return all;
}

/// A point of the boxes, mostly on their edges, where extremes are.
template <class T>
std::vector<HostTensor> point_in(const Boxes& in, std::mt19937& random) {
  std::vector<HostTensor> point = in.centres;
  for (std::size_t input = 0; input < point.size(); ++input) {
    const auto& box = in.boxes[input];
    if (!box) continue;
    const auto values = point[input].view<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double share = random() % 3 == 0 ? static_cast<double>(random() % 1025) / 1024 : static_cast<double>(random() % 2);
      const auto x = static_cast<T>(box->lower[i] + share * (box->upper[i] - box->lower[i]));
      if (x >= box->lower[i] && x <= box->upper[i]) values[i] = x;
    }
  }
  return point;
}

struct Tally {
  std::size_t points = 0, comparisons = 0, outside = 0, open = 0;
  double widest = 0;  ///< of all finite ranges
};

/// Every real element of every output on its own, and the difference of each two neighbours.
std::vector<Combination> combinations_of(const spec::System& system) {
  std::vector<Combination> all;
  for (std::size_t o = 0; o < system.outputs.size(); ++o) {
    if (kind_of(system[system.outputs[o]].dtype) != Kind::real) continue;
    const auto count = static_cast<std::size_t>(system[system.outputs[o]].dims.count());
    for (std::size_t i = 0; i < count; ++i) all.push_back({{o, i, 1}});
    for (std::size_t i = 1; i < count; ++i) all.push_back({{o, i - 1, 1}, {o, i, -1}});
  }
  return all;
}

template <class T>
void try_points(const spec::System& system, const Boxes& in, Narrowing narrowing, unsigned runs, std::mt19937& random, Tally& tally) {
  const spec::Contract contract;
  const std::vector<Combination> combinations = combinations_of(system);
  const std::vector<Range> found = reference::ranges(system, in.centres, in.boxes, contract, combinations, narrowing);
  for (const Range& r : found) {
    if (std::isfinite(r.lower) && std::isfinite(r.upper)) tally.widest = std::max(tally.widest, r.upper - r.lower);
  }
  for (unsigned run = 0; run < runs; ++run) {
    const std::vector<HostTensor> point = point_in<T>(in, random);
    const std::vector<HostTensor> got = Simulator<T>(system, point, contract, run, Elements::stored).run();
    ++tally.points;
    for (std::size_t c = 0; c < combinations.size(); ++c) {
      if (!std::isfinite(found[c].lower) || !std::isfinite(found[c].upper)) {
        ++tally.open;
        continue;
      }
      long double sum = 0;
      for (const auto& t : combinations[c]) sum += t.factor * static_cast<long double>(number_at(got[t.output], t.element));
      ++tally.comparisons;
      if (!(sum >= found[c].lower && sum <= found[c].upper)) ++tally.outside;
    }
  }
}

using Build = std::function<spec::System(DType)>;

template <class T>
void holds(const char* name, const Build& build, const std::vector<std::string>& positive = {}, double useful = 0.5) {
  const spec::System system = build(dtype_of<T>);
  Tally tally;
  std::mt19937 random(3);
  for (const int family : {0, 3, 4}) {
    const auto centres = random_inputs(system, random, family, positive);
    for (const double size : {0.0, 1e-6, 1e-3, 0.1}) {
      for (const Narrowing narrowing : narrowings) {
        try_points<T>(system, boxes_about(centres, size, family == 3 ? 0 : size), narrowing, 8, random, tally);
      }
    }
  }
  INFO(name << ": " << tally.comparisons << " comparisons, " << tally.outside << " outside, " << tally.open << " open");
  CHECK(tally.outside == 0);
  CHECK(static_cast<double>(tally.comparisons) > useful * static_cast<double>(tally.comparisons + tally.open));
}

}  // namespace

TEMPLATE_TEST_CASE("what conforming evaluations make of points in boxes lies in the ranges", "[boxes]", float, double) {
  holds<TestType>("sum", [](DType d) { return sum_system(d, 17); });
  holds<TestType>("matmul", [](DType d) { return matmul_system(d, 2, 9, 3); });
  holds<TestType>("linear", [](DType d) { return matmul_system(d, 2, 9, 3, true); });
  holds<TestType>("softmax", [](DType d) { return softmax_system(d, 2, 5); });
  holds<TestType>("log_softmax", [](DType d) { return log_softmax_system(d, 2, 5); });
  holds<TestType>("layer_norm", [](DType d) { return layer_norm_system(d, 2, 6); }, {}, 0.3);
  holds<TestType>("chain", [](DType d) { return chain_system(d, 8); });
  holds<TestType>("functions", [](DType d) { return functions_system(d, 6); }, {}, 0.3);
  holds<TestType>("cross_entropy", [](DType d) { return cross_entropy_system(d, 3, 7); });
  holds<TestType>("hinge", [](DType d) { return hinge_vjp_system(d, 12); });
  holds<TestType>("product", [](DType d) { return product_system(d, 5); }, {}, 0.1);
}

}  // namespace etalon
