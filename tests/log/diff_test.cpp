// A fault is found where it is made, and nowhere else.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/error.hpp"
#include "tests/log/programs.hpp"
#include "tools/log/diff.hpp"
#include "tools/log/text.hpp"

using namespace etalon;
using namespace etalon::logging;
using namespace etalon::logging::tests;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t calls = 200;

spec::Source source_of_fault(const Comparison& c, std::size_t log) { return source_of(c.program, c.logs.at(log).faults.at(0).step); }

/// The text with this in place of that, which must stand in it once.
std::string replaced(std::string text, const std::string& that, const std::string& by) {
  const std::size_t at = text.find(that);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(that, at + 1) == std::string::npos);
  return text.replace(at, that.size(), by);
}

}  // namespace

TEST_CASE("logs of 200 calls on two backends are within their bounds", "[log]") {
  const Comparison c = compare(on_reference(long_program(calls)), on_cpu(long_program(calls)));
  INFO(to_text(c, {"reference", "cpu"}));
  CHECK(c.within_bounds());
  for (const Judged& one : c.logs) {
    CHECK(one.assignments > 2 * calls);
    CHECK(one.elements > 16 * calls);
    CHECK(one.undecided < one.elements / 10);
    CHECK(one.left_out == 0);
    CHECK(one.worst_ratio > 0);
    CHECK(one.worst_ratio <= 1);
  }
  CHECK(c.shared == c.logs[0].assignments);
}

TEST_CASE("a number moved by a few bounds is found at the exact line of its call", "[log]") {
  const Log reference = on_reference(long_program(calls));
  Log cpu = on_cpu(long_program(calls));
  // Each of the operations several times.
  for (std::size_t k = 3; k < calls; k += 5) {
    const std::string name = "v" + std::to_string(k);
    float& element = held(cpu, name).view<float>()[6];
    const float right = element;
    element += 256 * std::numeric_limits<float>::epsilon() * (std::fabs(element) + 0.5F);
    const Comparison c = compare(reference, cpu);
    element = right;
    INFO(name << "\n" << to_text(c, {"reference", "cpu"}));
    REQUIRE_FALSE(c.within_bounds());
    CHECK(c.logs[0].faults.empty());
    const Fault& fault = c.logs[1].faults.front();
    CHECK(source_of_fault(c, 1).file == file);
    CHECK(source_of_fault(c, 1).line == line_of_call(k));
    CHECK(fault.offenders >= 1);
    // A recurrence is judged as a whole: its later elements follow from the wrong one, and are no witnesses against it.
    CHECK(fault.element == name + "[1, 2]");
    CHECK_FALSE(fault.operands.empty());
    CHECK_THAT(to_text(c, {"a.log", "b.log"}), Contains("long.txt:" + std::to_string(line_of_call(k)) + ": section \"part " + std::to_string(k / 40) + "/block "));
  }
}

TEST_CASE("a backend that computes one call wrongly is convicted of that call alone", "[log]") {
  const std::string right = long_program(calls);
  const std::string wrong = replaced(right, "v85 = tanh(v84)", "v85 = sigmoid(v84)");
  const Log reference = on_reference(right);
  Log cpu = on_cpu(right);
  Log faulty = on_cpu(wrong);
  for (std::size_t t = 0; t < cpu.values.size(); ++t) {
    const std::string& name = cpu.meaning.system.tensors[t].name;
    if (cpu.values[t] && faulty.meaning.system.find(name) >= 0 && name != "v85~") cpu.values[t] = held(faulty, name);
  }
  const Comparison c = compare(reference, cpu);
  INFO(to_text(c, {"reference", "cpu"}));
  REQUIRE_FALSE(c.within_bounds());
  // Everything later is wrong too, and follows from what it was given.
  CHECK(source_of_fault(c, 1).line == line_of_call(85));
  CHECK(c.logs[1].faults.front().offenders == 16);
  for (const Fault& fault : c.logs[1].faults) CHECK((fault.step == 85 || fault.step == calls + 1));
  REQUIRE(c.difference);
  CHECK(c.difference->step <= 85);
}

