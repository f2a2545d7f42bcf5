// What the host does to run a program: in which order, on which memory, and what waits for what.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

#include "compiled/compile.hpp"
#include "compiled/emit/text/c_compiler.hpp"
#include "compiled/emit/text/c_file.hpp"
#include "compiled/ir/script.hpp"
#include "compiled/runtime/buffer.hpp"
#include "compiled/task.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::compiled;
using Catch::Matchers::Contains;

namespace {

constexpr const char* scattered =
    "input x : f32[9, 4]\ninput i : i64[20]\ninput s : f32[20, 4]\ny = gather(x, i)\ng = vjp(y; x; s)\noutput g\n";
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
output loss
update w := w1
update m := m1
)";
constexpr const char* attention =
    "input q : f32[96, 40]\ninput k : f32[40, 96]\ninput v : f32[96, 24]\na = matmul(q, k)\nb = softmax(a)\ny = matmul(b, v)\ns = sum(y)\n"
    "g, h, i = vjp(s; q, k, v)\noutput y, g, h, i\n";

Compilation lowered(const std::string& program, std::set<std::string> off = {}, unsigned threads = 1) {
  const Task task = task_of(spec::parse_program(program));
  CompileOptions options;
  options.off = std::move(off);
  options.threads = threads;
  return lower_to_loops(task.system, task.updates, options, Machine{});
}

/// The same commands in another order: of those that wait for nobody, the last comes first.
Script backwards(const Script& script) {
  constexpr std::size_t not_yet = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(script.commands.size(), not_yet);
  Script other = script;
  other.commands.clear();
  while (other.commands.size() < place.size()) {
    std::size_t n = place.size();
    do --n;
    while (place[n] != not_yet || std::ranges::any_of(script.commands[n].after, [&](std::size_t b) { return place[b] == not_yet; }));
    place[n] = other.commands.size();
    other.commands.push_back(script.commands[n]);
    for (std::size_t& b : other.commands.back().after) b = place[b];
  }
  return other;
}

/// All inputs and outputs when the program's C has run on drawn numbers.
std::vector<HostTensor> memory_after(const Task& task, const Compilation& c) {
  std::vector<HostTensor> all;
  for (const spec::Input& i : task.inputs) {
    if (i.dtype != DType::i64) all.push_back(test::small_integers(i.dtype, i.dims, static_cast<unsigned>(all.size())));
    else all.push_back(HostTensor::of<std::int64_t>(i.dims, std::vector<std::int64_t>(static_cast<std::size_t>(i.dims.count()), 1)));
  }
  for (std::size_t o = 0; o < task.outputs; ++o) all.emplace_back(c.system[c.system.outputs[o]].dtype, c.system[c.system.outputs[o]].dims);
  const Buffer arena(c.script.arena_bytes);
  std::vector<const void*> arguments;
  for (const HostTensor& t : all) arguments.push_back(t.bytes.data());
  arguments.push_back(arena.data());
  const auto library = source::compile_c(c_file(source::ProgramText(task, c, "program")));
  reinterpret_cast<void (*)(const void*)>(library->symbol("program"))(arguments.data());
  return all;
}

const Launch& launch_at(const Script& script, std::size_t n) { return std::get<Launch>(script.commands.at(n).does); }

}  // namespace

TEST_CASE("what a kernel adds to is full of zeros before", "[compiled][script]") {
  const Compilation c = lowered(scattered);
  REQUIRE(c.script.commands.size() == 2);
  const Memory g{Memory::Of::output, 0, 0, 144};
  CHECK(std::get<Fill>(c.script.commands[0].does).memory == g);
  CHECK(c.script.commands[0].after.empty());
  CHECK(c.script.commands[1].after == std::vector<std::size_t>{0});
  const auto& operands = launch_at(c.script, 1).operands;
  const auto sum = std::find_if(operands.begin(), operands.end(), [](const Operand& o) { return o.written; });
  REQUIRE(sum != operands.end());
  CHECK((sum->memory == g && sum->read));
}

TEST_CASE("a new value that cannot be written in place is copied when everybody has read the old one", "[compiled][script]") {
  const Compilation c = lowered(training, {"in_place"});
  std::vector<std::size_t> targets;
  for (const Command& command : c.script.commands) {
    const auto* move = std::get_if<Move>(&command.does);
    if (move == nullptr) continue;
    CHECK(move->from.of == Memory::Of::arena);
    CHECK(move->to == Memory{Memory::Of::input, move->to.index, 0, 8});
    CHECK_FALSE(command.after.empty());
    targets.push_back(move->to.index);
  }
  CHECK(targets == std::vector<std::size_t>{0, 1});
}

