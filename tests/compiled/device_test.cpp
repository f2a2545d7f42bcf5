// Programs on a device whose memory is not the host's: the bits of the processor, no byte copied that nobody asks for, and stores that
// are as they were when something fails.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "compiled/runtime/buffer.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"
#include "tests/compiled/far_device.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::CompileOptions;
using compiled::Executable;
using compiled::Store;
using Newest = compiled::Store::Newest;

namespace {

constexpr const char* scattered =
    "input x : f32[9, 4]\ninput i : i64[20]\ninput s : f32[20, 4]\ny = gather(x, i)\ng = vjp(y; x; s)\noutput g, y\n";
constexpr const char* attention =
    "input q : f32[96, 40]\ninput k : f32[40, 96]\ninput v : f32[96, 24]\na = matmul(q, k)\nb = softmax(a)\ny = matmul(b, v)\ns = sum(y)\n"
    "g, h, i = vjp(s; q, k, v)\noutput y, g, h, i\n";
/// The constant is as large as x; w and m are 8 bytes each.
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
constexpr std::size_t w_bytes = 8, x_bytes = 32, y_bytes = 16, t_bytes = 8, loss_bytes = 4, p_bytes = 16, g_bytes = 8;
/// Its contraction reads w in panels.
constexpr const char* panels = R"(
parameter w : f32[64, 512]
input x : f32[96, 64]
y = matmul(x, w)
w1 = mul(w, w)
output y
update w := w1
)";

CompileOptions on(std::shared_ptr<compiled::Device> device, std::set<std::string> off = {}) {
  CompileOptions o = options();
  o.device = std::move(device);
  o.off = std::move(off);
  return o;
}

HostTensor drawn(const spec::Input& i, unsigned seed) {
  if (i.dtype != DType::i64) return small_integers(i.dtype, i.dims, seed + static_cast<unsigned>(i.dims.count()));
  return HostTensor::of<std::int64_t>(i.dims, std::vector<std::int64_t>(static_cast<std::size_t>(i.dims.count()), 1 + seed % 5));
}

Store filled(const spec::Program& program, unsigned seed = 1) {
  Store store;
  for (const spec::Input& i : program.inputs) {
    if (!i.value) store.put(i.name, drawn(i, seed));
  }
  return store;
}

std::vector<HostTensor> values_in(const Store& store) {
  std::vector<HostTensor> all;
  for (const std::string& name : store.names()) all.push_back(store.read(name));
  return all;
}

/// Results of some steps and what they leave.
std::vector<HostTensor> trained(const Executable& step, Store& store, int steps) {
  std::vector<HostTensor> all;
  for (int n = 0; n < steps; ++n) {
    for (HostTensor& result : step.run(store)) all.push_back(std::move(result));
    for (const std::string& name : step.captures()) all.push_back(step.captured(name));
  }
  for (HostTensor& value : values_in(store)) all.push_back(std::move(value));
  return all;
}

