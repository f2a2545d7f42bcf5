// What one iteration computes for itself, and what later kernels compute again.
#include <catch2/catch.hpp>

#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

/// A layer normalisation of `rows` rows, forward and backward in all operands.
System normalisation(std::int64_t rows, std::int64_t columns) {
  const std::string row = "f32[" + std::to_string(columns) + "]";
  const std::string matrix = "f32[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
  return spec::lower(spec::parse_program("input x : " + matrix + "\ninput gamma : " + row + "\ninput beta : " + row + "\ninput d : " + matrix +
                                         "\ny = layer_norm(x, gamma, beta) {axes = 1}\n"
                                         "gx, ggamma, gbeta = vjp(y; x, gamma, beta; d)\noutput y, gx, ggamma, gbeta\n"));
}

std::vector<HostTensor> numbers_for(std::int64_t rows, std::int64_t columns) {
  return {normal_numbers(DType::f32, {rows, columns}, 1), normal_numbers(DType::f32, {columns}, 2), normal_numbers(DType::f32, {columns}, 3),
          normal_numbers(DType::f32, {rows, columns}, 4)};
}

}  // namespace

TEST_CASE("rows that an iteration needs alone take the room of one row", "[compiled][turns]") {
  const System s = normalisation(70, 50);
  const compiled::Executable e = compiled::compile_system(s, options());
  // Two numbers a row are kept for the other kernel; a matrix would be 14000 bytes.
  CHECK(e.report().arena_bytes <= 2 * 70 * 4 + 128);
  CHECK_THAT(dump_of(s, "plan"), Contains("200 bytes of an iteration"));
  CHECK_THAT(dump_of(s, "loops"), Contains("in 200 bytes of the kernel's own"));
}

TEST_CASE("what is computed again, or in the room of a row, keeps every bit", "[compiled][turns]") {
  for (const auto& [rows, columns] : {std::pair{70, 50}, std::pair{5, 200}, std::pair{1, 33}}) {
    const System s = normalisation(rows, columns);
    const auto in = numbers_for(rows, columns);
    compiled::CompileOptions stored = options();
    stored.off.insert("recompute");
    stored.plan.reuse = false;
    const auto expected = compiled_values(s, in, stored);
    for (const unsigned threads : {1U, 2U, 3U}) {
      compiled::CompileOptions o = options();
      o.threads = threads;
      CHECK(compiled_values(s, in, o) == expected);
    }
  }
}

TEST_CASE("a value that costs more than its operand is stored for later kernels", "[compiled][turns]") {
  const std::string text = dump_of(normalisation(70, 50), "plan", [] {
    compiled::CompileOptions o = options();
    o.off.insert("recompute");
    return o;
  }());
  CHECK_THAT(text, Contains("y.d in arena"));
  CHECK_THAT(dump_of(normalisation(70, 50), "plan"), !Contains("y.d in arena"));
}

TEST_CASE("outputs are written where they were before", "[compiled][running]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {3});
  const TensorId y = output(s, "y", DType::f32, {3});
  const auto b = s.bind_all(y);
  s.define(y, b, s.at(x, variables(b)) + spec::decimal(1));
  const compiled::Executable e = compiled::compile_system(s, options());
  compiled::Store store;
  store.put("x", real_tensor(DType::f32, {3}, {1, 2, 3}));
  std::vector<HostTensor> outputs;
  e.run_into(outputs, store);
  REQUIRE(outputs.size() == 1);
  CHECK(at(outputs[0], 2) == 4);
  const std::byte* memory = outputs[0].bytes.data();
  store.write("x", real_tensor(DType::f32, {3}, {5, 6, 7}));
  e.run_into(outputs, store);
  CHECK(outputs[0].bytes.data() == memory);
  CHECK(at(outputs[0], 2) == 8);
  // Others are made anew.
  outputs = {HostTensor(DType::f64, {3}), HostTensor(DType::f32, {3})};
  e.run_into(outputs, store);
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].dtype == DType::f32);
  CHECK(at(outputs[0], 0) == 6);
}

TEST_CASE("an optimizer with much state passes over its parameters once, beside no contraction", "[compiled][turns]") {
  const auto plan_of = [](const std::string& optimizer, const std::string& state) {
    return dump_of(spec::lower(spec::parse_program("input x : f32[40, 30]\ninput d : f32[40, 50]\nparameter w : f32[50, 30]\n" + state +
                                                   "index t : i64[]\ny = linear(x, w, _)\ng = vjp(y; w; d)\n" + optimizer)),
                   "plan");
  };
  const std::string adam = plan_of("w1, m1, v1 = adam(w, g, m, v, t) {lr = 0.1}\noutput y\nupdate w := w1\nupdate m := m1\nupdate v := v1\n",
                                   "parameter m : f32[50, 30]\nparameter v : f32[50, 30]\n");
  INFO(adam);
  CHECK_THAT(adam, Contains("g in arena"));
  const std::string sgd = plan_of("w1, m1 = sgd(w, g, m, t) {lr = 0.1, momentum = 0.9}\noutput y\nupdate w := w1\nupdate m := m1\n", "parameter m : f32[50, 30]\n");
  INFO(sgd);
  CHECK_THAT(sgd, Contains("g in register") && !Contains("g in arena"));
}