TEST_CASE("commands wait for those whose numbers they need, and for no others", "[compiled][script]") {
  // Every equation is a kernel: a, b from x; c from a; d from a, b and c.
  const Compilation c = lowered("input x : f32[4]\na = exp(x)\nb = tanh(x)\nc = exp(a)\ne = add(a, b)\nd = mul(e, c)\noutput d\n", {"all"});
  const std::vector<Command>& commands = c.script.commands;
  REQUIRE(commands.size() == 5);
  CHECK(commands[0].after.empty());
  CHECK(commands[1].after.empty());
  CHECK(commands[2].after == std::vector<std::size_t>{0});
  CHECK(commands[3].after == std::vector<std::size_t>{0, 1});
  CHECK(commands[4].after == std::vector<std::size_t>{2, 3});
}

TEST_CASE("what waits is just what must", "[compiled][script]") {
  for (const char* program : {scattered, training, attention}) {
    for (const std::set<std::string>& off : {std::set<std::string>{}, {"all"}, {"reuse"}, {"contractions", "in_place"}}) {
      for (const unsigned threads : {1U, 3U}) {
        const Compilation c = lowered(program, off, threads);
        INFO(to_text(c.system, c.script));
        verify(c.system, c.script);
        std::size_t edges = 0;
        for (std::size_t n = 0; n < c.script.commands.size(); ++n) {
          for (std::size_t i = 0; i < c.script.commands[n].after.size(); ++i, ++edges) {
            Script less = c.script;
            auto& after = less.commands[n].after;
            after.erase(after.begin() + static_cast<std::ptrdiff_t>(i));
            CHECK_THROWS_AS(verify(c.system, less), InternalError);
          }
        }
        CHECK((edges > 0 || c.script.commands.size() == 1));
      }
    }
  }
}

TEST_CASE("whatever does not wait may come first, and the bits are the same", "[compiled][script]") {
  std::size_t moved = 0;
  for (const char* program : {scattered, training, attention}) {
    for (const std::set<std::string>& off : {std::set<std::string>{}, {"fuse"}, {"in_place"}}) {
      const Task task = task_of(spec::parse_program(program));
      CompileOptions options;
      options.off = off;
      Compilation c = source::lower_for_text(task, options);
      const auto expected = memory_after(task, c);
      const Script forwards = c.script;
      c.script = backwards(forwards);
      INFO(to_text(c.system, c.script));
      verify(c.system, c.script);
      CHECK(memory_after(task, c) == expected);
      moved += to_text(c.system, c.script) == to_text(c.system, forwards) ? 0 : 1;
    }
  }
  CHECK(moved > 0);
}

TEST_CASE("scripts that are wrong are refused", "[compiled][script]") {
  const Compilation zeros = lowered(scattered);
  const Compilation moves = lowered(training, {"in_place"});
  const auto refused = [](const Compilation& c, const char* rule, const std::function<void(Script&)>& change) {
    Script script = c.script;
    change(script);
    INFO(to_text(c.system, c.script));
    CHECK_THROWS_WITH(verify(c.system, script), Contains(rule));
  };
  const auto move = [](Script& s) -> Move& { return std::get<Move>(s.commands.back().does); };
  refused(zeros, "reads what nobody has written", [](Script& s) {
    s.commands.erase(s.commands.begin());
    s.commands[0].after.clear();
  });
  refused(zeros, "reads what nobody has written", [](Script& s) { std::get<Fill>(s.commands[0].does).memory.bytes -= 4; });
  refused(zeros, "does not wait for one that it shares memory with", [](Script& s) { s.commands[1].after.clear(); });
  refused(zeros, "waits for one that comes later", [](Script& s) { s.commands[1].after = {1}; });
  refused(zeros, "touches an output that is not there", [](Script& s) { std::get<Fill>(s.commands[0].does).memory.index = 1; });
  refused(moves, "touches an input that is not there", [&](Script& s) { move(s).to.index = 5; });
  refused(moves, "moves bytes to another number of them", [&](Script& s) { move(s).to.bytes -= 4; });
  refused(moves, "touches bytes outside of the arena", [&](Script& s) { move(s).from.offset = s.arena_bytes; });
  refused(moves, "does not wait for one that it shares memory with", [&](Script& s) { s.commands.back().after.clear(); });
}

TEST_CASE("stretches of memory overlap where they have a byte in common", "[compiled][script]") {
  const Memory m{Memory::Of::arena, 0, 8, 4};
  CHECK(overlap(m, m));
  CHECK(overlap(m, {Memory::Of::arena, 0, 11, 1}));
  CHECK(overlap({Memory::Of::arena, 0, 0, 9}, m));
  CHECK_FALSE(overlap(m, {Memory::Of::arena, 0, 12, 4}));
  CHECK_FALSE(overlap({Memory::Of::arena, 0, 0, 8}, m));
  CHECK_FALSE(overlap(m, {Memory::Of::arena, 0, 9, 0}));
  CHECK_FALSE(overlap(m, {Memory::Of::input, 0, 8, 4}));
  CHECK_FALSE(overlap({Memory::Of::input, 1, 8, 4}, {Memory::Of::input, 0, 8, 4}));
}
