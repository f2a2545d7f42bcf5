// The driver's device over a driver that stands in for NVIDIA's: the emulator's bits, one line for whatever call fails, and stores that are as
// they were.
#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/emulator/emulator.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/stand_in/driver.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::Executable;
using compiled::Store;

namespace {

#ifndef ETALON_STAND_IN
constexpr const char* stand_in_path = "";
#else
constexpr const char* stand_in_path = ETALON_STAND_IN;
#endif

#ifndef ETALON_CUDA_STUB
constexpr const char* stub_path = "";
#else
constexpr const char* stub_path = ETALON_CUDA_STUB;
#endif

constexpr const char* training = R"(
parameter w : f32[2, 1]
parameter m : f32[2, 1]
input x : f32[4, 2]
input y : f32[4, 1]
index t : i64[] in 1..10
p = matmul(x, w)
loss = mse(p, y)
g = vjp(loss; w)
w1, m1 = sgd(w, g, m, t) {lr = 0.5, momentum = 0.5}
output loss, p
update w := w1
update m := m1
)";
constexpr const char* scattered = "input x : f32[9, 4]\ninput i : i64[20]\ninput s : f32[20, 4]\ny = gather(x, i)\ng = vjp(y; x; s)\noutput g, y\n";
/// Both kinds of things that a step does there: kernels, and zeros to add to.
std::string with_zeros() {
  return training + std::string("input z : f32[9, 4]\ninput i : i64[20]\ninput s : f32[20, 4]\nq = gather(z, i)\nh = vjp(q; z; s)\noutput h\n");
}

/// The driver as it was before any test touched it.
StandIn& stand_in() {
  static void* const library = dlopen(stand_in_path, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  StandIn& found = *reinterpret_cast<StandInOf>(dlsym(library, stand_in_symbol))();
  const long memory = found.memory, graphs = found.graphs;
  found = {};
  found.memory = memory;
  found.graphs = graphs;
  return found;
}

cuda::DriverOptions stand_in_options() {
  return {stand_in_path, 0, [](const std::string& text, int) { return cuda::Image{text, "sm_90"}; }};
}

HostTensor value_of(const spec::Input& i) {
  const auto count = static_cast<std::size_t>(i.dims.count());
  if (i.dtype == DType::i64) return HostTensor::of<std::int64_t>(i.dims, std::vector<std::int64_t>(count, 1));
  std::vector<float> numbers(count);
  for (std::size_t n = 0; n < count; ++n) numbers[n] = static_cast<float>(n % 5) - 1.5F;
  return HostTensor::of<float>(i.dims, numbers);
}

Store filled(const spec::Program& program) {
  Store store;
  for (const spec::Input& i : program.inputs) store.put(i.name, value_of(i));
  return store;
}

std::vector<HostTensor> values_in(const Store& store) {
  std::vector<HostTensor> all;
  for (const std::string& name : store.names()) all.push_back(store.read(name));
  return all;
}

/// Why there is no device.
std::string reason(const std::string& library) {
  try {
    cuda::DriverOptions options = stand_in_options();
    options.library = library;
    (void)cuda::Driver(options);
  } catch (const Unsupported& e) {
    return e.what();
  }
  return "";
}

bool has_stand_in() { return *stand_in_path != '\0'; }

}  // namespace

TEST_CASE("programs have the emulator's bits on a driver", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const long before = told.memory;
  for (const char* text : {training, scattered}) {
    const spec::Program program = spec::parse_program(text);
    const Executable there = compiled::compile(program, on(std::make_shared<cuda::Driver>(stand_in_options())));
    const Executable here = compiled::compile(program, on(std::make_shared<cuda::emulator::Emulator>()));
    Store store = filled(program), at_home = filled(program);
    for (int n = 0; n < 6; ++n) CHECK(there.run(store) == here.run(at_home));
    CHECK(values_in(store) == values_in(at_home));
  }
  CHECK(told.memory == before);
  CHECK(told.instantiations > 0);
  CHECK(told.graphs == 0);
}

TEST_CASE("the two sets of addresses of a store that is updated are two graphs, made when they come again and never after", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const spec::Program program = spec::parse_program(training);
  const Executable step = compiled::compile(program, on(std::make_shared<cuda::Driver>(stand_in_options())));
  Store store = filled(program);
  std::vector<long> made;
  for (int n = 0; n < 20; ++n) {
    (void)step.run(store);
    made.push_back(told.instantiations);
  }
  CHECK(std::vector(made.begin(), made.begin() + 4) == std::vector<long>{0, 0, 1, 2});
  CHECK(made.back() == 2);
}

