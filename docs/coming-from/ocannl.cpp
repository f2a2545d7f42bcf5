// What OCANNL's users know beside Etalon: docs/coming-from-ocannl.md is cut from this file, which is compiled and run as a
// test. The marks are those of pytorch.cpp.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <vector>

#include "reference/backend.hpp"
#include "spec/einsum/einsum.hpp"
#include "spec/library/operations.hpp"
#include "training/programs.hpp"
#include "training/routine.hpp"

using namespace etalon;
using namespace etalon::training;

TEST_CASE("programs_and_routines", "[ocannl]") {
  //= Programs
  //[ `%op` over a parameter with inline dimensions, the others inferred
  Tracer t;
  const Traced x = t.input("x", DType::f32, {8, 3});
  const Traced w = t.open_parameter("w", DType::f32, {1, OpenExtent{"n"}});
  const Traced y = ops::linear(x, w, spec::absent);
  //]
  //[ `~logic:"..."` einsum with a captured dimension
  const auto [sums, rows] = etalon::einsum<2>("ni=>n", {.captures = "n"})(x);
  //]
  t.output("rows", rows);
  //[ `grad_update loss`, `sgd_update`
  const Traced loss = ops::mean(ops::square(y));
  t.assign(w, w - 0.1 * gradient(loss, w));
  //]
  //[ `%cd` assignments: `acc =+ w` with a buffer that is reset
  const Traced acc = t.buffer("acc", DType::f32, {3});
  t.assign("acc[j] :+= sum[i] x[i, j]");
  //]
  t.output("loss", loss);
  //[ `IDX.get_static_symbol ~static_range:4 bindings`
  const Traced n = t.index("n", 0, 3);
  //]
  t.output("twice", n * 2);
  //= Running
  //[ `Context.auto ()`, `Context.compile`, `Context.run`
  compiled::Store store;
  Routine routine(t.finish(), Target::cpu(), store);
  store.write("w", HostTensor::of<float>({1, 3}, {1, 2, 3}));
  //]
  const HostTensor data = HostTensor::of<float>({8, 3}, std::vector<float>(24, 1));
  //[ `Train.sequential_loop`: every symbol that has a range
  int runs = 0;
  const Outcome last = routine.iterate([&](const auto& at, const Outcome& o) { return o.number("twice") == 2.0 * static_cast<double>(at.at("n")) && ++runs > 0; },
                                       {}, {{"x", data}});
  //]
  CHECK(runs == 4);
  CHECK(last.number("rows") == 8);
  //[ setting a symbol's `int ref`
  routine.bind("n", 2);
  const Outcome once = routine.run({{"x", data}});
  //]
  CHECK(once.number("twice") == 4);
  CHECK(once.number("loss") < 36);
  //[ `tn.@[i]` through the context
  const HostTensor values = store.read("w");
  //]
  CHECK(values.dims == Dims{1, 3});
}

TEST_CASE("training_as_in_ocannl", "[ocannl]") {
  //= Training
  //[ `Train.init_params`
  Parameters p;
  p.add("w", Declared<Shape<2, 2>>{Initialiser{"xavier_uniform"}, /*decaying=*/true});
  const State state(p, Optimization(p, {{"*", {"sgd", {{"momentum", 0.9}}, /*weight_decay=*/1e-4}}}), /*seed=*/42);
  //]
  CHECK(state.value("w") != HostTensor(DType::f32, {2, 2}));
  //[ learning rate as an expression over the step symbol
  const auto rate = [](const Traced& count) { return 0.1 * (200 - spec::real(count)) / 100; };
  //]
  Tracer t;
  const Task::Values values = declare_parameters(t, state.parameters());
  write_step(t, state.optimization(), values, ops::sum(values.at("w")), t.parameter(names::count, DType::i64, {}), rate);
  //[ `Train.run_once`
  const Outcome outcome = run_once(t.finish(), Target::cpu(), state.store());
  //]
  // 0.1·199/100 in binary32: three roundings at most
  CHECK(std::abs(outcome.number("rate") - 0.199) <= 0.199 * 3 * 0x1p-24);
  //[ the same on another backend
  const auto exact = reference::make_reference_backend();
  const Outcome again = run_once(t.finish(), Target::backend(*exact), state.store());
  //]
  CHECK(again.completed());
}
