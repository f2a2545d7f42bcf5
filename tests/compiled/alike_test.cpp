// Code of one kernel for all that do the same to other tensors.
#include <catch2/catch.hpp>
#include <functional>

#include "compiled/ir/alike.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using namespace etalon::compiled;
using loops::Nest;

namespace {

/// out[i] = in[i]*2 for i < extent, with the names of tensors and variables given.
Nest doubling(TensorId out, TensorId in, spec::VariableId v, std::int64_t extent) {
  const spec::Binder i{v, extent, "i" + std::to_string(v)};
  const Expr at = spec::variable(i);
  loops::Store store{out, {at}, spec::read(in, Kind::real, {at}) * spec::decimal(2), {}, false};
  loops::Loop loop{i, loops::Bind::cores, 1, {loops::Step{store, loops::Type::f32}}};
  Nest nest;
  nest.name = "doubling" + std::to_string(out);
  nest.steps.push_back({loop});
  nest.buffers = {{.tensor = out, .written = true}, {.tensor = in, .read = true}};
  return nest;
}

loops::Loop& loop_of(Nest& nest) { return std::get<loops::Loop>(nest.steps[0].is); }
loops::Store& store_of(Nest& nest) { return std::get<loops::Store>(loop_of(nest).steps[0].is); }

System five_tensors() {
  System s;
  for (const char* name : {"a", "b", "c", "d"}) (void)s.add_tensor(name, DType::f32, {8});
  (void)s.add_tensor("wide", DType::f64, {8});
  (void)s.add_tensor("short", DType::f32, {7});
  return s;
}

}  // namespace

TEST_CASE("kernels that differ in names alone are alike, and their tensors correspond", "[compiled][alike]") {
  const auto found = loops::find_alike(five_tensors(), {doubling(1, 0, 5, 8), doubling(2, 3, 9, 8), doubling(0, 0, 1, 8), doubling(3, 3, 4, 8)});
  REQUIRE(found.size() == 4);
  CHECK(found[0].model == 0);
  CHECK(found[1].model == 0);
  CHECK(found[0].tensors == std::vector<TensorId>{1, 0});
  CHECK(found[1].tensors == std::vector<TensorId>{2, 3});
  // Where one tensor stands for both, it may be written before it is read.
  CHECK(found[2].model == 2);
  CHECK(found[3].model == 2);
}

TEST_CASE("kernels that differ in anything but names are not alike", "[compiled][alike]") {
  const std::vector<std::function<void(Nest&)>> changes{
      [](Nest& n) { n = doubling(1, 0, 5, 7); },                                // another extent
      [](Nest& n) { n = doubling(1, 4, 5, 8); },                                // another element type is read
      [](Nest& n) { n = doubling(1, 5, 5, 8); },                                // other extents of a tensor
      [](Nest& n) { loop_of(n).bind = loops::Bind::serial; },
      [](Nest& n) { n.zeroed = {1}; },
      [](Nest& n) { n.buffers[0] = {.tensor = 1, .scope = loops::Scope::thread, .written = true}; },
      [](Nest& n) { n.buffers[0] = {.tensor = 1, .scope = loops::Scope::thread, .written = true, .bytes = 64}; },
      [](Nest& n) { n.steps[0].real = loops::Type::f64; },
      [](Nest& n) { n.steps.push_back({loops::Define{9, spec::decimal(2), DType::f16}}); },
      [](Nest& n) { n.steps.push_back({loops::Define{9, spec::decimal(2), DType::f32}}); },
      [](Nest& n) { n.steps.push_back(n.steps[0]); },
      [](Nest& n) { loop_of(n).bind = loops::Bind::grid; },
      [](Nest& n) { loop_of(n).width = 4; },
      [](Nest& n) { store_of(n).add = true; },
      [](Nest& n) { store_of(n).guard = spec::boolean(true); },
      [](Nest& n) { store_of(n).guard = spec::boolean(false); },
      [](Nest& n) { store_of(n).value = store_of(n).value->args[0]; },
      [](Nest& n) { store_of(n).value = store_of(n).value->args[0] * spec::decimal(3); },
      [](Nest& n) { store_of(n).value = store_of(n).value->args[0] * spec::decimal(2, 1); },
      [](Nest& n) { store_of(n).value = store_of(n).value->args[0] * spec::binary64(2); },
      [](Nest& n) { store_of(n).value = store_of(n).value->args[0] * spec::binary64(-2); },
      [](Nest& n) { store_of(n).value = store_of(n).value->args[0] + spec::decimal(2); },
      [](Nest& n) { store_of(n).value = spec::decimal(2) * store_of(n).value->args[0]; },
      [](Nest& n) { store_of(n).place[0] = store_of(n).place[0] + spec::integer(0); },
      [](Nest& n) { store_of(n).place = {}; },
  };
  std::vector<Nest> nests{doubling(1, 0, 5, 8)};
  for (const auto& change : changes) {
    nests.push_back(doubling(1, 0, 5, 8));
    change(nests.back());
  }
  const auto found = loops::find_alike(five_tensors(), nests);
  REQUIRE(found.size() == changes.size() + 1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("change " << i);
    CHECK(found[i].model == i);
  }
}

TEST_CASE("layers share code and keep their own numbers", "[compiled][alike]") {
  // Two layers of the same form: y = relu(x·v), z = relu(y·w), 3 by 3, written down by hand.
  const System s = spec::lower(spec::parse_program(
      "input x : f32[3, 3]\ninput v : f32[3, 3]\ninput w : f32[3, 3]\na = matmul(x, v)\ny = relu(a)\nb = matmul(y, w)\nz = relu(b)\noutput y, z\n"));
  const auto matrix = [](std::vector<float> values) {
    HostTensor t(DType::f32, {3, 3});
    std::copy(values.begin(), values.end(), t.view<float>().begin());
    return t;
  };
  CompileOptions o = options();
  std::size_t functions = 0;
  o.dump_after = {"llvm"};
  o.dump = [&](std::string_view stage, const std::string& text) {
    if (stage != "llvm") return;
    for (std::size_t at = text.find("define void @kernel"); at != std::string::npos; at = text.find("define void @kernel", at + 1)) ++functions;
  };
  const Executable e = compile_system(s, o);
  CHECK(e.report().kernels == 2);
  CHECK(functions == 1);
  const auto found = e.run(std::vector{matrix({1, 2, 0, 0, 1, 0, -1, 0, 1}), matrix({1, 0, 0, 0, 1, 0, 2, 0, 1}), matrix({0, 1, 0, 1, 0, 0, 0, 0, -3})});
  REQUIRE(found.size() == 2);
  CHECK(found[0] == matrix({1, 2, 0, 0, 1, 0, 1, 0, 1}));
  CHECK(found[1] == matrix({2, 1, 0, 1, 0, 0, 0, 1, 0}));
}