TEST_CASE("programs in turn on one store make no graphs without end", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const spec::Program program = spec::parse_program(training);
  const auto driver = std::make_shared<cuda::Driver>(stand_in_options());
  const Executable one = compiled::compile(program, on(driver)), other = one;
  const Executable here = compiled::compile(program, on(std::make_shared<cuda::emulator::Emulator>()));
  Store store = filled(program), at_home = filled(program);
  const auto turns = [&](int count) {
    for (int n = 0; n < count; ++n) {
      for (const Executable* step : {&one, &other}) CHECK(step->run(store) == here.run(at_home));
    }
  };
  turns(8);
  const long made = told.instantiations;
  CHECK(made > 0);
  turns(8);
  CHECK(told.instantiations == made);
  CHECK(values_in(store) == values_in(at_home));
}

TEST_CASE("a program of one kernel is launched without a graph", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const spec::Program program = spec::parse_program("input x : f32[9, 4]\ny = relu(x)\noutput y\n");
  const Executable step = compiled::compile(program, on(std::make_shared<cuda::Driver>(stand_in_options())));
  REQUIRE(step.report().kernels == 1);
  Store store = filled(program);
  for (int n = 0; n < 4; ++n) (void)step.run(store);
  CHECK(told.instantiations == 0);
}

TEST_CASE("blocks that share more than kernels may without asking ask for it", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const spec::Program program = spec::parse_program("input x : f32[2, 6000]\ny = softmax(x)\nz = softmax(y)\nw = softmax(z)\ns = sum(w)\noutput w, s\n");
  const auto driver = std::make_shared<cuda::Driver>(stand_in_options());
  const Executable there = compiled::compile(program, on(driver)), here = compiled::compile(program, on(std::make_shared<cuda::emulator::Emulator>()));
  Store store = filled(program);
  // Before: memory of others comes and goes, and a graph is of addresses.
  const std::vector<HostTensor> expected = here.run(store);
  for (int n = 0; n < 3; ++n) CHECK(there.run(store) == expected);
  CHECK(told.instantiations == 1);
  std::set<std::string> complaints;
  for (long call = 0; call < 20; ++call) {
    told.calls = 0;
    told.fails_at = call;
    try {
      (void)compiled::compile(program, on(driver));
    } catch (const DeviceError& e) {
      complaints.insert(e.what());
    }
  }
  told.fails_at = -1;
  CHECK(std::ranges::any_of(complaints, [](const std::string& c) { return c.starts_with("device cuda: cuFuncSetAttribute of kernel_"); }));
}

TEST_CASE("whichever call of a step fails, the store is as before and one line names it", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const spec::Program program = spec::parse_program(with_zeros());
  const Executable here = compiled::compile(program, on(std::make_shared<cuda::emulator::Emulator>()));
  const auto driver = std::make_shared<cuda::Driver>(stand_in_options());
  // The first steps launch kernels, later ones make a graph, and the fifth only launches one.
  for (const int steps_before : {0, 1, 2, 4}) {
    const bool by_kernel = steps_before < 2, makes_graph = steps_before == 2;
    Store at_home = filled(program);
    std::vector<HostTensor> expected;
    for (int n = 0; n <= steps_before; ++n) expected = here.run(at_home);
    std::set<std::string> complaints;
    long call = 0, all = 1;
    for (; call < all; ++call) {
      const Executable step = compiled::compile(program, on(driver));
      Store store = filled(program);
      for (int n = 0; n < steps_before; ++n) (void)step.run(store);
      const auto before = values_in(store);
      told.calls = 0;
      told.fails_at = call;
      std::string said;
      std::vector<HostTensor> found;
      try {
        found = step.run(store);
      } catch (const DeviceError& e) {
        said = e.what();
      }
      told.fails_at = -1;
      all = std::max(all, said.empty() ? told.calls : call + 2);
      INFO("call " << call << ": " << said);
      if (said.empty()) {
        CHECK(found == expected);
        continue;
      }
      CHECK(said.find('\n') == std::string::npos);
      CHECK_THAT(said, Contains("device cuda: cu") && Contains(": CUDA_ERROR_UNKNOWN"));
      CHECK(values_in(store) == before);
      CHECK(step.run(store) == expected);
      CHECK(values_in(store) == values_in(at_home));
      complaints.insert(said);
    }
    const auto one_says = [&](const char* what) { return std::ranges::any_of(complaints, [&](const std::string& c) { return c.find(what) != std::string::npos; }); };
    CHECK(one_says("cuLaunchKernel of kernel_") == by_kernel);
    CHECK(one_says("cuMemsetD8Async of ") == by_kernel);
    CHECK(one_says("cuGraphCreate: ") == makes_graph);
    CHECK(one_says("cuGraphAddKernelNode of kernel_") == makes_graph);
    CHECK(one_says("cuGraphAddMemsetNode of ") == makes_graph);
    CHECK(one_says("cuGraphInstantiateWithFlags of ") == makes_graph);
    CHECK(one_says("cuGraphLaunch of ") == !by_kernel);
    CHECK(one_says("cuStreamSynchronize"));
    CHECK(one_says("cuMemcpyDtoH of 4 bytes"));
    CHECK(one_says("cuCtxSetCurrent"));
    CHECK(one_says("cuMemAlloc of 8 bytes") == (steps_before == 0));
    CHECK(told.graphs == 0);
  }
}

