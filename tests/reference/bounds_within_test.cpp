// Operands known only within bounds: whatever they are, what follows lies within the bounds of the result.
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <vector>

#include "bounds_systems.hpp"
#include "reference/bounds/envelope.hpp"

using namespace etalon;
using bounds_test::Builder;
using reference::Envelope;
using spec::Expr;

namespace {

constexpr std::int64_t count = 4;

/// y[] of x[n] and z[n].
spec::System of_two(const std::function<Expr(Builder&, spec::TensorId, spec::TensorId)>& value) {
  Builder b(DType::f32);
  const auto x = b.input("x", {count});
  const auto z = b.input("z", {count});
  b.s.define(b.output("y", {}), {}, value(b, x, z));
  return b.s;
}

Envelope box_about(const HostTensor& centre, double relative, double absolute) {
  Envelope e;
  e.dims = centre.dims;
  e.dtype = centre.dtype;
  for (const float v : centre.view<float>()) {
    const double x = v, half = std::abs(x) * relative + absolute;
    e.reference.push_back(x);
    e.lower.push_back(x - half);
    e.upper.push_back(x + half);
    e.flags.push_back(reference::admits_finite);
  }
  return e;
}

HostTensor somewhere_in(const Envelope& e, std::mt19937& draw) {
  HostTensor t(DType::f32, e.dims);
  for (std::size_t i = 0; i < e.lower.size(); ++i) {
    std::uniform_real_distribution<double> inside(e.lower[i], e.upper[i]);
    const auto v = static_cast<float>(inside(draw));
    t.view<float>()[i] = v < e.lower[i] || v > e.upper[i] ? static_cast<float>(e.reference[i]) : v;
  }
  return t;
}

}  // namespace

TEST_CASE("the bounds on operands within boxes hold the bounds on every operand in the boxes", "[bounds]") {
  using spec::Primitive;
  const auto at = [](Builder& b, spec::TensorId t, std::int64_t i) { return b.s.at(t, {spec::integer(i)}); };
  const std::vector<spec::System> systems{
      of_two([&](Builder& b, auto x, auto z) { return at(b, x, 0) * at(b, z, 1) + at(b, x, 0) - at(b, z, 2); }),
      of_two([&](Builder& b, auto x, auto z) { return bounds_test::function(Primitive::exp, at(b, x, 1)) / (at(b, z, 0) * at(b, z, 0) + bounds_test::number(1)); }),
      of_two([&](Builder& b, auto x, auto z) { return at(b, x, 0) * at(b, x, 1) * at(b, x, 2) - bounds_test::function(Primitive::sqrt, at(b, z, 3) * at(b, z, 3)); }),
      of_two([&](Builder& b, auto x, auto z) { return spec::apply(Primitive::maximum, {at(b, x, 2), at(b, z, 2)}) - at(b, x, 2); })};
  std::mt19937 draw(7);
  std::size_t compared = 0;
  for (const spec::System& system : systems) {
    const HostTensor x = HostTensor::of<float>({count}, {1.5F, -0.75F, 0.25F, 2});
    const HostTensor z = HostTensor::of<float>({count}, {-1.25F, 3, 0.25F, 0.5F});
    for (const double size : {1e-6, 1e-3, 0.2}) {
      const Envelope box_x = box_about(x, size, 0), box_z = box_about(z, size, size);
      const std::vector<HostTensor> centres{x, z};
      const std::vector<const Envelope*> within{&box_x, &box_z};
      const reference::Envelopes wide = reference::envelopes(system, centres, {}, within);
      for (int sample = 0; sample < 50; ++sample) {
        const std::vector<HostTensor> inside{somewhere_in(box_x, draw), somewhere_in(box_z, draw)};
        const reference::Envelopes narrow = reference::envelopes(system, inside, {});
        CHECK(narrow.outputs[0].lower[0] >= wide.outputs[0].lower[0]);
        CHECK(narrow.outputs[0].upper[0] <= wide.outputs[0].upper[0]);
        ++compared;
      }
      // The box says something.
      const double width = wide.outputs[0].upper[0] - wide.outputs[0].lower[0];
      CHECK(width <= 60 * size + 1e-5);
    }
  }
  CHECK(compared == 4 * 3 * 50);
}
