// Programs on the emulated device: the processor's bits where operations are IEEE's, whatever the order of threads and commands.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "compiled/runtime/processor.hpp"
#include "cuda/emulator/emulator.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::CompileOptions;
using cuda::emulator::Emulator;

namespace {

constexpr const char* training = R"(
parameter w : f32[2, 1]
parameter m : f32[2, 1]
input x : f32[4, 2]
input y : f32[4, 1]
constant shift : f32[4, 2] = [1, 0, 0, 1, 1, 0, 0, 1]
index t : i64[] in 1..10
a = add(x, shift)
p = matmul(a, w)
loss = mse(p, y)
g = vjp(loss; w)
w1, m1 = sgd(w, g, m, t) {lr = 0.5, momentum = 0.5}
output loss, p
update w := w1
update m := m1
capture g
)";

std::vector<HostTensor> outputs(const spec::System& system, const std::shared_ptr<compiled::Device>& device, const std::vector<HostTensor>& inputs) {
  return compiled::compile_system(system, on(device)).run(inputs);
}

std::vector<HostTensor> trained(const std::shared_ptr<compiled::Device>& device, int steps) {
  const compiled::Executable step = compiled::compile(spec::parse_program(training), on(device));
  compiled::Store store;
  store.put("w", HostTensor::of<float>({2, 1}, {1, 0.5F}));
  store.put("m", HostTensor::of<float>({2, 1}, {0, 0}));
  store.put("x", HostTensor::of<float>({4, 2}, {2, 0, 0, 2, 2, 2, 1, -1}));
  store.put("y", HostTensor::of<float>({4, 1}, {0, 1, 0, 3}));
  store.put("t", HostTensor::of<std::int64_t>({}, {1}));
  std::vector<HostTensor> all;
  for (int n = 0; n < steps; ++n) {
    for (HostTensor& result : step.run(store)) all.push_back(std::move(result));
    all.push_back(step.captured("g"));
  }
  for (const std::string& name : store.names()) all.push_back(store.read(name));
  return all;
}

}  // namespace

TEST_CASE("memory of the emulated device is NaN until it is written, and nobody else's", "[cuda][emulator]") {
  Emulator device;
  std::byte* const one = device.allocate(4100);
  std::byte* const other = device.allocate(8);
  std::vector<std::byte> found(4100);
  device.download(found, one);
  CHECK(found == std::vector<std::byte>(4100, std::byte{0xFF}));
  const std::vector<std::byte> given(100, std::byte{7});
  device.upload(one + 5, given);
  device.download({found.data(), 100}, one + 5);
  CHECK(std::equal(given.begin(), given.end(), found.begin()));
  device.download({found.data(), 8}, other);
  CHECK(std::count(found.begin(), found.begin() + 8, std::byte{0xFF}) == 8);
  device.release(other);
  CHECK_THROWS_AS(device.upload(other, given), DeviceError);
  CHECK_THROWS_WITH(device.download({found.data(), 8}, one + 4100), Contains("device cuda-emulated: ") && Contains("address"));
  device.release(one);
}

TEST_CASE("drawn systems have the processor's bits on the emulated device", "[cuda][emulator]") {
  constexpr std::uint32_t systems = 40;
  for (const Sums sums : {Sums::exact, Sums::rounded}) {
    std::vector<spec::System> drawn;
    for (std::uint32_t seed = 1; seed <= systems; ++seed) drawn.push_back(drawn_system(seed, sums));
    const auto emulator = std::make_shared<Emulator>(3);
    std::vector<compiled::Executable> emulated;
    for (const spec::System& system : drawn) emulated.push_back(compiled::compile_system(system, on(emulator)));
    const auto processor = std::make_shared<compiled::Processor>();
    for (std::uint32_t n = 0; n < systems; ++n) {
      INFO("seed " << n + 1);
      const std::vector<HostTensor> inputs = drawn_inputs(drawn[n], n + 1);
      const std::vector<HostTensor> expected = outputs(drawn[n], processor, inputs);
      REQUIRE(!expected.empty());
      CHECK(same_bits(emulated[n].run(inputs), expected));
    }
    CHECK(emulator->compilations() == 1);
  }
}

TEST_CASE("a model is trained on the emulated device as on the processor", "[cuda][emulator]") {
  const std::vector<HostTensor> expected = trained(std::make_shared<compiled::Processor>(), 3);
  REQUIRE(expected.size() == 14);
  for (std::uint64_t seed = 0; seed < 3; ++seed) CHECK(trained(std::make_shared<Emulator>(seed), 3) == expected);
}
