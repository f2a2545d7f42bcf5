#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "models.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "training/model/pack.hpp"
#include "training/session/session.hpp"
#include "training/step.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

using Vector = Shape<3>;

HostTensor floats(const Dims& dims, const std::vector<float>& values) { return HostTensor::of<float>(dims, values); }

template <template <class> class V>
struct Scale {
  BOOST_HANA_DEFINE_STRUCT(Scale, (V<Vector>, factor));
};

State scale_state(const std::string& optimizer = "sgd") {
  const Parameters p(Scale<Declared>{Initialiser{"ones"}});
  return {p, Optimization(p, {{"*", {optimizer}}}), 1};
}

}  // namespace

TEST_CASE("values_of_a_session_are_there_when_they_are_looked_at", "[session]") {
  const auto backend = reference::make_reference_backend();
  Session session(*backend);
  const auto x = session.input<Vector>(std::vector<float>{1, -2, 3});
  const auto y = ops::relu(x) * 2 + 1;
  static_assert(decltype(y)::type == spec::ValueType{DType::f32, Dims{3}});
  CHECK(y.value() == floats({3}, {3, 1, 7}));
  const auto total = ops::sum(y);
  CHECK(total.item() == 11);
  if (total.item() > 10) CHECK((total - 1).item() == 10);  // what follows may depend on it
  const auto [value, position] = [&] { return std::pair(ops::max(x), ops::argmax(x)); }();
  CHECK(value.item() == 3);
  CHECK(position.value() == HostTensor::of<std::int64_t>({}, {2}));
}

TEST_CASE("backward_gives_every_value_that_requires_one_its_gradient", "[session]") {
  const auto backend = reference::make_reference_backend();
  Session session(*backend);
  const auto x = session.input<Vector>(std::vector<float>{1, 2, 3}, true, "x");
  const auto c = session.input<Vector>(std::vector<float>{5, 6, 7}, false, "c");
  const auto square = x * x;
  const auto y = square * c;
  CHECK_THROWS_WITH(x.gradient(), "gradient: nothing was differentiated; call backward first");
  CHECK_THROWS_WITH(session.backward(y, floats({2}, {1, 1})), Catch::EndsWith("is f32[3], its cotangent is f32[2]"));
  session.backward(y, floats({3}, {1, 0, 2}));
  CHECK(x.gradient().value() == floats({3}, {2 * 1 * 5, 0, 2 * 3 * 7 * 2}));
  CHECK(square.gradient().value() == floats({3}, {5, 0, 14}));
  CHECK(y.gradient().value() == floats({3}, {1, 0, 2}));
  CHECK_THROWS_WITH(c.gradient(), "gradient: `c` requires none, expected a trained parameter, an input that says so, or what depends on one");
  session.backward(ops::sum(x));  // adds up
  CHECK(x.gradient().value() == floats({3}, {11, 1, 85}));
  // A gradient is a value: its own derivative is the second one.
  session.reset();
  const auto u = session.input<Vector>(std::vector<float>{1, 2, 3}, true);
  session.backward(ops::sum(u * u * u));
  const auto first = u.gradient();
  CHECK(first.value() == floats({3}, {3, 12, 27}));
  const auto counted = session.input<spec::Typed<std::int64_t, Shape<>>>(std::vector<std::int64_t>{1});
  CHECK_THROWS_WITH(session.backward(counted), Catch::EndsWith("is i64[], expected a real value"));
  CHECK_THROWS_WITH((session.input<spec::Typed<std::int64_t, Shape<>>>(std::vector<std::int64_t>{1}, true, "n")), "session: `n` is i64 and has no gradient");
}

TEST_CASE("a_step_updates_begins_a_new_record_and_keeps_what_was_looked_at", "[session]") {
  const auto cpu = compiled::make_cpu_backend({});
  const auto reference = reference::make_reference_backend();
  for (spec::Backend* backend : {cpu.get(), reference.get()}) {
    Session session(*backend, scale_state());
    const auto m = session.model<Scale>();
    const auto x = session.input<Vector>(std::vector<float>{1, 2, 4});
    const auto product = m.factor * x;
    const auto loss = ops::sum(product);
    CHECK_THROWS_WITH(session.step(0.5), "gradient: nothing was differentiated; call backward first");
    session.backward(loss);
    CHECK(m.factor.gradient().value() == floats({3}, {1, 2, 4}));
    const Outcome outcome = session.step(0.5);
    CHECK(outcome.completed());
    CHECK(outcome.number("loss") == 7);
    CHECK(loss.item() == 7);  // the step looked at it
    CHECK(m.factor.value() == floats({3}, {0.5F, 0, -1}));
    CHECK_THROWS_WITH(product.value(), Catch::EndsWith("is of a record that a step or reset has ended"));
    CHECK_THROWS_WITH(ops::sum(product), Catch::EndsWith("is of a record that a step or reset has ended"));
    CHECK(session.state().store().read(names::count) == HostTensor::of<std::int64_t>({}, {1}));
    CHECK(ops::sum(m.factor).item() == -0.5);  // handles of parameters stay good
  }
}

