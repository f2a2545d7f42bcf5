// Another architecture: code for AArch64, made here and run by QEMU, gives the bits of this machine.
#include <catch2/catch.hpp>

#include <cmath>
#include <iterator>
#include <random>

#include "compiled/runtime/executable.hpp"
#include "compiled/runtime/processor.hpp"
#include "spec/half.hpp"
#include "spec/program/program.hpp"
#include "tests/aarch64/emulated_device.hpp"

using namespace etalon;
using namespace etalon::test;
using compiled::Store;

namespace {

void put(HostTensor& tensor, std::size_t at, double value) {
  switch (tensor.dtype) {
    case DType::f64: tensor.view<double>()[at] = value; return;
    case DType::f32: tensor.view<float>()[at] = static_cast<float>(value); return;
    case DType::f16:
    case DType::bf16: tensor.view<std::uint16_t>()[at] = spec::nearest_half(value, tensor.dtype); return;
    case DType::i32: tensor.view<std::int32_t>()[at] = static_cast<std::int32_t>(std::lround(100 * value)); return;
    default: tensor.view<std::int64_t>()[at] = std::lround(std::abs(value));
  }
}

/// Normal numbers; indices among the first few.
Store filled(const spec::Program& program) {
  Store store;
  std::mt19937 draw(11);
  std::normal_distribution<double> normal;
  for (const spec::Input& i : program.inputs) {
    if (i.value) continue;
    HostTensor value(i.dtype, i.dims);
    for (std::size_t at = 0; at < static_cast<std::size_t>(i.dims.count()); ++at) put(value, at, normal(draw));
    store.put(i.name, value);
  }
  return store;
}

struct Ran {
  std::vector<HostTensor> values;  ///< outputs of two runs, then what the store holds
  std::size_t kernels = 0;
};

Ran ran(const spec::Program& program, std::shared_ptr<compiled::Device> device) {
  compiled::CompileOptions options;
  options.device = std::move(device);
  const compiled::Executable executable = compiled::compile(program, options);
  Store store = filled(program);
  Ran all{{}, executable.report().kernels};
  for (int run = 0; run < 2; ++run) {
    for (HostTensor& output : executable.run(store)) all.values.push_back(std::move(output));
  }
  for (const std::string& name : store.names()) all.values.push_back(store.read(name));
  return all;
}

struct Named {
  const char* name;
  const char* program;
};

/// No function of the mathematical library, whose code for AArch64 is not here: exp and tanh of f32 are our own.
constexpr Named programs[] = {
    {"softmax", "input x : f32[37, 1000]\ny = softmax(x)\noutput y\n"},
    {"layer norm with cotangents",
     "input x : f32[33, 257]\ninput g : f32[257]\ninput b : f32[257]\ninput d : f32[33, 257]\ny = layer_norm(x, g, b)\n"
     "gx, gg, gb = vjp(y; x, g, b; d)\noutput y, gx, gg, gb\n"},
    {"attention",
     "input q : f32[96, 40]\ninput k : f32[40, 96]\ninput v : f32[96, 24]\na = matmul(q, k)\nb = softmax(a)\ny = matmul(b, v)\ns = sum(y)\n"
     "g, h, i = vjp(s; q, k, v)\noutput y, g, h, i\n"},
    {"MLP step",
     "parameter w : f32[96, 50]\nparameter v : f32[10, 96]\ninput x : f32[64, 50]\ninput t : f32[64, 10]\nz = linear(x, w, _)\nh = tanh(z)\n"
     "o = linear(h, v, _)\nloss = mse(o, t)\ngw, gv = vjp(loss; w, v)\nw1 = sub(w, gw)\nv1 = sub(v, gv)\noutput loss, o\nupdate w := w1\nupdate v := v1\n"},
    {"CNN step",
     "parameter k : f32[16, 3, 3, 3]\nparameter w : f32[10, 1024]\ninput x : f32[4, 3, 16, 16]\ninput t : f32[4, 10]\n"
     "c = conv2d(x, k, _) {padding = [1, 1]}\nr = relu(c)\np = max_pool2d(r) {kernel = 2, stride = 2}\nf = reshape(p) {shape = [4, 1024]}\n"
     "o = linear(f, w, _)\nloss = mse(o, t)\ngk, gw = vjp(loss; k, w)\nk1 = sub(k, gk)\nw1 = sub(w, gw)\noutput loss, o\nupdate k := k1\nupdate w := w1\n"},
    {"products in f64", "input a : f64[29, 150]\ninput b : f64[150, 71]\nc = matmul(a, b)\ns = sum(c) {axes = [0]}\noutput c, s\n"},
    {"f16", "input a : f16[19, 300]\ninput b : f16[300, 33]\nc = matmul(a, b)\ny = softmax(c)\noutput c, y\n"},
    {"bf16", "input a : bf16[19, 300]\ninput b : bf16[300, 33]\nc = matmul(a, b)\nt = tanh(c)\ns = sum(t)\noutput c, t, s\n"},
    {"casts",
     "input x : f64[301]\na = cast(x) {dtype = f16}\nb = cast(x) {dtype = bf16}\nc = cast(x) {dtype = f32}\nd = cast(c) {dtype = i32}\n"
     "e = cast(a) {dtype = f64}\noutput a, b, c, d, e\n"},
    {"scatter", "input x : f32[9, 4]\ninput i : i64[20]\ninput s : f32[20, 4]\ny = gather(x, i)\ng = vjp(y; x; s)\noutput g, y\n"},
    {"integers", "input x : i32[200]\ninput y : i32[200]\nq = floor_divide(x, y)\nm = mul(q, x)\nc = cumsum(m)\noutput q, m, c\n"},
};

void compare(const std::shared_ptr<compiled::Device>& here, const std::shared_ptr<compiled::Device>& there, const std::string& text) {
  const spec::Program program = spec::parse_program(text);
  const Ran expected = ran(program, here), found = ran(program, there);
  CHECK(found.kernels == expected.kernels);
  REQUIRE(found.values.size() == expected.values.size());
  for (std::size_t v = 0; v < found.values.size(); ++v) {
    INFO("value " << v << ", " << name_of(found.values[v].dtype) << to_string(found.values[v].dims));
    CHECK(found.values[v] == expected.values[v]);
  }
}

}  // namespace