TEST_CASE("whichever call fails before there is a program, one line names it and no memory is lost", "[cuda][driver]") {
  if (!has_stand_in()) return;
  StandIn& told = stand_in();
  const spec::Program program = spec::parse_program(scattered);
  const auto driver = std::make_shared<cuda::Driver>(stand_in_options());
  const long memory = told.memory;
  std::set<std::string> complaints;
  for (long call = 0;; ++call) {
    told.calls = 0;
    told.fails_at = call;
    try {
      (void)compiled::compile(program, on(driver));
      if (told.calls <= call) break;
    } catch (const DeviceError& e) {
      complaints.insert(e.what());
    }
    told.fails_at = -1;
    CHECK(told.memory <= memory);
  }
  told.fails_at = -1;
  CHECK(complaints.contains("device cuda: cuModuleLoadDataEx for sm_90: CUDA_ERROR_UNKNOWN"));
  CHECK(std::ranges::any_of(complaints, [](const std::string& c) { return c.starts_with("device cuda: cuModuleGetFunction of kernel_"); }));
}

TEST_CASE("the toolkit's driver has every call, under the name that is looked for", "[cuda][driver]") {
  if (*stub_path == '\0') return;
  CHECK_THAT(reason(stub_path), Contains("cuda: no device: cuInit: "));
}

TEST_CASE("there is a reason why there is no device", "[cuda][driver]") {
  CHECK_THAT(reason("no/such/libcuda.so.1"), Contains("cuda: "));
  if (!has_stand_in()) return;
  CHECK_THAT(reason("no/such/libcuda.so.1"), Contains("cuda: no driver: ") && Contains("libcuda.so.1"));
  CHECK_THAT(reason("libm.so.6"), Contains("cuda: the driver libm.so.6 is too old: it has no cu"));
  StandIn& told = stand_in();
  told.devices = 0;
  CHECK(reason(stand_in_path) == "cuda: no device: the driver finds none");
  told.devices = 1;
  told.driver_version = 11040;
  CHECK_THAT(reason(stand_in_path), Contains("the driver is for CUDA 11.4, expected 1"));
  told.driver_version = 99000;
  CHECK(reason(stand_in_path).empty());
  for (long call = 0;; ++call) {
    told.calls = 0;
    told.fails_at = call;
    const std::string said = reason(stand_in_path);
    if (said.empty()) break;
    CHECK_THAT(said, Contains("cuda: no device: cu") && Contains("CUDA_ERROR_UNKNOWN"));
  }
  told.fails_at = -1;
  told.devices = 2;
  told.capability = 103;
  const std::vector<cuda::Described> found = cuda::described_devices(stand_in_path);
  REQUIRE(found.size() == 2);
  CHECK(found[1].name == "Stand-in 1");
  CHECK((found[0].capability == 103 && found[0].bytes == std::size_t{1} << 30 && found[0].driver == 99000));
  CHECK_THROWS_WITH(cuda::Driver({stand_in_path, 2, {}}), Contains("no device 2") && Contains("finds 2"));
}

TEST_CASE("a device that NVRTC does not know gets the nearest older one's PTX", "[cuda][driver]") {
  if (!cuda::has_nvrtc()) return;
  CHECK(cuda::image_architecture(90) == "sm_90");
  CHECK(cuda::image_architecture(91) == "compute_90");
  CHECK_THROWS_WITH(cuda::image_architecture(10), Contains("1.0"));
  const std::string text = "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] = 1; }\n";
  CHECK_THAT(cuda::compile_for(text, 91).bytes, Contains(".visible .entry k") && Contains(".target sm_90"));
  // Machine code is an ELF file.
  CHECK(cuda::compile_for(text, 90).bytes.substr(1, 3) == "ELF");
}
