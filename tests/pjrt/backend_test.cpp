// A plug-in of PJRT behind the interface of backends, in this process: what a host of its own makes of it, pjrt_command asks.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "conformance/pjrt/backend.hpp"
#include "conformance/pjrt/c_api.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using spec::Numbers;
using spec::Refusal;

namespace {

namespace pjrt = conformance::pjrt;

constexpr const char* fake = ETALON_FAKE_PJRT;

/// What the plug-in does wrong while this lives.
class Fault {
 public:
  explicit Fault(const std::string& text) { setenv("FAKE_PJRT", text.c_str(), 1); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { unsetenv("FAKE_PJRT"); }
};

/// A backend with the fault from its loading on, and what the plug-in counted until its end.
struct Counted {
  std::uint64_t made = 0, destroyed = 0, compiled = 0;
};

[[nodiscard]] spec::Request request(const std::string& program, std::vector<HostTensor> inputs) {
  spec::Request r;
  r.id = "asked";
  r.program = spec::parse_program(program);
  r.inputs = std::move(inputs);
  return r;
}

[[nodiscard]] spec::Request negated() {
  return request("input x : f32[3]\ny = neg(x)\noutput y\n", {HostTensor::of<float>({3}, {1, -2, 0.5F})});
}

[[nodiscard]] HostTensor minus() { return HostTensor::of<float>({3}, {-1, 2, -0.5F}); }

/// What the plug-in made and destroyed while `use` had a backend.
template <class Use>
[[nodiscard]] Counted counted(const Use& use) {
  const std::string file = std::string(fake) + ".counts";
  const auto read = [&] {
    Counted last;
    std::ifstream in(file);
    for (Counted c; in >> c.made >> c.destroyed >> c.compiled;) last = c;
    return last;
  };
  setenv("FAKE_PJRT_COUNTS", file.c_str(), 1);
  { const auto before = pjrt::load_backend(fake); }
  const Counted before = read();
  {
    const auto backend = pjrt::load_backend(fake);
    use(*backend);
  }
  const Counted after = read();
  unsetenv("FAKE_PJRT_COUNTS");
  std::remove(file.c_str());
  return {after.made - before.made, after.destroyed - before.destroyed, after.compiled - before.compiled};
}

[[nodiscard]] std::string complaint_of_loading(const std::string& fault, const char* path = fake) {
  const Fault set(fault);
  try {
    (void)pjrt::load_backend(path);
    return "";
  } catch (const IoError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("what a plug-in computes is the answer, whatever the types and extents") {
  const auto backend = pjrt::load_backend(fake);
  const auto check = [&](const spec::Request& r, const std::vector<HostTensor>& expected) {
    const spec::Answer answer = backend->run(r);
    INFO(r.program.steps.size() << (std::holds_alternative<Refusal>(answer) ? std::get<Refusal>(answer).why : ""));
    REQUIRE(std::holds_alternative<Numbers>(answer));
    CHECK(std::get<Numbers>(answer).outputs == expected);
  };
  check(negated(), {minus()});
  const HostTensor a = HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b = HostTensor::of<float>({2, 3}, {10, 20, 30, 40, 50, 60});
  check(request("input x : f32[2, 3]\ninput y : f32[2, 3]\nz = add(x, y)\nw = mul(x, y)\noutput z, w\n", {a, b}),
        {HostTensor::of<float>({2, 3}, {11, 22, 33, 44, 55, 66}), HostTensor::of<float>({2, 3}, {10, 40, 90, 160, 250, 360})});
  check(request("input a : bool[2]\ny = logical_not(a)\noutput y\n", {HostTensor::of<bool>({2}, {true, false})}),
        {HostTensor::of<bool>({2}, {false, true})});
  check(request("input x : f64[]\ny = neg(x)\noutput y\n", {HostTensor::of<double>({}, {2.5})}), {HostTensor::of<double>({}, {-2.5})});
  check(request("input x : f32[0, 3]\ny = neg(x)\noutput y\n", {HostTensor(DType::f32, {0, 3})}), {HostTensor(DType::f32, {0, 3})});
}

TEST_CASE("a plug-in is asked for values only, and says who it is") {
  const auto backend = pjrt::load_backend(fake);
  const spec::Description said = backend->describe();
  CHECK(said.name == "fake");
  CHECK(said.version == "PJRT 0.114, 1");
  CHECK(said.modes == std::vector{spec::Mode::forward});
  CHECK_FALSE(said.rejects);
  spec::Request r = negated();
  r.mode = spec::Mode::vjp;
  CHECK(std::get<Refusal>(backend->run(r)).kind == Refusal::Kind::unsupported);
}

TEST_CASE("a program without a text, or with none that is well typed, is refused before the plug-in hears of it") {
  const auto backend = pjrt::load_backend(fake);
  const std::string unequal = "input x : f32[3]\ninput y : f32[2]\nz = add(x, y)\noutput z\n";
  const spec::Answer ill = backend->run(request(unequal, {HostTensor(DType::f32, {3}), HostTensor(DType::f32, {2})}));
  CHECK(std::get<Refusal>(ill).kind == Refusal::Kind::rejected);
  const Fault set("unimplemented=PJRT_Client_Compile");
  const spec::Answer not_here = backend->run(negated());
  CHECK(std::get<Refusal>(not_here).kind == Refusal::Kind::unsupported);
  CHECK(std::get<Refusal>(not_here).why == "PJRT_Client_Compile: not here");
}

TEST_CASE("everything that a plug-in makes is destroyed, and a text is compiled once") {
  std::size_t answers = 0;
  const Counted all = counted([&](spec::Backend& backend) {
    for (int i = 0; i < 3; ++i) answers += std::holds_alternative<Numbers>(backend.run(negated())) ? 1U : 0U;
  });
  CHECK(answers == 3);
  CHECK(all.compiled == 1);
  // Per answer an argument, an output and three events; the loaded executable, the other one, and the clients.
  CHECK(all.made >= 3 * 5 + 2 + 1);
  CHECK(all.made == all.destroyed);
}

TEST_CASE("a library that is no plug-in of ours is refused with a line that says why") {
  const std::string file = fake;
  const std::string begin = "pjrt: " + file + ": ";
  const std::string size = std::to_string(sizeof(pjrt::Api));
  CHECK(complaint_of_loading("no_table") == begin + "GetPjrtApi gives no table");
  CHECK(complaint_of_loading("version=1.0") == begin + "expected version 0.54 of the interface or a newer one of 0, found 1.0");
  CHECK(complaint_of_loading("version=0.53") == begin + "expected version 0.54 of the interface or a newer one of 0, found 0.53");
  CHECK(complaint_of_loading("no_version") == begin + "expected a table of at least " + size + " bytes, found 16");
  CHECK(complaint_of_loading("short_table") ==
        begin + "expected a table of at least " + size + " bytes, found " + std::to_string(sizeof(pjrt::Api) - 1));
  CHECK(complaint_of_loading("no_device") == "pjrt: PJRT_Client_AddressableDevices gave no device");
  CHECK(complaint_of_loading("no_client") == "pjrt: PJRT_Client_Create gave no client");
  std::size_t missing = 0;
  for (const pjrt::Function& function : pjrt::needed_functions) {
    const std::string name(function.name);
    CHECK(complaint_of_loading("missing=" + name) == begin + "its table has no " + name);
    ++missing;
  }
  CHECK(missing == 22);
  CHECK(complaint_of_loading("", "/nonexistent/plugin.so").find("/nonexistent/plugin.so") != std::string::npos);
  CHECK(complaint_of_loading("", ETALON_NO_PLUGIN) == std::string("pjrt: ") + ETALON_NO_PLUGIN + " exports no GetPjrtApi");
}

TEST_CASE("an error of any function is a line that names it, and the next question is answered") {
  std::size_t while_loading = 0, while_asked = 0, silent = 0;
  for (const pjrt::Function& function : pjrt::needed_functions) {
    const std::string name(function.name), said = name + ": injected here";
    CAPTURE(name);
    const std::string loading = complaint_of_loading("error=" + name);
    if (!loading.empty()) {
      CHECK(loading == std::string("pjrt: ") + fake + ": " + said);
      ++while_loading;
      continue;
    }
    const auto backend = pjrt::load_backend(fake);
    {
      const Fault set("error=" + name);
      const spec::Answer answer = backend->run(negated());
      if (const auto* refusal = std::get_if<Refusal>(&answer)) {
        CHECK(refusal->kind == Refusal::Kind::error);
        CHECK(refusal->why == said);
        ++while_asked;
      } else {
        ++silent;
      }
    }
    const spec::Answer after = backend->run(negated());
    REQUIRE(std::holds_alternative<Numbers>(after));
    CHECK(std::get<Numbers>(after).outputs == std::vector{minus()});
  }
  CHECK(while_loading == 5);  // initialising, making the client, its devices, its name and its version
  CHECK(while_asked == 12);
  // What an error says and is, and the end of executables and of the client, which last beyond the answer.
  CHECK(silent == 5);
}

TEST_CASE("an event that ends in an error is one of the answer") {
  std::size_t events = 0;
  for (const char* where : {"host", "execute", "to_host"}) {
    const auto backend = pjrt::load_backend(fake);
    const Fault set(std::string("event=") + where);
    const spec::Answer answer = backend->run(negated());
    REQUIRE(std::holds_alternative<Refusal>(answer));
    CHECK(std::get<Refusal>(answer).kind == Refusal::Kind::error);
    CHECK(std::get<Refusal>(answer).why == "PJRT_Event_Await: late");
    ++events;
  }
  CHECK(events == 3);
}

TEST_CASE("outputs that are not there, or cannot be, are refused") {
  const std::vector<std::pair<const char*, const char*>> expected{
      {"more_outputs", "expected 1 outputs, found 2"},
      {"fewer_outputs", "expected 1 outputs, found 0"},
      {"no_executable", "PJRT_Client_Compile gave no executable"},
      {"no_unloaded", "PJRT_LoadedExecutable_GetExecutable gave none"},
      {"no_buffer", "PJRT_Client_BufferFromHostBuffer gave no buffer"},
      {"no_output", "PJRT_LoadedExecutable_Execute: there is no output 0"},
      {"no_event", "PJRT_Buffer_ToHostBuffer gave no event, so that nobody knows when it is done"},
      {"unknown_type", "PJRT_Buffer_ElementType: an output has the element type 17, which is none that was asked for"},
      {"negative_extent", "PJRT_Buffer_Dimensions: -3 is no extent of an output"},
      {"huge", "PJRT_Buffer_Dimensions: 1099511627776 is no extent of an output"},
      {"many_axes", "PJRT_Buffer_Dimensions: an output cannot have 9 axes"}};
  for (const auto& [fault, why] : expected) {
    CAPTURE(fault);
    const auto backend = pjrt::load_backend(fake);
    {
      const Fault set(fault);
      const spec::Answer answer = backend->run(negated());
      REQUIRE(std::holds_alternative<Refusal>(answer));
      CHECK(std::get<Refusal>(answer).kind == Refusal::Kind::error);
      CHECK(std::get<Refusal>(answer).why == why);
    }
  }
}

TEST_CASE("types and extents of outputs are the plug-in's word, for the judge") {
  const auto backend = pjrt::load_backend(fake);
  {
    const Fault set("wrong_type");
    const spec::Answer answer = backend->run(negated());
    REQUIRE(std::holds_alternative<Numbers>(answer));
    CHECK(std::get<Numbers>(answer).outputs[0].dtype == DType::i32);
  }
  const Fault set("wrong_extents");
  const spec::Answer answer = backend->run(negated());
  REQUIRE(std::holds_alternative<Numbers>(answer));
  CHECK(std::get<Numbers>(answer).outputs[0].dims == Dims{3, 1});
}

TEST_CASE("nothing is left of answers that went wrong") {
  std::size_t wrong = 0;
  const Counted all = counted([&](spec::Backend& backend) {
    for (const char* fault : {"error=PJRT_LoadedExecutable_Execute", "event=execute", "event=to_host", "no_output", "no_event",
                              "error=PJRT_Buffer_Dimensions", "error=PJRT_Client_BufferFromHostBuffer", "unknown_type"}) {
      const Fault set(fault);
      wrong += std::holds_alternative<Refusal>(backend.run(negated())) ? 1U : 0U;
    }
  });
  CHECK(wrong == 8);
  CHECK(all.made > 8);
  CHECK(all.made == all.destroyed);
}
