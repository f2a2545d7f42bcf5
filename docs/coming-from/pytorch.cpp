// Everyday PyTorch beside Etalon: what docs/coming-from-pytorch.md shows is cut from this file, which is compiled and run
// as a test. `//[ PyTorch` begins what is shown, `//]` ends it; `//= title` begins a section.
#include <boost/hana/define_struct.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/backend.hpp"
#include "spec/library/einsum.hpp"
#include "spec/library/operations.hpp"
#include "training/model/pack.hpp"
#include "training/programs.hpp"
#include "training/routine.hpp"
#include "training/routine_cache.hpp"
#include "training/session/session.hpp"

using namespace etalon;
using namespace etalon::training;
namespace hana = boost::hana;

namespace {

using Floats = std::vector<float>;
using Whole = spec::Typed<std::int64_t, Shape<>>;

HostTensor f32s(const Dims& dims, const Floats& values) { return HostTensor::of<float>(dims, values); }

//= Models
//[ `class Net(nn.Module):` with two `nn.Linear`
template <template <class> class V>
struct Net {
  using W1 = V<Shape<4, 2>>;
  using B1 = V<Shape<4>>;
  using W2 = V<Shape<3, 4>>;
  BOOST_HANA_DEFINE_STRUCT(Net, (W1, w1), (B1, b1), (W2, w2));
};
//]

//[ `def forward(self, x):`
const auto forward = [](const auto& m, const auto& x) {
  return ops::linear(ops::relu(ops::linear(x, m.w1, m.b1)), m.w2, spec::absent);
};
//]

template <template <class> class V>
struct Batch {
  using Points = V<Shape<5, 2>>;
  using Classes = V<spec::Typed<std::int64_t, Shape<5>>>;
  BOOST_HANA_DEFINE_STRUCT(Batch, (Points, points), (Classes, classes));
};

const auto loss_of = [](const auto& m, const auto& batch, const auto&) {
  return ops::cross_entropy(forward(m, batch.points), batch.classes, spec::absent);
};

Net<Declared> declared_net() {
  //[ `nn.init.kaiming_uniform_(self.w1)`, `nn.init.zeros_(self.b1)`
  Net<Declared> net;
  net.w1 = {Initialiser{"kaiming_uniform"}, /*decaying=*/true};
  net.b1 = Initialiser{"zeros"};
  net.w2 = {Initialiser{"xavier_normal", {{"gain", 0.5}}}, true};
  //]
  return net;
}

Batch<Given> batch() { return {Floats{1, 2, -1, 0, 3, 1, 0, 0, 2, 2}, std::vector<std::int64_t>{0, 2, 1, 0, 1}}; }

State net_state() {
  const Parameters p(declared_net());
  return {p, Optimization(p, {{"*", {"sgd"}}}), 7};
}

}  // namespace

TEST_CASE("idioms_of_tensors", "[pytorch]") {
  const auto backend = reference::make_reference_backend();
  //= Tensors
  //[ (nothing: calls run where the tensors are)
  Session s(*backend);
  //]
  //[ `x = torch.tensor([1., -2., 3.])`
  const auto x = s.input<Shape<3>>(Floats{1, -2, 3});
  //]
  //[ `a = torch.zeros(2, 3)`
  const auto a = s.input(Given<Shape<2, 3>>());
  //]
  CHECK(a.value() == HostTensor(DType::f32, {2, 3}));
  //[ `x.shape`, `x.dtype`
  using Made = decltype(x);
  constexpr spec::ValueType type = Made::type;  // f32[3], known to the compiler
  //]
  CHECK(to_string(type) == "f32[3]");
  //[ `x.numpy()`
  const HostTensor numbers = x.value();
  //]
  CHECK(numbers == f32s({3}, {1, -2, 3}));
  //[ `-2*x + 1`
  const auto y = -2 * x + 1;
  //]
  CHECK(y.value() == f32s({3}, {-1, 5, -5}));
  //[ `x.sum().item()`
  const double total = ops::sum(x).item();
  //]
  CHECK(total == 2);
  //[ `x.double()`
  const auto wide = ops::cast.with<"dtype=f64">(x);
  //]
  CHECK(wide.value() == HostTensor::of<double>({3}, {1, -2, 3}));
  //[ `x.clamp(min=0)`
  const auto positive = ops::clamp.with<"low=0.0">(x);
  //]
  CHECK(positive.value() == f32s({3}, {1, 0, 3}));
  //[ `torch.where(x > 0, x, torch.zeros(()))`
  const auto chosen = ops::where(ops::gt(x, 0), x, 0);
  //]
  CHECK(chosen.value() == f32s({3}, {1, 0, 3}));
  //[ `x.argmax()`
  const auto best = ops::argmax(x);
  //]
  CHECK(best.item() == 2);
}

