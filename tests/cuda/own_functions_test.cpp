// Functions that kernels bring with them: on the emulated device they have the bits of the processor's code, alone and in programs.
#include <catch2/catch.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "compiled/machine/own_functions.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/runtime/processor.hpp"
#include "cuda/contract.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/grid.hpp"
#include "cuda/module_text.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/ptx.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::compiled;
using namespace etalon::test;
using cuda::emulator::Emulator;
using spec::Primitive;

namespace {

/// Where the documented errors are largest (docs/contracts.md).
constexpr float worst_of_exp = 0x1.4cec68p+2F, worst_of_tanh = 0x1.02a394p+0F, worst_of_log = 0x1.7fcb3ep-1F;

/// All of them of x, whose type is to be filled in.
std::string all_functions(std::size_t n) { return "input x : f32[" + std::to_string(n) + "]\ny = exp(x)\nz = tanh(x)\nw = log(x)\noutput y, z, w\n"; }

/// Numbers whose bits are a multiple of `step`, and all that lie near one at which something ends or begins, of both signs.
std::vector<float> arguments(std::uint32_t step) {
  std::vector<float> all;
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += step) all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  using Limits = std::numeric_limits<float>;
  for (const float x : {Limits::denorm_min(), Limits::min(), 0x1.62e43p-2F, 1.0F, 10.0F, 87.0F, 0x1.62e43p6F, 89.0F, 103.0F, 104.0F, Limits::max(), 0.75F, 1.5F, worst_of_exp, worst_of_tanh, worst_of_log}) {
    for (std::uint32_t near = 0; near < 256; ++near) {
      const float other = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + near - std::min(128U, std::bit_cast<std::uint32_t>(x)));
      all.insert(all.end(), {other, -other});
    }
  }
  return all;
}

std::vector<HostTensor> outputs_of(const std::string& program, const std::shared_ptr<Device>& device, const std::vector<std::pair<std::string, HostTensor>>& inputs) {
  CompileOptions options;
  options.device = device;
  const Executable step = compile(spec::parse_program(program), options);
  Store store;
  for (const auto& [name, value] : inputs) store.put(name, value);
  return step.run(store);
}

double units(float got, double truth) { return std::abs(got - truth) / std::ldexp(1.0, std::ilogb(truth) - 23); }

/// Processors without fused multiplication and addition call the library.
bool has_own_functions(const Processor& processor) {
  if (processor.machine().has_vectors()) return true;
  WARN("skipped: this processor has no fused multiplication and addition");
  return false;
}

HostTensor drawn(const Dims& dims, std::uint32_t seed) {
  HostTensor t(DType::f32, dims);
  for (float& x : t.view<float>()) x = 6 * std::sin(static_cast<float>(seed += 12345));
  return t;
}

}  // namespace

TEST_CASE("exp, tanh and log of f32 have the processor's bits on the emulated device", "[cuda][emulator]") {
  const auto processor = std::make_shared<Processor>();
  if (!has_own_functions(*processor)) return;
  const std::vector<float> all = arguments(4001);
  const HostTensor x = HostTensor::of<float>({static_cast<std::int64_t>(all.size())}, all);
  const std::string program = all_functions(all.size());
  const std::vector<HostTensor> expected = outputs_of(program, processor, {{"x", x}});
  const std::vector<HostTensor> found = outputs_of(program, std::make_shared<Emulator>(1), {{"x", x}});
  REQUIRE(all.size() > 1000000);
  REQUIRE(found.size() == own_functions.size());
  for (std::size_t f = 0; f < found.size(); ++f) {
    INFO("function " << f);
    CHECK(same_bits({found[f]}, {expected[f]}));
  }
}

TEST_CASE("exp, tanh and log at the ends and where their errors are largest, on the emulated device", "[cuda][emulator]") {
  using Limits = std::numeric_limits<float>;
  const std::vector<float> ends{0.0F, -0.0F, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::max(), worst_of_exp, worst_of_tanh, worst_of_log, 1.0F, -1.0F};
  const std::vector<HostTensor> found = outputs_of(all_functions(ends.size()), std::make_shared<Emulator>(2), {{"x", HostTensor::of<float>({12}, ends)}});
  REQUIRE(found.size() == 3);
  const auto y = found[0].view<float>(), z = found[1].view<float>(), w = found[2].view<float>();
  CHECK((y[0] == 1 && y[1] == 1 && y[5] == 1));
  CHECK((y[2] == Limits::infinity() && y[6] == Limits::infinity()));
  CHECK((y[3] == 0 && !std::signbit(y[3])));
  CHECK((std::isnan(y[4]) && std::isnan(z[4])));
  CHECK((z[0] == 0 && !std::signbit(z[0]) && z[1] == 0 && std::signbit(z[1])));
  CHECK((z[2] == 1 && z[3] == -1 && z[6] == 1));
  CHECK(z[5] == Limits::denorm_min());
  CHECK((w[0] == -Limits::infinity() && w[1] == -Limits::infinity() && w[2] == Limits::infinity()));
  CHECK((std::isnan(w[3]) && std::isnan(w[4]) && std::isnan(w[11])));
  CHECK((w[10] == 0 && !std::signbit(w[10])));
  CHECK(units(w[5], std::log(static_cast<double>(Limits::denorm_min()))) < 0.6283);
  // As the page has them: the C library's are nearer.
  CHECK(std::abs(units(y[7], std::exp(static_cast<double>(worst_of_exp))) - 0.894234) < 1e-6);
  CHECK(std::abs(units(z[8], std::tanh(static_cast<double>(worst_of_tanh))) - 0.949355) < 1e-6);
  CHECK(std::abs(units(w[9], std::log(static_cast<double>(worst_of_log))) - 0.628299) < 1e-6);
}

