// Stores, refusals, determinism, derivatives and updates of executables.
#include <catch2/catch.hpp>

#include "compiled/runtime/backend.hpp"
#include "spec/error.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using spec::Reduction;

namespace {

Expr var(const Binder& b) { return spec::variable(b); }

/// Work enough for threads: h = tanh(x·w), y = sum over all of h, z = softmax-like rows.
System layered(DType dtype) {
  System s;
  const TensorId x = input(s, "x", dtype, {96, 130});
  const TensorId w = input(s, "w", dtype, {130, 70});
  const TensorId h = s.add_tensor("h", dtype, {96, 70});
  const TensorId y = output(s, "y", dtype, {});
  const TensorId z = output(s, "z", dtype, {96, 70});
  const auto b = s.bind_all(h);
  const Binder k = s.bind("k", 130);
  s.define(h, b, apply(Primitive::tanh, {reduce(Reduction::sum, {k}, spec::boolean(true),
                                                s.at(x, {var(b[0]), var(k)}) * s.at(w, {var(k), var(b[1])}))}));
  const std::vector<Binder> all{s.bind("i", 96), s.bind("j", 70)};
  s.define(y, {}, reduce(Reduction::sum, all, spec::boolean(true), s.at(h, variables(all))));
  const auto c = s.bind_all(z);
  const Binder q = s.bind("q", 70);
  s.define(z, c, apply(Primitive::exp, {s.at(h, variables(c))}) /
                     reduce(Reduction::sum, {q}, spec::boolean(true), apply(Primitive::exp, {s.at(h, {var(c[0]), var(q)})})));
  return s;
}

/// h = x·w, y = the sum of all h², z = h times its row's sum: over small integers every number stays below 2^53.
System polynomials() {
  System s;
  const TensorId x = input(s, "x", DType::f64, {96, 130});
  const TensorId w = input(s, "w", DType::f64, {130, 70});
  const TensorId h = s.add_tensor("h", DType::f64, {96, 70});
  const TensorId y = output(s, "y", DType::f64, {});
  const TensorId z = output(s, "z", DType::f64, {96, 70});
  const auto sum = [](const std::vector<Binder>& over, const Expr& body) { return reduce(Reduction::sum, over, spec::boolean(true), body); };
  const auto b = s.bind_all(h);
  const Binder k = s.bind("k", 130);
  s.define(h, b, sum({k}, s.at(x, {var(b[0]), var(k)}) * s.at(w, {var(k), var(b[1])})));
  const std::vector<Binder> all{s.bind("i", 96), s.bind("j", 70)};
  s.define(y, {}, sum(all, s.at(h, variables(all)) * s.at(h, variables(all))));
  const auto c = s.bind_all(z);
  const Binder q = s.bind("q", 70);
  s.define(z, c, s.at(h, variables(c)) * sum({q}, s.at(h, {var(c[0]), var(q)})));
  return s;
}

HostTensor noise(DType dtype, const Dims& dims, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(dims.count()));
  for (double& v : values) v = normal(engine);
  return real_tensor(dtype, dims, values);
}

}  // namespace

TEST_CASE("the same bits for one, two and three threads", "[compiled][running]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const System s = layered(dtype);
    const std::vector<HostTensor> in{noise(dtype, {96, 130}, 1), noise(dtype, {130, 70}, 2)};
    const auto once = compiled_values(s, in);
    for (const unsigned threads : {1U, 2U, 3U}) {
      compiled::CompileOptions o = options();
      o.threads = threads;
      const compiled::Executable e = compiled::compile_system(s, o);
      for (int repeat = 0; repeat < 20; ++repeat) CHECK(e.run(in) == once);
    }
  }
}