TEST_CASE("what is no number where one is due is a fault", "[log]") {
  const std::string program = "input x : f32[3]\nh = tanh(x)\ns = sum(h)\noutput s\n";
  const Log reference = on_reference(program);
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Log cpu = on_cpu(program);
    held(cpu, "h").view<float>()[1] = wrong;
    const Comparison c = compare(reference, cpu);
    REQUIRE_FALSE(c.within_bounds());
    CHECK(c.logs[1].faults.front().element == "h[1]");
    CHECK(source_of_fault(c, 1).line == 2);
  }
}

TEST_CASE("gathers, positions, recurrences and derivatives are judged too", "[log]") {
  const std::string program =
      "input x : f64[5, 3]\nparameter table : f32[6, 4]\ninput seed : i64[]\nbuffer total : f64[3]\n"
      "best = argmax(x) {axes = [0]}\nrows = embedding(table, best)\nsums = cumsum(x) {axis = 0}\nnext = cumprod(sums) {axis = 1}\n"
      "picked = max(x) {axes = [1]}\ng = vjp(picked; x; picked)\ntotal[j] :+= sum[i] g[i, j]\ntotal[j] *= 2*total[j]\nouter = sum(total)\noutput outer, rows\n";
  const Log reference = on_reference(program);
  Log cpu = on_cpu(program);
  const Comparison c = compare(reference, cpu);
  INFO(to_text(c, {"reference", "cpu"}));
  CHECK(c.within_bounds());
  CHECK(c.logs[1].assignments > 8);

  held(cpu, "best").view<std::int64_t>()[1] += 1;
  const Comparison other = compare(reference, cpu);
  CHECK(other.logs[1].faults.front().element == "best[1]");
  CHECK(source_of_fault(other, 1).line == 5);

  held(cpu, "best").view<std::int64_t>()[1] = std::numeric_limits<std::int64_t>::max();
  const Comparison outside = compare(reference, cpu);
  CHECK(outside.logs[1].faults.front().element == "best[1]");
  CHECK(outside.logs[1].faults.front().admitted == "an integer in 0..4");
  CHECK(outside.logs[1].left_out > 0);
}

TEST_CASE("logs that cannot be compared are refused in one line", "[log]") {
  const std::string program = "input x : f32[3]\nh = tanh(x)\ns = sum(h)\noutput s\n";
  const Log reference = on_reference(program);
  CHECK_THROWS_WITH(compare(reference, on_reference("input x : f32[3]\nh = relu(x)\noutput h\n")), Contains("the logs are of different programs"));
  Log other = reference;
  other.inputs[0].view<float>()[2] += 1;
  CHECK_THROWS_WITH(compare(reference, other), Contains("the logs were given different numbers: x[2] is "));
  other = reference;
  for (auto& value : other.values) value.reset();
  CHECK_THROWS_WITH(compare(reference, other), Contains("there is nothing to judge"));
  // Lines and sections do not make a program another one.
  CHECK(compare(reference, on_reference("# moved\n" + replaced(program, "tanh(x)", "tanh(x) @ \"other.cpp\":7 section \"s\""))).within_bounds());
}

TEST_CASE("between named values the rest is judged as one assignment", "[log]") {
  const std::string program = long_program(60);
  const std::vector<std::string> names{"v10", "v30", "loss", "b"};
  const Log reference = on_reference(program, names);
  Log cpu = on_cpu(program, names);
  CHECK_THROWS_AS(held(cpu, "v11"), std::out_of_range);
  const Comparison c = compare(reference, cpu);
  INFO(to_text(c, {"reference", "cpu"}));
  CHECK(c.within_bounds());
  CHECK(c.logs[1].assignments == 4);
  CHECK(c.shared == 4);

  const Comparison mixed = compare(on_reference(program), cpu);
  CHECK(mixed.within_bounds());
  CHECK(mixed.shared == 4);

  held(cpu, "v10").view<float>()[0] += 1;
  CHECK(source_of_fault(compare(reference, cpu), 1).line == line_of_call(10));
}

TEST_CASE("names that select nothing are refused with the nearest", "[log]") {
  const std::string program = "input x : f32[3]\nhidden = tanh(x)\noutput hidden\n";
  CHECK_THROWS_WITH(on_reference(program, {"hiden"}), "unknown value 'hiden'; did you mean 'hidden'?");
  CHECK_THROWS_WITH(on_reference(program, {"x"}), Contains("x is given, which every log holds"));
}