TEST_CASE("programs that call exp, tanh and log have the processor's bits on the emulated device", "[cuda][emulator]") {
  const auto processor = std::make_shared<Processor>();
  if (!has_own_functions(*processor)) return;
  const auto emulator = std::make_shared<Emulator>(3);
  struct Asked {
    std::string call;
    Dims dims;
  };
  for (const Asked& asked : {Asked{"softmax(x)", {37, 100}}, Asked{"softmax(x)", {3, 2500}}, Asked{"softmax(x) {axis = 0}", {90, 7}}, Asked{"gelu(x) {approximate = tanh}", {41, 33}},
                             Asked{"sigmoid(x)", {5, 300}}, Asked{"silu(x)", {5, 300}}, Asked{"log_softmax(x)", {11, 70}}}) {
    const std::string type = "f32[" + std::to_string(asked.dims[0]) + ", " + std::to_string(asked.dims[1]) + "]\n";
    const std::string program = "input x : " + type + "input d : " + type + "y = " + asked.call + "\ng = vjp(y; x; d)\noutput y, g\n";
    INFO(program);
    const std::vector<std::pair<std::string, HostTensor>> inputs{{"x", drawn(asked.dims, 1)}, {"d", drawn(asked.dims, 2)}};
    const std::vector<HostTensor> expected = outputs_of(program, processor, inputs), found = outputs_of(program, emulator, inputs);
    REQUIRE(found.size() == 2);
    CHECK((std::isfinite(expected[0].view<float>()[1]) && std::isfinite(expected[1].view<float>()[1])));
    CHECK(same_bits(found, expected));
  }
}

TEST_CASE("kernels with exp, tanh and log approximate nothing and flush nothing", "[cuda][ptx]") {
  if (!cuda::has_nvrtc()) return;
  const spec::Program program = spec::parse_program("input x : f32[37, 100]\ny = softmax(x)\nz = tanh(x)\nw = log(x)\noutput y, z, w\n");
  const std::string text = cuda::module_text(source::lower_for_text(task_of(program), {}, cuda::machine)).text;
  CHECK(cuda::findings_in_ptx(cuda::compile_to_ptx(text)).empty());
}

TEST_CASE("machines with fused multiplication and addition have the functions, and devices promise them as the processor does", "[cuda]") {
  for (const OwnFunction& f : own_functions) {
    CHECK((is_had_by(f, machines::avx2) && is_had_by(f, machines::neon) && is_had_by(f, cuda::machine)));
    CHECK_FALSE(is_had_by(f, machines::scalar));
    const double processor = function_bound(spec::contract_named("cpu"), DType::f32, f.primitive).k0;
    for (const char* library : {"cuda", "cpu-c"}) {
      const spec::Contract shipped = spec::contract_named(library), promised = cuda::contract_of_device("device", library);
      CHECK(function_bound(promised, DType::f32, f.primitive).k0 == processor);
      CHECK(processor < function_bound(shipped, DType::f32, f.primitive).k0);
      CHECK(function_bound(promised, DType::f64, f.primitive) == function_bound(shipped, DType::f64, f.primitive));
      CHECK(function_bound(promised, DType::f32, Primitive::erf) == function_bound(shipped, DType::f32, Primitive::erf));
    }
  }
}

TEST_CASE("lists of steps that say nothing do not compile", "[cuda]") {
  using namespace function_steps;
  STATIC_REQUIRE(is_well_formed(std::array{FunctionStep{"r", add, {"x", 0.5}}, FunctionStep{"r", mul, {"r", "r"}}}));
  STATIC_REQUIRE_FALSE(is_well_formed(std::array{FunctionStep{"y", add, {"x", "r"}}, FunctionStep{"r", mul, {"x", "x"}}}));  // a name before its step
  STATIC_REQUIRE_FALSE(is_well_formed(std::array{FunctionStep{"y", add, {"y", "x"}}}));
  STATIC_REQUIRE_FALSE(is_well_formed(std::array{FunctionStep{"y", mul, {"x", 0.1}}}));  // no number of single precision
  STATIC_REQUIRE_FALSE(is_well_formed(std::array<FunctionStep, 0>{}));
}
