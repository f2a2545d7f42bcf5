// Who takes the turns of loops, and what a kernel touches: what holds, and what the verifier refuses.
#include <catch2/catch.hpp>

#include <functional>
#include <string>

#include "compiled/compile.hpp"
#include "compiled/ir/blocks.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using namespace etalon::compiled;
using Catch::Matchers::Contains;
using loops::Bind;
using loops::Nest;
using spec::Expr;

namespace {

Compilation lowered(const std::string& program, const Machine& machine) {
  return lower_to_loops(spec::lower(spec::parse_program(program)), {}, {}, machine);
}

constexpr Machine cores{16, 32};
constexpr Machine grid{.block_threads = 256};

/// Loops from the outermost on that are bound so.
std::size_t bound(const Nest& nest, Bind bind) {
  std::size_t count = 0;
  const auto* loop = std::get_if<loops::Loop>(&nest.steps.back().is);
  while (loop != nullptr && loop->bind == bind) {
    ++count;
    loop = loop->steps.size() == 1 ? std::get_if<loops::Loop>(&loop->steps.front().is) : nullptr;
  }
  return count;
}

void refused(const Compilation& sound, const std::function<void(Nest&)>& spoil, const std::string& rule) {
  Nest nest = sound.nests.front();
  REQUIRE_NOTHROW(loops::verify(sound.system, nest));
  spoil(nest);
  CHECK_THROWS_WITH(loops::verify(sound.system, nest), Contains(rule));
}

loops::Loop& outer(Nest& nest) { return std::get<loops::Loop>(nest.steps.back().is); }

loops::Store& store_of(Nest& nest) {
  loops::Step* step = &nest.steps.back();
  while (auto* loop = std::get_if<loops::Loop>(&step->is)) step = &loop->steps.back();
  return std::get<loops::Store>(step->is);
}

constexpr const char* doubling = "input x : f32[6, 40]\ny = scale(x) {by = 2}\noutput y\n";

}  // namespace

TEST_CASE("cores share the outermost loop, a grid every loop whose turns are apart", "[compiled][bind]") {
  const std::string transposed = "input x : f32[6, 40, 3]\ny = sum(x) {axes = [2]}\noutput y\n";
  CHECK(bound(lowered(transposed, cores).nests.front(), Bind::cores) == 1);
  CHECK(bound(lowered(transposed, grid).nests.front(), Bind::grid) == 2);
  // One sum of everything is one thread's, and so is a recurrence.
  CHECK(bound(lowered("input x : f32[40, 7]\ny = sum(x)\noutput y\n", grid).nests.front(), Bind::grid) == 0);
  CHECK(bound(lowered("input x : f32[40]\ny = cumprod(x)\noutput y\n", cores).nests.front(), Bind::cores) == 0);
  CHECK(bound(lowered("input x : f32[40, 7]\ny = cumprod(x)\noutput y\n", grid).nests.front(), Bind::grid) == 1);
}

TEST_CASE("short loops of reductions are written out, long ones are not", "[compiled][bind]") {
  for (const int window : {3, 4}) {
    const bool is_short = window == 3;
    const std::string size = std::to_string(window);
    const Compilation made = lowered("input x : f32[1, 2, 40, 40]\ny = max_pool2d(x) {kernel = " + size + ", stride = 1}\noutput y\n", cores);
    std::size_t reductions = 0;
    const std::function<void(const std::vector<loops::Step>&)> look = [&](const std::vector<loops::Step>& steps) {
      for (const loops::Step& s : steps) {
        if (const auto* loop = std::get_if<loops::Loop>(&s.is)) look(loop->steps);
        if (const auto* r = std::get_if<loops::Reduce>(&s.is)) {
          REQUIRE(r->loops.size() == 2);
          CHECK(r->loops[0].bind == (is_short ? Bind::unrolled : Bind::serial));
          CHECK(r->loops[1].bind == Bind::unrolled);
          ++reductions;
        }
      }
    };
    for (const Nest& nest : made.nests) look(nest.steps);
    CHECK(reductions > 0);
  }
}

TEST_CASE("a kernel names what it touches, and how", "[compiled][bind]") {
  const Compilation made = lowered(doubling, cores);
  const std::vector<loops::Buffer>& buffers = made.nests.front().buffers;
  REQUIRE(buffers.size() == 2);
  CHECK(made.system[buffers[0].tensor].name == "x");
  CHECK((buffers[0].read && !buffers[0].written));
  CHECK(made.system[buffers[1].tensor].name == "y");
  CHECK((!buffers[1].read && buffers[1].written));
  refused(made, [](Nest& n) { n.buffers.pop_back(); }, "`y` is among its buffers");
  refused(made, [](Nest& n) { n.buffers[1].written = false; }, "`y` is written as its buffer says");
  refused(made, [](Nest& n) { n.buffers[0].read = false; }, "`x` is read as its buffer says");
  refused(made, [](Nest& n) { n.buffers.push_back(n.buffers.front()); }, "`x` is one buffer");
}

TEST_CASE("threads that would meet are refused", "[compiled][bind]") {
  const Compilation made = lowered(doubling, cores);
  const std::string rule = "threads that share `i0` meet";
  const auto place = [](Nest& n) -> std::vector<Expr>& { return store_of(n).place; };
  const auto rows = [](Nest& n) { return spec::variable(outer(n).binder); };
  // All write the same row; every other row; and the row that another one reads.
  refused(made, [&](Nest& n) { place(n)[0] = spec::integer(0); }, rule);
  refused(made, [&](Nest& n) { place(n)[0] = apply(spec::Primitive::floor_div, {rows(n), spec::integer(2)}); }, rule);
  refused(
      made,
      [&](Nest& n) {
        n.buffers[1].read = true;
        store_of(n).value = spec::read(n.buffers[1].tensor, Kind::real, {spec::integer(0), place(n)[1]});
      },
      rule);
  // Its own row may be read, and rows that lie apart whatever the turn.
  Nest reads = made.nests.front();
  reads.buffers[1].read = true;
  store_of(reads).value = spec::read(reads.buffers[1].tensor, Kind::real, place(reads));
  CHECK_NOTHROW(loops::verify(made.system, reads));
}

TEST_CASE("loops that nobody can share are refused", "[compiled][bind]") {
  const Compilation made = lowered(doubling, cores);
  refused(made, [](Nest& n) { n.steps.push_back(n.steps.back()); }, "threads share the last step");
  refused(made, [](Nest& n) { std::get<loops::Loop>(outer(n).steps.back().is).bind = Bind::cores; }, "threads share the last step");
  refused(made, [](Nest& n) { std::get<loops::Loop>(outer(n).steps.back().is).bind = Bind::unrolled; }, "loops that are written out have no lanes");
  Nest alone = made.nests.front();
  CHECK(loops::threads_loop(alone) == &outer(alone));
  outer(alone).bind = Bind::serial;
  CHECK(loops::threads_loop(alone) == nullptr);
  CHECK_NOTHROW(loops::verify(made.system, alone));
}