TEST_CASE("programs have the bits of this machine on AArch64", "[aarch64]") {
  const auto device = emulated_or_skipped(compiled::machines::neon);
  const auto here = std::make_shared<compiled::Processor>();
  REQUIRE(here->machine().order_of_sums() == device->machine().order_of_sums());
  for (const Named& named : programs) {
    INFO(named.name);
    compare(here, device, named.program);
  }
  CHECK(device->runs() == 2 * std::size(programs));
}

TEST_CASE("functions of the mathematical library have the bits of this machine on AArch64", "[aarch64]") {
  const auto device = emulated_or_skipped(compiled::machines::neon);
  if (!device->has_functions()) {
    WARN("the mathematical library is not here for AArch64 (ETALON_SLEEF_AARCH64)");
    return;
  }
  const auto here = std::make_shared<compiled::Processor>();
  for (const std::string type : {"f32", "f64"}) {
    INFO(type);
    std::string text = "input x : " + type + "[1003]\ninput w : " + type + "[1003]\np = abs(x)\n", outputs;
    for (const std::string f : {"exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf"}) text += "y_" + f + " = " + f + "(x)\n", outputs += "y_" + f + ", ";
    for (const std::string f : {"log", "log2", "log1p"}) text += "y_" + f + " = " + f + "(p)\n", outputs += "y_" + f + ", ";
    compare(here, device, text + "y_power = pow(p, w)\ny_atan2 = atan2(x, w)\noutput " + outputs + "y_power, y_atan2\n");
  }
  CHECK(device->runs() == 4);
}

TEST_CASE("a machine outside of the profile has other bits than AArch64", "[aarch64]") {
  const auto device = emulated_or_skipped(compiled::machines::neon);
  const auto scalar = std::make_shared<compiled::Processor>(compiled::machines::scalar);
  REQUIRE(scalar->machine().order_of_sums() != device->machine().order_of_sums());
  const spec::Program program = spec::parse_program("input a : f32[29, 150]\ninput b : f32[150, 71]\nc = matmul(a, b)\noutput c\n");
  const Ran one = ran(program, scalar), other = ran(program, device);
  REQUIRE(one.values.size() == other.values.size());
  CHECK_FALSE(one.values == other.values);
}
