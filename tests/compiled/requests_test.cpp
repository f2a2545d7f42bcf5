// Captured, stored and inlined values: what programs ask of the planner, what it makes of that, and that numbers stay.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "compiled/runtime/backend.hpp"
#include "conformance/conform.hpp"
#include "reference/backend.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "spec/program/wishes.hpp"
#include "tests/compiled/contraction_build.hpp"
#include "tests/compiled/optimising.hpp"

namespace etalon::test {
namespace {

using compiled::Executable;
using compiled::Keeping;
using compiled::ValueReport;

const std::string net = R"(input x : f32[6, 5]
parameter w : f32[4, 5]
parameter v : f32[3, 4]
z = linear(x, w, _)
a = mul(z, z)
h = tanh(a)
s = exp(h)
y = linear(s, v, _)
p = softmax(y)
loss = sum(p)
gw = vjp(loss; w)
w1 = sub(w, gw)
output loss
update w := w1
)";

Executable compiled_with(const std::string& wishes, std::string* plan = nullptr,
                         compiled::CompileOptions o = options()) {
  o.explain = true;
  if (plan != nullptr) {
    o.dump_after = {"plan"};
    o.dump = [plan](std::string_view what, const std::string& text) {
      if (what == "plan") *plan = text;
    };
  }
  return compiled::compile(spec::parse_program(net + wishes), o);
}

const ValueReport& value(const Executable& e, const std::string& name) {
  const auto& values = e.report().values;
  const auto at = std::find_if(values.begin(), values.end(), [&](const ValueReport& v) { return v.name == name; });
  if (at == values.end()) FAIL("no value " + name);
  return *at;
}

/// A store with numbers for all that the program reads.
compiled::Store filled() {
  compiled::Store store;
  store.put("x", normal_numbers(DType::f32, {6, 5}, 1));
  store.put("w", normal_numbers(DType::f32, {4, 5}, 2));
  store.put("v", normal_numbers(DType::f32, {3, 4}, 3));
  return store;
}

std::string refusal(const std::string& wishes) {
  try {
    (void)compiled_with(wishes);
  } catch (const SpecViolation& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("what is asked to be stored or inlined is, and report and dump name who asked", "[compiled][requests]") {
  const Executable plain = compiled_with("");
  REQUIRE(value(plain, "p").keeping == Keeping::inlined);
  CHECK(value(plain, "p").request.empty());
  CHECK(value(plain, "p").reason == "inline_locals: substitute views and elementwise locals");
  std::string plan;
  const Executable stored = compiled_with("stored p @ \"net.cpp\":12\n", &plan);
  CHECK(value(stored, "p").keeping == Keeping::stored);
  CHECK(value(stored, "p").request == "stored p at net.cpp:12");
  CHECK(value(stored, "p").reason.find("asked for: stored p at net.cpp:12") != std::string::npos);
  CHECK(plan.find("; asked for: stored p at net.cpp:12\n") != std::string::npos);

  REQUIRE(value(plain, "h").keeping == Keeping::stored);
  const Executable inlined = compiled_with("inlined h @ \"net.cpp\":13\n", &plan);
  CHECK(value(inlined, "h").keeping == Keeping::inlined);
  CHECK(value(inlined, "h").reason ==
        "inline_asked: substitute what is asked to be inlined; asked for: inlined h at net.cpp:13");
  CHECK(plan.find("h inlined: asked for: inlined h at net.cpp:13\n") != std::string::npos);

  const Executable captured = compiled_with("capture p, z @ \"net.cpp\":14\n", &plan);
  CHECK(value(captured, "p").keeping == Keeping::shared);
  CHECK(value(captured, "p").request == "capture p at net.cpp:14");
  CHECK(plan.find("p in output 1: asked for by the caller; asked for: capture p at net.cpp:14\n") != std::string::npos);
  CHECK(captured.report().output_bytes == plain.report().output_bytes + 6 * 3 * 4 + 6 * 4 * 4);
}

TEST_CASE("with requests outputs and updates stay in what the contract admits", "[compiled][requests]") {
  const auto trained = [](const std::string& wishes) {
    compiled::Store store = filled();
    std::vector<HostTensor> outputs = compiled_with(wishes).run(store);
    outputs.push_back(store.read("w"));
    return outputs;
  };
  const compiled::Store store = filled();
  const reference::Envelopes admitted = reference::envelopes(
      spec::lower(spec::parse_program(net)), std::vector<HostTensor>{store.read("x"), store.read("w"), store.read("v")},
      compiled::make_cpu_backend()->describe().contract);
  const std::vector<HostTensor> plain = trained("");
  REQUIRE(plain.size() == 2);
  for (const char* wishes :
       {"", "stored a, s, h, z, y, p, gw\n", "inlined a\n", "inlined h, s\n", "inlined z, a, h, p\n",
        "capture z, a, h, s, y, p, gw\n", "inlined h\nstored a\ncapture s\n"}) {
    INFO(wishes);
    const std::vector<HostTensor> got = trained(wishes);
    const reference::Verdict verdict = reference::judge(got, admitted);
    INFO(verdict.message);
    CHECK(verdict.passed());
    CHECK(verdict.comparisons == 1 + 20);
    CHECK(got == trained(wishes));
  }
  // What is computed again in the same way has the same bits.
  CHECK(trained("inlined h, s\n") == plain);
}

TEST_CASE("a captured value reads as the reference's, whatever fusion does", "[compiled][requests]") {
  const std::string wishes = "capture a, h, loss, p\n";
  const spec::Program program = spec::parse_program(net + wishes);
  compiled::Store store = filled();
  const std::vector<HostTensor> inputs{store.read("x"), store.read("w"), store.read("v")};
  const Executable e = compiled_with(wishes);
  CHECK(e.captures() == std::vector<std::string>{"a", "h", "loss", "p"});
  CHECK_THROWS_WITH(e.captured("a"), "capture a: there was no run yet, or the last one failed");
  const std::vector<HostTensor> outputs = e.run(store);
  REQUIRE(outputs.size() == 1);
  CHECK(e.captured("loss") == outputs[0]);
  CHECK_THROWS_WITH(e.captured("aa"), "unknown capture 'aa'; did you mean 'a'?");

  spec::Program asked = spec::with_captures(program);
  asked.updates.clear();
  REQUIRE(asked.outputs == std::vector<std::string>{"loss", "a", "h", "p"});
  const spec::Contract contract = compiled::make_cpu_backend()->describe().contract;
  const reference::Envelopes admitted = reference::envelopes(spec::lower(asked), inputs, contract);
  const std::vector<HostTensor> got{outputs[0], e.captured("a"), e.captured("h"), e.captured("p")};
  const reference::Verdict verdict = reference::judge(got, admitted);
  INFO(verdict.message);
  CHECK(verdict.passed());
  CHECK(verdict.comparisons >= 1 + 24 + 24 + 18);
  std::vector<HostTensor> moved = got;
  moved[1].view<float>()[3] += 1;
  CHECK_FALSE(reference::judge(moved, admitted).passed());

  // On host tensors, and bound, they are there too.
  const HostTensor first = e.captured("h");
  compiled::Store again = filled();
  const compiled::Bound bound = e.bind(again);
  again.write("x", HostTensor(DType::f32, {6, 5}));
  std::vector<HostTensor> into;
  bound.run_into(into);
  CHECK(e.captured("h") == HostTensor(DType::f32, {6, 4}));
  CHECK(e.run(inputs).size() == 1);
  CHECK(e.captured("h") == first);
  // Derivatives are of the program's outputs alone.
  CHECK(e.vjp(inputs, {true, false, false}, std::vector<std::optional<HostTensor>>{HostTensor::of<float>({}, {1})})
            .outputs.size() == 1);
}

TEST_CASE("what cannot be inlined is refused in one line with the wish and why", "[compiled][requests]") {
  CHECK(refusal("inlined loss2\n").find("unknown value") != std::string::npos);
  CHECK(refusal("inlined a\nstored a\n") == "stored a excludes inlined a: a value that is inlined has no memory");
  const auto refused = [](const std::string& text) -> std::string {
    try {
      (void)compiled::compile(spec::parse_program(text), options());
    } catch (const SpecViolation& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refused("input x : f32[3]\ns = sum(x)\ny = mul(x, s)\noutput y\ninlined s @ \"net.cpp\":3\n") ==
        "inlined s at net.cpp:3 cannot be: it is a reduction, which is computed once");
  CHECK(refused("input x : f16[3]\nh = exp(x)\ny = exp(h)\noutput y\ninlined h\n") ==
        "inlined h cannot be: to store it as f16 rounds it");
  CHECK(refused("input x : f32[3]\nh = exp(x)\nd = cast(h) {dtype = f64}\ny = exp(d)\noutput y\ninlined h\n")
            .find("reads it, and computes in another type than its f32") != std::string::npos);
  CHECK(refused("input x : f32[9]\nh = cumsum(x)\ny = exp(h)\noutput y\ninlined h\n").find("inlined h cannot be: ") ==
        0);
  // Each reads the one before twice.
  std::string chain = "input x : f32[3]\nh0 = exp(x)\n";
  for (int i = 1; i < 16; ++i)
    chain += "h" + std::to_string(i) + " = mul(h" + std::to_string(i - 1) + ", h" + std::to_string(i - 1) +
             ")\ninlined h" + std::to_string(i - 1) + "\n";
  CHECK(refused(chain + "output h15\n").find(" terms, more than ") != std::string::npos);
  // A bare system asks the same way.
  spec::System s = spec::lower(spec::parse_program("input x : f32[3]\nh = exp(x)\noutput h\n"));
  s.wishes.push_back({s.outputs[0], spec::Asked::inlined, "inlined h"});
  CHECK_THROWS_WITH(compiled::compile_system(s, options()),
                    "inlined h excludes output h, which is in memory after a run");
}

TEST_CASE("dumps and the report carry the user's lines and sections", "[compiled][requests]") {
  compiled::CompileOptions o = options();
  o.explain = true;
  std::string plan;
  std::string values;
  o.dump_after = {"plan", "values"};
  o.dump = [&](std::string_view what, const std::string& text) {
    if (what == "plan") plan += text;
    if (what == "values") values += text;
  };
  const Executable e =
      compiled::compile(spec::parse_program("input x : f32[3]\nh = exp(x) @ \"net.cpp\":5 section \"front\"\ny = "
                                            "neg(h) @ \"net.cpp\":6\noutput y\ncapture h\n"),
                        o);
  CHECK(value(e, "h").source == "net.cpp:5, section \"front\"");
  CHECK(value(e, "x").source.empty());
  CHECK(plan.find(": h shares i0 from net.cpp:5, section \"front\"\n") != std::string::npos);
  CHECK(values.find("; from net.cpp:6\n") != std::string::npos);
}

TEST_CASE("a stored value is neither computed again nor dropped", "[compiled][requests]") {
  const std::string text =
      "input x : f32[600]\ninput k : f32[600]\nh = add(x, k)\ns = sum(h)\ny = mul(h, s)\ndead = exp(h)\noutput y\n";
  compiled::CompileOptions o = options();
  o.explain = true;
  const auto keeping = [&](const std::string& wishes, const std::string& name) {
    const Executable e = compiled::compile(spec::parse_program(text + wishes), o);
    return value(e, name).keeping;
  };
  CHECK(keeping("stored h, dead\n", "h") == Keeping::stored);
  CHECK(keeping("stored h, dead\n", "dead") == Keeping::stored);
  o.plan.memory_budget = 3000;
  CHECK(keeping("stored h\n", "h") == Keeping::stored);
}

TEST_CASE("operations conform with random requests about their values", "[compiled][requests]") {
  std::size_t stored = 0;
  std::size_t inlined = 0;
  std::mt19937 engine(7);
  const auto shared = std::make_shared<compiled::Processor>();
  const auto backend = compiled::make_system_backend("cpu", [&](const System& given) -> compiled::Runner {
    compiled::CompileOptions o = options();
    o.device = shared;
    System system = given;
    std::vector<bool> taken(system.tensors.size());
    for (const auto* list : {&system.inputs, &system.outputs}) {
      for (const TensorId t : *list) taken[static_cast<std::size_t>(t)] = true;
    }
    for (std::size_t t = 0; t < taken.size(); ++t) {
      const auto choice = engine() % 3;
      if (taken[t] || choice == 0) continue;
      const spec::Asked asked = choice == 1 ? spec::Asked::stored : spec::Asked::inlined;
      System with = system;
      with.wishes.push_back({static_cast<TensorId>(t), asked, "a wish"});
      if (asked == spec::Asked::inlined) {
        System tried = with;
        try {
          test::optimise(tried);
        } catch (const SpecViolation&) {
          continue;
        }
      }
      ++(choice == 1 ? stored : inlined);
      system = std::move(with);
    }
    const Executable e = compiled::compile_system(system, o);
    return [e](std::span<const HostTensor> inputs) { return e.run(inputs); };
  });
  conformance::ConformOptions options;
  options.backend_name = "cpu";
  options.operations = {"softmax", "layer_norm", "cross_entropy", "gelu", "batch_norm", "scaled_dot_product_attention"};
  options.modes = {spec::Mode::forward, spec::Mode::vjp};
  options.dtypes = {DType::f32};
  options.jobs = 1;
  std::ostringstream console;
  const int status = run_conform(options, *backend, console);
  INFO(console.str());
  CHECK(status == 0);
  CHECK(stored > 200);
  CHECK(inlined > 100);
}

}  // namespace etalon::test