TEST_CASE("derivatives run on demand and agree with each other", "[compiled][running]") {
  const System s = polynomials();
  const compiled::Executable e = compiled::compile_system(s, options());
  const auto small = [](const Dims& dims, unsigned seed) { return small_integers(DType::f64, dims, seed); };
  const std::vector<HostTensor> in{small({96, 130}, 1), small({130, 70}, 2)};
  const std::vector<std::optional<HostTensor>> tangents{small({96, 130}, 3), small({130, 70}, 4)};
  const std::vector<std::optional<HostTensor>> cotangents{small({}, 5), small({96, 70}, 6)};
  const compiled::Derivatives forward = e.jvp(in, tangents);
  const compiled::Derivatives reverse = e.vjp(in, {true, true}, cotangents);
  const auto dot = [](const HostTensor& a, const HostTensor& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.view<double>().size(); ++i) sum += a.view<double>()[i] * b.view<double>()[i];
    return sum;
  };
  double left = 0;
  double right = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    left += dot(*cotangents[i], *forward.results[i]);
    right += dot(*tangents[i], *reverse.results[i]);
  }
  CHECK(left != 0);
  CHECK(left == right);
  CHECK(forward.outputs == e.run(in));
  // The central difference of five points, which is exact for the polynomial of degree four that y is.
  const auto shifted = [&](double by) {
    std::vector<HostTensor> moved = in;
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < moved[i].view<double>().size(); ++k) {
        moved[i].view<double>()[k] += by * tangents[i]->view<double>()[k];
      }
    }
    return e.run(moved)[0].view<double>()[0];
  };
  const double difference = (shifted(-2) - 8 * shifted(-1) + 8 * shifted(1) - shifted(2)) / 12;
  CHECK(difference != 0);
  CHECK(difference == forward.results[0]->view<double>()[0]);
}

TEST_CASE("inputs that are missing, extra or wrong are refused before anything is written", "[compiled][running]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {2});
  const TensorId y = output(s, "y", DType::f32, {2});
  const auto b = s.bind_all(y);
  s.define(y, b, s.at(x, variables(b)) + spec::decimal(1));
  const compiled::Executable e = compiled::compile_system(s, options());
  compiled::Store store;
  CHECK_THROWS_WITH(e.run(store), Contains("input `x` is missing"));
  e.declare(store);
  CHECK_THROWS_WITH(e.run(store), Contains("`x` has no value"));
  CHECK_THROWS_WITH(e.run(store, {{"z", HostTensor(DType::f32, {2})}}), Contains("no input `z`"));
  CHECK_THROWS_WITH(e.run(store, {{"x", HostTensor(DType::f64, {2})}}), Contains("f32[2], got f64[2]"));
  CHECK_THROWS_WITH(store.write("x", HostTensor(DType::f32, {3})), Contains("f32[2], got f32[3]"));
  CHECK_THROWS_WITH(store.write("w", HostTensor(DType::f32, {3})), Contains("no entry `w`"));
  CHECK_THROWS_WITH(store.read("x"), Contains("no value"));
  CHECK_THROWS_AS(store.declare("x", DType::f32, {3}), SpecViolation);
  store.write("x", real_tensor(DType::f32, {2}, {1, 2}));
  CHECK(at(e.run(store)[0], 1) == 3);
  CHECK(at(e.run(store, {{"x", real_tensor(DType::f32, {2}, {5, 6})}})[0], 1) == 7);
  CHECK(at(store.read("x"), 1) == 2);
  CHECK_THROWS_WITH(e.run(std::vector<HostTensor>{}), Contains("1 inputs expected, 0 given"));
  compiled::Store other;
  other.declare("x", DType::f64, {2});
  CHECK_THROWS_WITH(e.run(other), Contains("f32[2], got f64[2]"));
}

TEST_CASE("a bug planted after the passes is seen in the results", "[compiled][running]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {9});
  const TensorId y = output(s, "y", DType::f32, {});
  const Binder k = s.bind("k", 9);
  s.define(y, {}, reduce(Reduction::sum, {k}, spec::boolean(true), s.at(x, {var(k)})));
  compiled::CompileOptions o = options();
  o.interpose = [](std::string_view stage, System& system) {
    if (stage != "separate_outputs") return;
    for (spec::Equation& e : system.equations) {
      if (e.value.form() != spec::Form::reduce) continue;
      spec::Node n = *e.value;
      n.binders[0].extent -= 1;
      e.value = reduce(n.reduction, n.binders, n.args[0], n.args[1]);
    }
  };
  const HostTensor in = real_tensor(DType::f32, {9}, {1, 1, 1, 1, 1, 1, 1, 1, 100});
  CHECK(at(compiled_values(s, {in})[0], 0) == 108);
  CHECK(at(compiled_values(s, {in}, o)[0], 0) == 8);
}

TEST_CASE("the loops and the code can be read", "[compiled][running]") {
  compiled::CompileOptions o = options();
  std::string loops;
  std::string llvm;
  o.dump_after = {"loops", "llvm"};
  o.dump = [&](std::string_view what, const std::string& text) { (what == "loops" ? loops : llvm) += text; };
  const compiled::Executable e = compiled::compile_system(layered(DType::f32), o);
  CHECK_THAT(loops, Contains("on cores") && Contains("lanes") && Contains("= sum"));
  CHECK_THAT(llvm, Contains("define void @"));
  CHECK(e.report().kernels > 0);
}