/// The message of the device's complaint; empty where there was none.
template <class Do>
std::string complaint(Do go) {
  try {
    go();
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("devices keep what is copied to them", "[compiled][device]") {
  const std::vector<std::shared_ptr<compiled::Device>> devices{shared_processor(), std::make_shared<FarDevice>(1)};
  for (const auto& device : devices) {
    const compiled::Buffer one(device, 100), other(device, 100);
    std::vector<std::byte> given(100), found(100);
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::byte>(3 * i);
    device->upload(one.data(), given);
    device->upload(other.data(), std::vector<std::byte>(100, std::byte{7}));
    const std::vector<std::byte> kept = given;
    given.assign(100, std::byte{9});  // the host's bytes are free again
    device->download(found, one.data());
    CHECK(found == kept);
    CHECK(one.device() == device.get());
  }
}

TEST_CASE("a device with memory of its own gives the processor's bits, in whatever order", "[compiled][device]") {
  for (const char* text : {scattered, attention, training}) {
    const spec::Program program = spec::parse_program(text);
    std::vector<HostTensor> inputs;
    for (const spec::Input& i : program.inputs) {
      if (!i.value) inputs.push_back(drawn(i, 3));
    }
    for (const std::set<std::string>& off : {std::set<std::string>{}, {"fuse"}, {"all"}}) {
      const Executable here = compiled::compile(program, on(shared_processor(), off));
      Store at_home = filled(program);
      const auto expected = trained(here, at_home, 3);
      const auto alone = here.run(inputs);
      for (std::uint32_t seed = 0; seed < 3; ++seed) {
        const auto device = std::make_shared<FarDevice>(seed);
        const Executable there = compiled::compile(program, on(device, off));
        Store store = filled(program);
        CHECK(trained(there, store, 3) == expected);
        CHECK(there.run(inputs) == alone);
      }
    }
  }
}

TEST_CASE("derivatives on a device with memory of its own", "[compiled][device]") {
  const spec::Program program = spec::parse_program("input x : f32[9, 5]\ninput c : f32[9, 5]\ny = softmax(x)\nz = mul(y, c)\noutput z\n");
  const std::vector<HostTensor> inputs{drawn(program.inputs[0], 1), drawn(program.inputs[1], 2)};
  const Executable here = compiled::compile(program, options());
  const auto device = std::make_shared<FarDevice>(5);
  const Executable there = compiled::compile(program, on(device));
  const compiled::Derivatives forward = here.jvp(inputs, std::vector<std::optional<HostTensor>>{inputs[1], std::nullopt});
  const compiled::Derivatives far = there.jvp(inputs, std::vector<std::optional<HostTensor>>{inputs[1], std::nullopt});
  CHECK(far.outputs == forward.outputs);
  CHECK(far.results == forward.results);
  const std::vector<std::optional<HostTensor>> seed{inputs[0]};
  CHECK(there.vjp(inputs, {true, true}, seed).results == here.vjp(inputs, {true, true}, seed).results);
}

TEST_CASE("parameters stay on the device and only what is asked for is copied", "[compiled][device]") {
  const spec::Program program = spec::parse_program(training);
  const auto device = std::make_shared<FarDevice>(2);
  const Executable step = compiled::compile(program, on(device));
  Store store = filled(program);
  const Executable::Named x{{"x", store.read("x")}};
  std::vector<HostTensor> results;
  CHECK(device->counts() == FarDevice::Counts{});
  step.run_into(results, store, x);
  // Both parameters, x, y, the constant and t; back come the results and what is captured.
  CHECK(device->counts() == FarDevice::Counts{2 * w_bytes + 2 * x_bytes + y_bytes + t_bytes, loss_bytes + p_bytes + g_bytes, 1});
  CHECK(store.entry("w").newest == Newest::device);
  CHECK(store.entry("y").newest == Newest::both);
  step.run_into(results, store, x);
  CHECK(device->counts() == FarDevice::Counts{x_bytes, loss_bytes + p_bytes + g_bytes, 1});
  const compiled::Bound bound = step.bind(store);  // x is the store's
  bound.run();
  CHECK(device->counts() == FarDevice::Counts{x_bytes, g_bytes, 1});
  bound.run();
  CHECK(device->counts() == FarDevice::Counts{0, g_bytes, 1});
  store.write("t", HostTensor::of<std::int64_t>({}, {2}));
  bound.run();
  CHECK(device->counts() == FarDevice::Counts{t_bytes, g_bytes, 1});
  (void)store.read("w");
  CHECK(device->counts() == FarDevice::Counts{0, w_bytes, 0});
  store.write("m", HostTensor(DType::f32, {2, 1}));
  bound.run_into(results);
  CHECK(device->counts() == FarDevice::Counts{w_bytes, loss_bytes + p_bytes + g_bytes, 1});
}

TEST_CASE("results that nobody asks for change nothing else", "[compiled][device]") {
  const spec::Program program = spec::parse_program(training);
  std::vector<std::vector<HostTensor>> found;
  for (const std::shared_ptr<compiled::Device>& device : {std::shared_ptr<compiled::Device>(shared_processor()), std::shared_ptr<compiled::Device>(std::make_shared<FarDevice>(3))}) {
    for (const bool asked : {false, true}) {
      const Executable step = compiled::compile(program, on(device));
      Store store = filled(program);
      const compiled::Bound bound = step.bind(store);
      std::vector<HostTensor> results;
      for (int n = 0; n < 3; ++n) {
        if (asked) bound.run_into(results);
        else bound.run();
      }
      found.push_back(values_in(store));
      found.back().push_back(step.captured("g"));
    }
  }
  REQUIRE_FALSE(found[0] == values_in(filled(program)));
  for (const auto& values : found) CHECK(values == found[0]);
}

TEST_CASE("parameters lie in panels on a device, too", "[compiled][device]") {
  const spec::Program program = spec::parse_program(panels);
  const Executable here = compiled::compile(program, on(shared_processor()));
  Store at_home = filled(program);
  const auto expected = trained(here, at_home, 2);
  REQUIRE(at_home.entry("w").panels.has_value());
  const auto device = std::make_shared<FarDevice>(4);
  const Executable there = compiled::compile(program, on(device));
  Store store = filled(program);
  CHECK(trained(there, store, 2) == expected);
  CHECK(store.entry("w").panels == at_home.entry("w").panels);
  // Who updates w has decided how it lies; a program that likes rows takes it as it is, and nothing is copied.
  const Executable sums = compiled::compile(spec::parse_program("parameter w : f32[64, 512]\ns = sum(w) {axes = [1]}\noutput s\n"), on(device));
  (void)device->counts();
  (void)sums.run(store);
  CHECK(device->counts() == FarDevice::Counts{0, 64 * 4, 1});
  // What is brought home, laid out otherwise or written comes back with the next run.
  store.bring_home("w");
  CHECK(store.entry("w").newest == Newest::host);
  CHECK(there.run(store) == here.run(at_home));
  CHECK(values_in(store) == values_in(at_home));
}

TEST_CASE("an entry whose newest value is on one device is not used on another", "[compiled][device]") {
  const spec::Program program = spec::parse_program(training);
  const auto device = std::make_shared<FarDevice>(2), second = std::make_shared<FarDevice>(3, "second");
  const Executable step = compiled::compile(program, on(device));
  const Executable here = compiled::compile(program, on(shared_processor())), elsewhere = compiled::compile(program, on(second));
  Store store = filled(program), at_home = filled(program);
  (void)step.run(store);
  (void)here.run(at_home);
  const auto before = values_in(store);
  CHECK_THROWS_WITH(here.run(store), Contains("`w`") && Contains("device far") && Contains("processor"));
  CHECK_THROWS_WITH(elsewhere.run(store), Contains("`w`") && Contains("device far") && Contains("second"));
  CHECK(values_in(store) == before);
  for (const Executable& other : {here, elsewhere}) {
    for (const char* name : {"w", "m"}) store.bring_home(name);
    CHECK(other.run(store) == here.run(at_home));
    CHECK(values_in(store) == values_in(at_home));
  }
}

TEST_CASE("a call that fails leaves the store as before the step, and the next step is right", "[compiled][device]") {
  const spec::Program program = spec::parse_program(training);
  const Executable here = compiled::compile(program, on(shared_processor()));
  for (const int steps_before : {0, 1}) {
    Store at_home = filled(program);
    std::vector<HostTensor> expected;
    for (int n = 0; n <= steps_before; ++n) expected = here.run(at_home);
    std::set<std::string> complaints;
    std::size_t call = 0;
    for (bool failed = true; failed; ++call) {
      const auto device = std::make_shared<FarDevice>(static_cast<std::uint32_t>(call));
      const Executable step = compiled::compile(program, on(device));
      Store store = filled(program);
      for (int n = 0; n < steps_before; ++n) (void)step.run(store);
      const auto before = values_in(store);
      device->fail_at(call);
      std::vector<HostTensor> found;
      const std::string said = complaint([&] { found = step.run(store); });
      failed = !said.empty();
      CHECK(failed != device->will_fail());
      device->fail_at(std::nullopt);
      if (!failed) {
        CHECK(found == expected);
        break;
      }
      INFO(said);
      CHECK(said.find("device far: ") != std::string::npos);
      CHECK(said.find('\n') == std::string::npos);
      CHECK(values_in(store) == before);
      CHECK_THROWS_AS(step.captured("g"), SpecViolation);
      CHECK(step.run(store) == expected);
      CHECK(values_in(store) == values_in(at_home));
      complaints.insert(said);
    }
    // Of a first step: uploads, memory of inputs and outputs, script, wait, downloads. Of a later one: x, y and t are there.
    CHECK(call >= (steps_before == 0 ? 18 : 5));
    const auto one_names = [&](const char* name, const char* what) {
      return std::ranges::any_of(complaints, [&](const std::string& c) { return c.find(name) != std::string::npos && c.find(what) != std::string::npos; });
    };
    CHECK(one_names("run: `loss`", "download of 4 bytes"));
    CHECK(one_names("run", "script"));
    CHECK(one_names("run", "wait"));
    CHECK(one_names("store: `w`", "upload of 8 bytes") == (steps_before == 0));
  }
}

TEST_CASE("what fails before there is a program says so and leaves no memory behind", "[compiled][device]") {
  const spec::Program program = spec::parse_program(attention);
  const auto device = std::make_shared<FarDevice>(6);
  std::size_t faults = 0;
  for (bool failed = true; failed;) {
    device->fail_at(faults);
    const std::string said = complaint([&] { (void)compiled::compile(program, on(device)); });
    failed = !said.empty();
    faults += failed ? 1 : 0;
    CHECK(device->blocks() == 0);
  }
  device->fail_at(std::nullopt);
  CHECK(faults == 3);  // build, load, the arena
  {
    Store store = filled(program);
    const Executable one = compiled::compile(program, on(device));
    const Executable copy = one;
    CHECK(copy.run(store) == one.run(store));
    CHECK(device->blocks() > 0);
  }
  CHECK(device->blocks() == 0);
}
