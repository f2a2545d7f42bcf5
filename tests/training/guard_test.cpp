// Guards: what is not finite is named by value and element, and the store is what it was before the run.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "training/routine.hpp"
#include "training/session/session.hpp"
#include "training/tasks/tasks.hpp"
#include "training/trainer.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

HostTensor floats(const Dims& dims, const std::vector<float>& values) { return HostTensor::of<float>(dims, values); }

/// The loss is finite where h and the new w are not: log(0) is -inf, exp of it 0.
const char* const step = R"(input x : f32[2, 3]
parameter w : f32[2, 3]
parameter n : i64[]
parameter m : f32[2, 3]
h = log(x)
a = exp(h)
loss = sum(a)
w1 = sub(w, h)
n1 = add(n, c1)
m[i, j] += a[i, j]
output loss, a
update w := w1
update n := n1
capture h
)";

template <template <class> class V>
struct Scale {
  BOOST_HANA_DEFINE_STRUCT(Scale, (V<Shape<3>>, factor));
};

spec::Program step_program() { return spec::parse_program(std::string("constant c1 : i64[] = 1\n") + step); }

Named bad() { return {{"x", floats({2, 3}, {1, 2, 1, 1, 0, 0})}}; }
Named good() { return {{"x", floats({2, 3}, {1, 2, 1, 1, 3, 4})}}; }

void fill(compiled::Store& store) {
  store.put("w", floats({2, 3}, {1, 1, 1, 1, 1, 1}));
  store.put("m", floats({2, 3}, {0, 0, 0, 0, 0, 0}));
  store.put("n", HostTensor::of<std::int64_t>({}, {7}));
}

std::vector<HostTensor> all_of(const compiled::Store& store) {
  std::vector<HostTensor> values;
  for (const std::string& name : store.names()) values.push_back(store.read(name));
  return values;
}

}  // namespace

TEST_CASE("a_guard_names_the_first_value_and_element_and_nothing_is_updated", "[guard]") {
  const auto reference = reference::make_reference_backend();
  for (const Target& target : {Target::cpu(), Target::backend(*reference)}) {
    compiled::Store store;
    fill(store);
    Routine routine(step_program(), target, store);
    const std::vector<HostTensor> before = all_of(store);
    REQUIRE(before.size() == 3);

    routine.guard({{"loss", "h"}, false});
    const Outcome outcome = routine.run(bad());
    CHECK(outcome.status == Outcome::Status::not_finite);
    CHECK(outcome.why == "`h` is -inf at [1, 1]");  // computed before the loss
    REQUIRE(outcome.not_finite);
    CHECK(outcome.not_finite->value == "h");
    CHECK(outcome.not_finite->element == std::vector<std::int64_t>{1, 1});
    CHECK(outcome.not_finite->number == -std::numeric_limits<double>::infinity());
    CHECK(all_of(store) == before);
    CHECK(std::isfinite(outcome.number("loss")));  // what was computed can be looked at
    CHECK(outcome.captured("h").view<float>()[4] == -infinity);

    routine.guard({{}, true});
    const Outcome update = routine.run(bad());
    CHECK(update.why == "the new `w` is inf at [1, 1]");
    CHECK(update.not_finite->updated);
    CHECK(all_of(store) == before);

    routine.guard({{"loss", "a"}, false});
    CHECK(routine.run(bad()).completed());
    CHECK(store.read("w").view<float>()[4] == infinity);
    CHECK(store.read("n") == HostTensor::of<std::int64_t>({}, {8}));

    fill(store);
    routine.guard({{"h", "loss"}, true});
    CHECK(routine.run(good()).completed());
    CHECK(all_of(store) != before);
    CHECK_THROWS_WITH(routine.guard({{"hh"}, false}), "unknown output or capture 'hh'; did you mean 'h'?");
    CHECK_THROWS_WITH(routine.guard({{"w1"}, false}), Catch::StartsWith("unknown output or capture 'w1'"));
  }
}

TEST_CASE("a_watched_value_is_named_too_but_updates_happen", "[guard]") {
  compiled::Store store;
  fill(store);
  Routine routine(step_program(), Target::cpu(), store);
  const Outcome outcome = routine.watch("loss").watch("h").run(bad());
  CHECK(outcome.why == "`h` is -inf at [1, 1]");
  CHECK(store.read("n") == HostTensor::of<std::int64_t>({}, {8}));
}

