#include <catch2/catch.hpp>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/trace.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

[[nodiscard]] std::string refusal(const std::string& text) {
  try {
    verify(parse_program(text));
  } catch (const SpecViolation& error) {
    return error.what();
  }
  return "accepted";
}

[[nodiscard]] Dims dims_of(const std::string& text, const std::string& value) { return types_of(parse_program(text)).at(value).dims; }

}  // namespace

TEST_CASE("open extents follow from the calls that a parameter takes part in", "[program][extents]") {
  const std::string net = R"(input x : f32[8, 3]
parameter w1 : f32[16, ?in]
parameter b1 : f32[?hidden1]
parameter w2 : f32[?out, ?hidden]
parameter target : f32[8, 2]
h = linear(x, w1, b1)
y = linear(h, w2, _)
loss = mse(y, target)
g1, g2 = vjp(loss; w1, w2)
output loss, g1, g2
)";
  CHECK(dims_of(net, "w1") == Dims{16, 3});
  CHECK(dims_of(net, "b1") == Dims{16});
  CHECK(dims_of(net, "w2") == Dims{2, 16});
  CHECK(dims_of(net, "g2") == Dims{2, 16});
  const Program program = parse_program(net);
  CHECK(parse_program(to_text(program)) == program);
  const System system = lower(program);
  verify(system);
  CHECK(system[system.find("w2")].dims == Dims{2, 16});
  CHECK_FALSE(has_open_extents(with_extents(program)));
}

TEST_CASE("extents are found through later calls, seeds, updates and derived extents", "[program][extents]") {
  // The product's inner extent is open on both sides until the update states it.
  CHECK(dims_of("parameter a : f32[4, ?k]\nparameter b : f32[?k2, 5]\nparameter c : f32[4, 7]\np = matmul(a, b)\nu = neg(a)\n"
                "update c := u\noutput p\n", "b") == Dims{7, 5});
  CHECK(dims_of("input x : f32[2, 3]\nparameter s : f32[?m, ?n]\nh = neg(x)\ng = vjp(h; x; s)\noutput g\n", "s") == Dims{2, 3});
  // One name is one extent.
  CHECK(dims_of("input x : f32[6]\nparameter a : f32[?n]\nparameter b : f32[?n, ?n]\nd = dot(x, a)\noutput d\n", "b") == Dims{6, 6});
}

TEST_CASE("a traced program has open extents too", "[program][extents]") {
  Tracer tracer;
  const Traced x = tracer.input("x", DType::f32, {8, 3});
  const Traced w1 = tracer.open_parameter("w1", DType::f32, {16, OpenExtent{"n"}});
  const Traced b1 = tracer.open_parameter("b1", DType::f32, {OpenExtent{"hidden"}});
  const Traced w2 = tracer.open_parameter("w2", DType::f32, {OpenExtent{"out"}, OpenExtent{"hidden"}});
  const Traced y = ops::linear(ops::tanh(ops::linear(x, w1, b1)), w2, absent);
  CHECK(w1.dims() == Dims{16, 3});
  CHECK(y.dims()[0] == 8);
  const Traced loss = ops::mse(y, tracer.input("target", DType::f32, {8, 2}));
  const auto [g1, g2] = gradient(loss, w1, w2);
  CHECK(g2.dims() == Dims{2, 16});
  tracer.output(g1);
  const Program program = tracer.finish();
  CHECK_FALSE(has_open_extents(program));
  CHECK(types_of(program).at("w2") == ValueType{DType::f32, {2, 16}});
  CHECK(types_of(program).at("b1") == ValueType{DType::f32, {16}});
  const Traced z = tracer.open_parameter("z", DType::f32, {OpenExtent{"k"}});
  CHECK_THROWS_WITH(tracer.finish(), Catch::Matchers::Contains("its extent ?k is left open: no call takes it"));
  CHECK_THROWS_WITH(ops::add(z, x), Catch::Matchers::Contains("parameter z") && Catch::Matchers::Contains("is left open by add"));
}

TEST_CASE("an extent that is left open is an error that names parameter and call", "[program][extents]") {
  CHECK(refusal("input x : f32[8, 3]\nparameter w : f32[?o, 3] @ \"net.cpp\":4\nh = linear(x, w, _) @ \"net.cpp\":5\noutput h\n") ==
        "parameter w at net.cpp:4: its extent ?o is left open by h = linear(x, w, _) at net.cpp:5; state it as a number");
  // Broadcasting would take 8 and 1.
  CHECK(refusal("input x : f32[8]\nparameter b : f32[?o]\nh = add(x, b)\noutput h\n") ==
        "parameter b: its extent ?o is left open by h = add(x, b); state it as a number");
  CHECK(refusal("parameter b : f32[?o]\n") == "parameter b: its extent ?o is left open: no call takes it");
  CHECK(refusal("input x : f32[?o]\n") == "input x: only a parameter has open extents");
  // What is found is held to every rule.
  CHECK(refusal("input x : f32[8, 3]\ninput y : f32[8, 4]\nparameter w : f32[5, ?i]\nh = linear(x, w, _)\nk = linear(y, w, _)\n")
            .find("; step k = linear(y, w, _)") != std::string::npos);
  CHECK(refusal("input x : f32[8, 3]\nparameter w : f32[5, 5, ?i]\nh = linear(x, w, _)\n") ==
        "linear: w has rank 3, want 2 (at 2:19 of its definition); step h = linear(x, w, _)");
}