TEST_CASE("idioms_of_shapes", "[pytorch]") {
  const auto backend = reference::make_reference_backend();
  Session s(*backend);
  const auto a = s.input<Shape<2, 3>>(Floats{1, 2, 3, 4, 5, 6});
  const auto b = s.input<Shape<2, 3>>(Floats{0, 1, 0, 1, 0, 1});
  const auto x = s.input<Shape<4>>(Floats{1, 2, 3, 4});
  //= Shapes
  //[ `a.reshape(3, 2)`
  const auto tall = ops::reshape.with<"shape=[3, 2]">(a);
  //]
  static_assert(decltype(tall)::dims == Dims{3, 2});
  //[ `a.T`, `a.permute(1, 0)`
  const auto turned = ops::transpose(a);
  const auto permuted = ops::transpose.with<"permutation=[1, 0]">(a);
  //]
  CHECK(turned.value() == f32s({3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(permuted.value() == turned.value());
  //[ `torch.cat([a, b], dim=1)`
  const auto wide = ops::concat.with<"axis=1">(hana::make_tuple(a, b));
  //]
  CHECK(wide.value() == f32s({2, 6}, {1, 2, 3, 0, 1, 0, 4, 5, 6, 1, 0, 1}));
  //[ `torch.stack([a, b])`
  const auto pile = ops::stack(hana::make_tuple(a, b));
  //]
  static_assert(decltype(pile)::dims == Dims{2, 2, 3});
  //[ `first, rest = x.split([1, 3])`
  const auto parts = ops::split.with<"sizes=[1, 3]">(x);
  const auto rest = parts[hana::size_c<1>];
  //]
  CHECK(rest.value() == f32s({3}, {2, 3, 4}));
  //[ `a[1]`
  const auto row = ops::select.with<"index=1">(a);
  //]
  CHECK(row.value() == f32s({3}, {4, 5, 6}));
  //[ `x[1:4:2]`
  const auto some = ops::slice.with<"start=[1], stop=[4], step=[2]">(x);
  //]
  CHECK(some.value() == f32s({2}, {2, 4}));
  //[ `a.sum(dim=0, keepdim=True)`
  const auto columns = ops::sum.with<"axes=[0], keepdims=true">(a);
  //]
  CHECK(columns.value() == f32s({1, 3}, {5, 7, 9}));
  //[ `a @ b.T`
  const auto product = ops::matmul(a, ops::transpose(b));
  //]
  CHECK(product.value() == f32s({2, 2}, {2, 4, 5, 10}));
  //[ `torch.einsum("ij,kj->ik", a, b)`
  const auto same = ops::einsum<"ij,kj->ik">(a, b);
  //]
  CHECK(same.value() == product.value());
  //[ a shape that does not fit: an exception when it runs
  // auto wrong = ops::matmul(a, b);   // does not compile: "matmul: k is 3 in a, 2 in b"
  //]
}

TEST_CASE("idioms_of_layers_and_losses", "[pytorch]") {
  const auto backend = reference::make_reference_backend();
  Session s(*backend, net_state());
  const auto x = s.input<Shape<2, 4>>(Floats{0, 0, 0, 0, 1, 1, 1, 1});
  const auto table = s.input<Shape<3, 2>>(Floats{1, 2, 3, 4, 5, 6});
  const auto target = s.input<spec::Typed<std::int64_t, Shape<2>>>(std::vector<std::int64_t>{2, 0});
  //= Layers and losses
  //[ `F.softmax(x, dim=-1)`
  const auto p = ops::softmax(x);
  //]
  CHECK(p.value() == f32s({2, 4}, Floats(8, 0.25F)));
  //[ `F.layer_norm(x, (4,))`
  const auto n = ops::layer_norm(x, spec::absent, spec::absent);
  //]
  CHECK(n.value() == HostTensor(DType::f32, {2, 4}));
  //[ `F.gelu(x)`
  const auto g = ops::gelu(x);
  //]
  CHECK(std::abs(static_cast<double>(g.value().view<float>()[4]) - 0.8413447460685429) <= 0x1p-25);  // the normal distribution at 1
  //[ `F.cross_entropy(x, target, label_smoothing=0.1)`
  const auto loss = ops::cross_entropy.with<"label_smoothing=0.1">(x, target, spec::absent);
  //]
  CHECK(std::abs(loss.item() - std::log(4.0)) <= 0x1p-24);
  //[ `nn.Embedding`: `F.embedding(target, table)`
  const auto rows = ops::embedding(table, target);
  //]
  CHECK(rows.value() == f32s({2, 2}, {5, 6, 1, 2}));
  //[ `F.dropout(x, 0.5)`
  const auto noise = s.noise();
  const auto dropped = ops::dropout.with<"p=0.5, stream=65537">(x, noise.seed, noise.step);
  //]
  const HostTensor kept = dropped.value();
  for (const float v : kept.view<float>().subspan(4)) CHECK((v == 0 || v == 2));
  //[ `torch.manual_seed(3)`
  s.seed(3);
  //]
  CHECK(s.noise().seed.item() == 3);
}

TEST_CASE("idioms_of_gradients", "[pytorch]") {
  const auto backend = reference::make_reference_backend();
  Session s(*backend);
  //= Gradients
  //[ `x = torch.tensor([1., 2.], requires_grad=True)`
  const auto x = s.input<Shape<2>>(Floats{1, 2}, /*requires_gradient=*/true);
  //]
  //[ `loss = (x**3).sum(); loss.backward()`
  const auto loss = ops::sum(x * x * x);
  s.backward(loss);
  //]
  //[ `x.grad`
  const auto gradient = x.gradient();
  //]
  CHECK(gradient.value() == f32s({2}, {3, 12}));
  //[ `y.backward(v)`
  const auto y = x * 10;
  s.backward(y, f32s({2}, {1, 0}));
  //]
  CHECK(x.gradient().value() == f32s({2}, {13, 12}));
  //[ `h.retain_grad()`, then `h.grad`
  const auto of_h = y.gradient();  // any value on the way has one
  //]
  CHECK(of_h.value() == f32s({2}, {1, 0}));
  //[ `x.detach()`
  const auto constant = ops::detach(x);
  //]
  s.reset();
  const auto z = s.input<Shape<2>>(Floats{1, 2}, true);
  s.backward(ops::sum(z * ops::detach(z)));
  CHECK(z.gradient().value() == f32s({2}, {1, 2}));
  //[ `torch.func.jvp(f, (x,), (v,))`
  const spec::Program tangent = trace<f32, Shape<2>, Shape<2>>([](auto p, auto v) { return spec::jvp(p * p, p, v); });
  //]
  compiled::Store store;
  CHECK(run_once(tangent, Target::cpu(), store, {{"x1", f32s({2}, {1, 2})}, {"x2", f32s({2}, {1, 1})}}).outputs[0].second == f32s({2}, {2, 4}));
  //[ `torch.func.hessian(f)`: a gradient of a gradient
  const spec::Program curvature = trace<f32, Shape<2>>([](auto p) {
    const auto slope = etalon::gradient(ops::sum(p * p * p), p);
    return etalon::gradient(ops::sum(slope), p);
  });
  //]
  CHECK(run_once(curvature, Target::cpu(), store, {{"x1", f32s({2}, {1, 2})}}).outputs[0].second == f32s({2}, {6, 12}));
}

TEST_CASE("idioms_of_parameters", "[pytorch]") {
  const auto backend = reference::make_reference_backend();
  Net<Declared> net = declared_net();
  //= Parameters
  //[ `[n for n, p in net.named_parameters()]`
  Parameters p(net);
  const std::vector<std::string> names = p.names();
  //]
  CHECK(names == std::vector<std::string>{"w1", "b1", "w2"});
  //[ `net.w1.requires_grad_(False)`
  p.freeze("w1");
  //]
  CHECK(p.at("w1").frozen);
  p.freeze("w1", false);
  //[ groups: AdamW, biases with another rate
  const Optimization adamw(p, {{"b*", {"adamw"}, /*rate=*/2}, {"*", {"adamw", {{"beta2", 0.95}}, /*weight_decay=*/0.01}}});
  //]
  //[ `torch.optim.SGD(net.parameters(), momentum=0.9)`
  const Optimization sgd(p, {{"*", {"sgd", {{"momentum", 0.9}}}}});
  //]
  CHECK(sgd.entries().size() == 3);
  //[ `clip_grad_norm_(net.parameters(), 1.0)`
  const Optimization clipped(p, {{"*", {"sgd"}}}, {{"clip_by_norm", {{"max_norm", 1.0}}}});
  //]
  State state(p, adamw, /*seed=*/7);
  //[ `saved = net.state_dict()`, `optimizer.state_dict()`
  const Named saved = state.download();  // both, by name
  //]
  CHECK(saved.count("w2.v") == 1);
  //[ `net.load_state_dict(some, strict=False)`
  state.upload({{"b1", f32s({4}, {1, 2, 3, 4})}}, Upload::partial);
  //]
  CHECK(state.value("b1") == f32s({4}, {1, 2, 3, 4}));
  //[ `net.load_state_dict(saved)`
  state.upload(saved, Upload::strict, Part::all);
  //]
  CHECK(state.download() == saved);
  //[ `net.b1.data.copy_(values)`
  state.replace("b1", f32s({4}, {0, 0, 0, 1}));
  //]
  CHECK(state.value("b1") != saved.at("b1"));
  //[ `net.apply(init)`
  state.reset(Part::parameters);
  //]
  CHECK(state.download() == saved);
  State other(p, clipped, 7);
  Session s(*backend, other);
  s.backward(ops::sum(s.parameter<Shape<3, 4>>("w2")) * 100);
  CHECK(s.step(1).completed());
  double moved = 0;
  for (std::size_t i = 0; i < 12; ++i) moved += std::pow(other.value("w2").view<float>()[i] - saved.at("w2").view<float>()[i], 2);
  CHECK(std::abs(moved - 1) <= 0x1p-18);  // 12 differences of f32, each off by 2^-24 of what it is between
}

TEST_CASE("idioms_of_loops", "[pytorch]") {
  const auto backend = reference::make_reference_backend();
  State state = net_state();
  //= Loops
  Session s(*backend, state);
  //[ `loss.backward(); opt.step(); opt.zero_grad()`
  const auto net = s.model<Net>();
  const auto loss = loss_of(net, s.inputs(batch()), s.noise());
  s.backward(loss);
  const Outcome eager = s.step(/*rate=*/0.1);
  //]
  CHECK(eager.number("loss") == loss.item());
  //[ `step = torch.compile(train_step)`
  const spec::Program step = training_program<Net, Batch>(state, loss_of, [](const Traced& count) { return 0.1 / spec::real(count); });
  Routine compiled(step, Target::cpu(), state.store());
  //]
  //[ `for x, y in loader: step(x, y)`
  const Outcome outcome = compiled.run(named(batch()));
  //]
  CHECK(outcome.number("loss") < eager.number("loss"));
  CHECK(outcome.number("rate") == static_cast<double>(0.1F / 2));
  //[ `if not torch.isfinite(loss): …` skip the step
  Batch<Given> bad = batch();
  bad.points.value.view<float>()[0] = std::numeric_limits<float>::infinity();
  compiled.watch("loss");
  const bool learnt = compiled.run(named(bad)).completed();  // false, and nothing changed
  //]
  CHECK_FALSE(learnt);
  CHECK(state.store().read("step_count") == HostTensor::of<std::int64_t>({}, {2}));
  //[ `net.fc1.register_forward_hook(…)`: an activation, read after the step
  const auto hooked = [](const auto& m, const auto& in, const auto&) {
    const auto hidden = named("hidden", ops::relu(ops::linear(in.points, m.w1, m.b1)));
    return ops::cross_entropy(ops::linear(hidden, m.w2, spec::absent), in.classes, spec::absent);
  };
  Routine looked_into(training_program<Net, Batch>(state, hooked, [](const Traced& count) { return spec::real(count) * 0 + 0.1; }), Target::cpu(), state.store());
  const Outcome seen = looked_into.run(named(batch()));
  const HostTensor& hidden = seen.captured("hidden");
  //]
  CHECK(hidden.dims == Dims{5, 4});
  //[ `torch.autograd.detect_anomaly()`
  looked_into.guard({{"hidden", "loss"}, /*updates=*/true});
  const std::string where = looked_into.run(named(bad)).why;  // which value and element; nothing changed
  //]
  CHECK(where.find("`hidden` is ") == 0);
  //[ `net.eval(); net(x)` at any batch size
  RoutineCache answers(
      [&](const RoutineCache::Types& types) {
        Tracer t;
        const Task::Values values = declare_parameters(t, state.parameters());
        const Traced x = t.input("x", DType::f32, types.at("x").dims);
        t.output("y", forward(model_of<Net>(state.parameters(), values), x));
        return t.finish();
      },
      Target::cpu(), state.store());
  const HostTensor one = answers.run({{"x", f32s({1, 2}, {1, 2})}}).output("y");
  //]
  CHECK(one.dims == Dims{1, 3});
  //[ `DataLoader(data, shuffle=True)` over epochs
  const spec::Program sums = spec::parse_program(R"(input data : f32[8]
index epoch : i64[] in 0..1
index n : i64[] in 0..7
parameter seen : f32[]
x = gather(data, n)
more = add(seen, x)
output x
update seen := more
)");
  Routine loop(sums, Target::cpu(), state.store());
  state.store().write("seen", HostTensor(DType::f32, {}));
  state.store().put("data", f32s({8}, {1, 2, 3, 4, 5, 6, 7, 8}));
  (void)loop.iterate([](const auto& at, const Outcome&) { return at.at("epoch") < 2; },
                     {{"n", {Order::Kind::shuffled_per_pass, /*seed=*/1}}});
  //]
  CHECK(state.store().read("seen") == HostTensor::of<float>({}, {72}));
  //[ `torch.cuda.max_memory_allocated()`
  const std::size_t peak = compiled.report().peak_bytes.value();
  //]
  CHECK(peak > compiled.report().bound_bytes);
}
