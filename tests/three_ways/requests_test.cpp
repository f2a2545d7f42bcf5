#include <cmath>
#include <vector>

#include "three_ways/compare.hpp"
#include "training/models.hpp"

using namespace etalon;
using test::State;
using training::Given;

namespace {

/// One layer over three rows.
template <template <class> class V>
struct Layer {
  using Weight = V<Shape<4, 5>>;
  BOOST_HANA_DEFINE_STRUCT(Layer, (Weight, weight));
};
template <template <class> class V>
struct Rows {
  using Points = V<Shape<3, 5>>;
  BOOST_HANA_DEFINE_STRUCT(Rows, (Points, points));
};

/// Names and requests stand in the model, and mean what they can in each world.
constexpr auto loss_with_requests = [](const auto& m, const auto& batch, const auto&) {
  const auto label = section(batch.points, "front");
  const auto product = stored(ops::linear(batch.points, m.weight, spec::absent));
  const auto hidden = named("hidden", ops::tanh(inlined(product * product)));
  return ops::mean(hidden * hidden);
};

constexpr auto loss_without = [](const auto& m, const auto& batch, const auto&) {
  const auto product = ops::linear(batch.points, m.weight, spec::absent);
  const auto hidden = ops::tanh(product * product);
  return ops::mean(hidden * hidden);
};

Rows<Given> rows() { return {std::vector<float>{1, -2, 3, 0, 1, 0.5F, 2, -1, 1, 1, -3, 1, 0, 2, -0.5F}}; }

}  // namespace

TEST_CASE("one_lambda_with_names_and_requests_trains_the_same_in_three_ways", "[three][requests]") {
  const auto declared = test::drawn<Layer<training::Declared>>();
  test::require_three_ways<Layer>(declared, loss_with_requests, rows(), 3);
  // And as the one without them does.
  const auto reference = reference::make_reference_backend();
  const auto with = test::in_a_session<Layer>(*reference, test::state_of(declared), loss_with_requests, rows(), 1);
  CHECK(with == test::in_a_session<Layer>(*reference, test::state_of(declared), loss_without, rows(), 1));
}

TEST_CASE("what_is_named_is_read_alike_on_every_target", "[three][requests]") {
  const auto declared = test::drawn<Layer<training::Declared>>();
  const auto reference = reference::make_reference_backend();
  training::Session session(*reference, test::state_of(declared));
  const auto model = session.model<Layer>();
  const auto y = loss_with_requests(model, session.inputs(rows()), session.noise());
  const HostTensor eager = session.captured("hidden");
  session.backward(y);
  CHECK(session.step(test::rate).captured("hidden") == eager);

  const spec::Program program = test::step_of<Layer, Rows>(test::state_of(declared), loss_with_requests);
  const auto captured_on = [&](const training::Target& target) {
    const State state = test::state_of(declared);
    return training::Routine(program, target, state.store()).run(training::named(rows())).captured("hidden");
  };
  CHECK(captured_on(training::Target::backend(*reference)) == eager);
  const HostTensor compiled = captured_on(training::Target::cpu());
  REQUIRE(compiled.dims == eager.dims);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(std::fabs(compiled.view<float>()[i] - eager.view<float>()[i]) <= 1e-5F);
    ++compared;
  }
  CHECK(compared == static_cast<std::size_t>(eager.dims.count()));
}