TEST_CASE("a_step_that_comes_again_asks_for_the_same_program", "[session]") {
  class Watching final : public spec::Backend {
   public:
    [[nodiscard]] spec::Description describe() const override { return reference->describe(); }
    [[nodiscard]] spec::Answer run(const spec::Request& request) override {
      programs.push_back(spec::to_text(request.program));
      return reference->run(request);
    }
    std::unique_ptr<spec::Backend> reference = reference::make_reference_backend();
    std::vector<std::string> programs;
  } watching;
  Session session(watching, scale_state());
  const auto m = session.model<Scale>();
  for (int step = 0; step < 3; ++step) {
    const auto unused = ops::exp(m.factor);
    session.backward(ops::sum(m.factor * session.input<Vector>(std::vector<float>{1, 2, static_cast<float>(step)})));
    CHECK(session.step(0.5 + step).completed());
  }
  REQUIRE(watching.programs.size() == 3);  // one request a step: nothing was looked at besides
  CHECK(watching.programs[0].find("exp") == std::string::npos);
  CHECK(watching.programs[1] == watching.programs[0]);
  CHECK(watching.programs[2] == watching.programs[0]);
}

TEST_CASE("a_loss_that_is_not_finite_changes_nothing", "[session]") {
  const auto cpu = compiled::make_cpu_backend({});
  const auto reference = reference::make_reference_backend();
  for (spec::Backend* backend : {cpu.get(), reference.get()}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Session session(*backend, scale_state("adam"));
      const auto m = session.model<Scale>();
      const Named before = session.state().download();
      session.backward(ops::sum(m.factor * session.input<Vector>(std::vector<float>{1, bad, 4})));
      const Outcome outcome = session.step(0.5);
      CHECK(name_of(outcome.status) == "not_finite");
      CHECK(session.state().download() == before);
      session.backward(ops::sum(m.factor));
      CHECK(session.step(0.5).completed());
      CHECK(session.state().download() != before);
    }
  }
}

TEST_CASE("handles_of_another_session_are_refused", "[session]") {
  const auto backend = reference::make_reference_backend();
  Session one(*backend), two(*backend);
  const auto x = one.input<Vector>(std::vector<float>{1, 2, 3}, false, "x");
  const auto y = two.input<Vector>(std::vector<float>{1, 2, 3}, false, "y");
  CHECK_THROWS_WITH(x + y, "session: `y` is of another session than the operands before it");
  CHECK_THROWS_WITH(two.backward(ops::sum(x)), "session: the value is of another session");
  CHECK_THROWS_WITH(Handles<Vector>() + x, "session: a handle that names nothing was used");
  CHECK_THROWS_WITH(one.parameter<Vector>("w"), "unknown parameter 'w'");
  Session three(*backend, scale_state());
  CHECK_THROWS_WITH(three.parameter<Shape<4>>("factor"), "session: `factor` is f32[3], expected f32[4]");
  CHECK_THROWS_WITH(three.parameter<Vector>("facto"), "unknown parameter 'facto'; did you mean 'factor'?");
  CHECK_THROWS_WITH(Given<Vector>(std::vector<float>{1}), "given: f32[3] takes 3 values, got 1");
}

TEST_CASE("frozen_parameters_are_read_and_not_updated", "[session]") {
  const auto backend = reference::make_reference_backend();
  auto declared = test::drawn<test::Mlp<Declared>>();
  Parameters p(declared);
  p.freeze("hidden.*");
  Session session(*backend, State(p, Optimization(p, {{"*", {"sgd"}}}), 2));
  const Named before = session.state().download(Part::parameters);
  const auto m = session.model<test::Mlp>();
  test::Digits<Given> digits;
  digits.images = std::vector<float>(192, 0.5F);
  session.backward(test::mlp_loss(m, session.inputs(digits), session.noise()));
  CHECK_THROWS_WITH(m.hidden.weight.gradient(), Catch::StartsWith("gradient: `hidden.weight` requires none"));
  CHECK(session.step(0.1).completed());
  const Named after = session.state().download(Part::parameters);
  CHECK(after.at("hidden.weight") == before.at("hidden.weight"));
  CHECK(after.at("output.bias") != before.at("output.bias"));
}

TEST_CASE("the_seed_and_the_step_key_random_operations", "[session]") {
  const auto backend = reference::make_reference_backend();
  Session session(*backend, scale_state());
  const auto draw = [&] {
    const auto noise = session.noise();
    return ops::dropout.with<"p=0.5">(session.input<Shape<64>>(std::vector<float>(64, 1)), noise.seed, noise.step).value();
  };
  const HostTensor first = draw();
  CHECK(draw() == first);
  session.backward(ops::sum(session.model<Scale>().factor));
  CHECK(session.step(0.1).completed());
  CHECK(draw() != first);
  session.seed(9);
  CHECK(draw() != first);
}

TEST_CASE("packs_of_handles_go_whole_and_curried_and_gradients_come_as_the_same_pack", "[session]") {
  const auto backend = reference::make_reference_backend();
  Session session(*backend);
  const auto pack = boost::hana::make_tuple(session.input<Vector>(std::vector<float>{1, 2, 3}, true),
                                            session.input<Shape<2>>(std::vector<float>{4, 5}, true));
  const auto f = [](const auto& a, const auto& b) { return ops::sum(ops::concat(boost::hana::make_tuple(a * a, b * b))); };
  CHECK(curried(f)(pack[boost::hana::size_c<0>])(pack[boost::hana::size_c<1>]).item() == 55);
  const auto y = whole(f)(pack);
  CHECK(y.item() == 55);
  session.backward(y);
  const auto gradients = gradients_of(pack);
  CHECK(gradients[boost::hana::size_c<0>].value() == floats({3}, {2, 4, 6}));
  CHECK(gradients[boost::hana::size_c<1>].value() == floats({2}, {8, 10}));
  const auto split = ops::split.with<"sizes=[1, 2]">(pack[boost::hana::size_c<0>]);
  CHECK(split[boost::hana::size_c<1>].value() == floats({2}, {2, 3}));
}