TEST_CASE("elements_of_sixteen_bits_and_whole_numbers_are_judged_as_what_they_are", "[guard]") {
  HostTensor half(DType::f16, {2, 2});
  half.view<std::uint16_t>()[1] = 0x7bff;
  CHECK_FALSE(first_not_finite("x", half));
  half.view<std::uint16_t>()[3] = 0xfc00;
  CHECK(to_text(first_not_finite("x", half).value()) == "`x` is -inf at [1, 1]");
  HostTensor brain(DType::bf16, {3});
  brain.view<std::uint16_t>()[2] = 0x7fc1;
  CHECK(to_text(first_not_finite("x", brain).value()) == "`x` is nan at [2]");
  CHECK(to_text(first_not_finite("x", HostTensor::of<double>({}, {std::numeric_limits<double>::infinity()})).value()) ==
        "`x` is inf");
  CHECK_FALSE(first_not_finite("n", HostTensor::of<std::int64_t>({1}, {std::numeric_limits<std::int64_t>::max()})));
  CHECK_FALSE(first_not_finite("e", HostTensor(DType::f32, {0, 3})));
}

TEST_CASE("a_guarded_session_changes_nothing_and_has_what_it_captured", "[guard][captures]") {
  const auto cpu = compiled::make_cpu_backend();
  const auto reference = reference::make_reference_backend();
  for (spec::Backend* backend : {cpu.get(), reference.get()}) {
    const Parameters p(Scale<Declared>{Initialiser{"ones"}});
    Session session(*backend, State(p, Optimization(p, {{"*", {"sgd"}}}), 1));
    const auto m = session.model<Scale>();
    const auto loss_of = [&](const std::vector<float>& x) {
      const auto h = named("hidden", ops::log(stored(m.factor * session.input<Shape<3>>(x))));
      return ops::sum(ops::exp(inlined(h * 2)));
    };
    const Named before = session.state().download();
    session.guard({{"hidden"}, true});
    const auto loss = loss_of({1, 4, 0});
    CHECK(std::isfinite(loss.item()));
    CHECK(session.captured("hidden").view<float>()[2] == -infinity);
    CHECK_THROWS_WITH(session.captured("hiden"), "unknown capture 'hiden'; did you mean 'hidden'?");
    session.backward(loss);
    const Outcome bad = session.step(0.25);
    CHECK(bad.status == Outcome::Status::not_finite);
    CHECK(bad.why == "`hidden` is -inf at [2]");
    CHECK(session.state().download() == before);
    CHECK(bad.captured("hidden").view<float>()[2] == -infinity);

    session.backward(loss_of({1, 1, 1}));
    const Outcome good = session.step(0.25);
    CHECK(good.completed());
    CHECK(good.captured("hidden") == floats({3}, {0, 0, 0}));
    CHECK(session.captured("hidden") == floats({3}, {0, 0, 0}));  // of the last step
    CHECK(session.state().download() != before);
    // Twice in one record: the second has a name of its own.
    (void)(loss_of({1, 1, 1}) + loss_of({2, 2, 2}));
    CHECK_FALSE(session.captured("hidden") == session.captured("hidden.2"));
    CHECK_THROWS_WITH(named("w", m.factor), Catch::Contains("comes from outside and keeps its name"));
  }
}

TEST_CASE("a_trainer_ends_where_its_guard_fires_and_says_where", "[guard]") {
  const Dataset examples{2, 0, {1000, 2000, -1000, 500}, {}, {1, -1}};
  Task task = moons();
  task.rate = [](const Traced& step_n, std::int64_t) { return spec::real(step_n) * 0 + 3e38; };
  task.loss = [](const Traced& answers, const Traced& targets) { return ops::mse(answers, targets); };
  TrainerOptions options{1, 1, 2};
  options.guard.updates = true;
  Trainer trainer(task, examples, options);
  const Named before = trainer.state().download();
  CHECK_THROWS_WITH(trainer.run([](const StepRecord&) {}),
                    Catch::StartsWith("training: step 0 did not complete: the new `w1` is "));
  CHECK(trainer.state().download() == before);
  // Without the guard the loss, which is finite, lets the step pass.
  Trainer unguarded(task, examples, TrainerOptions{1, 1, 2});
  CHECK_NOTHROW(unguarded.run([](const StepRecord&) {}));
  TrainerOptions wrong{1, 1, 2};
  wrong.guard.values = {"hidden"};
  CHECK_THROWS_WITH(Trainer(moons(), examples, wrong), Catch::StartsWith("unknown output or capture 'hidden'"));
}
