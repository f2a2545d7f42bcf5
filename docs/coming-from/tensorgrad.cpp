// What tensorgrad's users know beside Etalon: docs/coming-from-tensorgrad.md is cut from this file, which is compiled and
// run as a test. The marks are those of pytorch.cpp.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <array>
#include <string>
#include <vector>

#include "spec/library/operations.hpp"
#include "training/model/given.hpp"
#include "training/programs.hpp"
#include "training/routine.hpp"
#include "training/routine_cache.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

//= Models
//[ `class Net extends Module` with `this.param([4, 2])` and a list of layers
template <template <class> class V>
struct Layer {
  using Weight = V<Shape<3, 3>>;
  BOOST_HANA_DEFINE_STRUCT(Layer, (Weight, w));
};
template <template <class> class V>
struct Net {
  using Table = V<Shape<5, 3>>;
  using Layers = std::array<Layer<V>, 2>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Table, read), (Layers, layers), (Table, head));
};
//]

//[ `inputs: { x: {shape: [4], dtype: "i32"}, y: … }`
template <template <class> class V>
struct Inputs {
  using Words = V<spec::Typed<std::int64_t, Shape<4>>>;
  BOOST_HANA_DEFINE_STRUCT(Inputs, (Words, x), (Words, y));
};
//]

const auto answers = [](const auto& m, const auto& x) {
  const auto h = ops::tanh(ops::linear(ops::embedding(m.read, x), m.layers[0].w, spec::absent));
  return ops::linear(ops::linear(h, m.layers[1].w, spec::absent), m.head, spec::absent);
};

}  // namespace

TEST_CASE("training_as_in_tensorgrad", "[tensorgrad]") {
  //[ `init: 'kaiming'`, `decay: true`
  Net<Declared> net;
  for_each_leaf(net, [](const std::string&, Parameter& p) {
    p.initialiser = Initialiser{"kaiming_normal"};
    p.decays = true;
  });
  //]
  //[ tied weights: one field used twice
  tie(net.read, net.head);  // or use one field twice
  //]
  const Parameters p(net);
  //[ names such as `layers.0.w`
  const std::vector<std::string> paths = p.names();
  //]
  CHECK(paths == std::vector<std::string>{"read", "layers.0.w", "layers.1.w"});
  //= Training
  //[ `compile({model, loss, inputs, optimizer: {kind: 'adamw', lr, weightDecay, clipGradNorm: 1}})`
  State state(p, Optimization(p, {{"*", {"adamw", {}, /*weight_decay=*/0.01}}}, {{"clip_by_norm", {{"max_norm", 1.0}}}}), /*seed=*/1);
  const auto loss = [](const auto& m, const auto& in, const auto&) { return ops::cross_entropy(answers(m, in.x), in.y, spec::absent); };
  Routine train(training_program<Net, Inputs>(state, loss, [](const Traced& step) { return ops::cosine_schedule.set("initial", 0.05).set("steps", std::int64_t{100})(step); }),
                Target::cpu(), state.store());
  train.watch("loss");
  //]
  //[ `const r = await train.step({x, y}); if (r.kind === 'completed') r.loss`
  const Inputs<Given> in{std::vector<std::int64_t>{0, 1, 2, 3}, std::vector<std::int64_t>{1, 2, 3, 4}};
  const Outcome first = train.run(named(in));
  const double loss_before = first.completed() ? first.number("loss") : 0;
  //]
  for (int i = 0; i < 30; ++i) (void)train.run(named(in));
  CHECK(train.run(named(in)).number("loss") < loss_before);
  //[ `downloadParams()`, which has no optimizer state
  const Named saved = state.download(Part::all);  // with it
  //]
  CHECK(saved.count("read.m") == 1);
  //[ `uploadParams(record)`, strict
  state.upload(saved, Upload::strict, Part::all);
  //]
  CHECK_THROWS_WITH(state.upload({}), "upload: `read` is missing; a partial upload may leave names out");
  //[ `reset({optimizer: true})`
  state.reset(Part::optimizer);
  //]
  CHECK(state.download().at("step_count") == HostTensor::of<std::int64_t>({}, {0}));
  //= Siblings
  //[ `train.attach({forward, inputs: {x: [null]}, maxCachedShapes: 8})`, `capture('h', h)`
  RoutineCache attached(
      [&](const RoutineCache::Types& types) {
        Tracer t;
        const auto model = model_of<Net>(state.parameters(), declare_parameters(t, state.parameters()));
        const Traced x = t.input("x", DType::i64, types.at("x").dims);
        t.output("h", ops::embedding(model.read, x));  // any value may be an output
        t.output("y", answers(model, x));
        return t.finish();
      },
      Target::cpu(), state.store(), /*limit=*/8);
  const Outcome sibling = attached.run({{"x", HostTensor::of<std::int64_t>({2}, {3, 4})}});
  //]
  CHECK(sibling.output("h").dims == Dims{2, 3});
  CHECK(sibling.output("y").dims == Dims{2, 5});
  //[ `replaceModel(model, {seed})`
  state.reset(Part::all, /*seed=*/2);
  //]
  CHECK(state.value("read") != saved.at("read"));
}
