// What kernels have of their own: little of it on the stack, whatever the extents, the rest in the arena, for each thread.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <set>

#include <fmt/format.h>

#include "compiled/memory/check_plan.hpp"
#include "compiled/compile.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "compiled/runtime/question.hpp"
#include "compiled/runtime/thread_pool.hpp"
#include "compiled/task.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"
#include "tests/compiled/small_stack.hpp"

namespace etalon::test {
namespace {

using Catch::Matchers::Contains;
using compiled::Home;
namespace source = compiled::source;

constexpr std::size_t small_stack = std::size_t{128} << 10;

System system_of(const std::string& program) { return spec::lower(spec::parse_program(program)); }

/// Attention of one batch with the cotangents of all operands.
System attention(std::int64_t heads, std::int64_t queries, std::int64_t keys, std::int64_t width) {
  return system_of(fmt::format("input q : f32[1, {0}, {1}, {3}]\ninput k : f32[1, {0}, {2}, {3}]\ninput v : f32[1, {0}, {2}, {3}]\ninput d : f32[1, {0}, {1}, {3}]\n"
                               "y = scaled_dot_product_attention(q, k, v, _, _)\ngq, gk, gv = vjp(y; q, k, v; d)\noutput y, gq, gk, gv\n",
                               heads, queries, keys, width));
}

/// Rows of three softmaxes one after the other: the kernel keeps a row of each.
System rows_of_rows(std::int64_t rows, std::int64_t columns) {
  return system_of(fmt::format("input x : f32[{0}, {1}]\na = softmax(x) {{axis = 1}}\nb = softmax(a) {{axis = 1}}\nc = softmax(b) {{axis = 1}}\noutput c\n", rows, columns));
}

/// So many sums of the same rows, as one kernel.
System many_sums(std::size_t count, std::int64_t rows, std::int64_t columns) {
  std::string text = fmt::format("input x : f32[{}, {}]\n", rows, columns);
  std::string outputs;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("a{0} = scale(x) {{by = {0}.5}}\nb{0} = exp(a{0})\ns{0} = sum(b{0}) {{axes = 1}}\n", i);
    outputs += fmt::format("{}s{}", i == 0 ? "" : ", ", i);
  }
  return system_of(text + "output " + outputs + "\n");
}

std::vector<HostTensor> numbers_for(const System& s) {
  std::vector<HostTensor> all;
  for (const TensorId t : s.inputs) all.push_back(normal_numbers(s[t].dtype, s[t].dims, static_cast<unsigned>(all.size())));
  return all;
}

compiled::CompileOptions with_threads(unsigned threads) {
  compiled::CompileOptions o = options();
  o.threads = threads;
  o.least_shared_work = 0;
  return o;
}

compiled::Compilation lowered(const System& s, const compiled::CompileOptions& o) { return compiled::lower_to_loops(s, {}, o, shared_processor()->machine()); }

std::size_t with_scratch(const compiled::Plan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.kernels.begin(), plan.kernels.end(), [](const auto& k) { return k.scratch.has_value(); }));
}

}  // namespace

TEST_CASE("no kernel takes more than 64 KiB of stack, whatever the extents", "[compiled][stack][sound]") {
  std::size_t most = 0;
  for (const std::int64_t keys : {64, 500, 3072, 16384, 200000}) {
    CAPTURE(keys);
    for (const System& s : {attention(1, 300, keys, 32), rows_of_rows(40, keys)}) {
      const std::size_t bytes = compiled::compile_system(s, options()).report().stack_bytes;
      CHECK(bytes > 0);
      CHECK(bytes <= compiled::most_stack_bytes);
      most = std::max(most, bytes);
    }
  }
  CHECK(compiled::compile_system(many_sums(40, 30, 4000000), options()).report().stack_bytes <= compiled::most_stack_bytes / 8);
  CHECK(most > 1000);  // it is the kernels' own that is counted, not nothing
}

TEST_CASE("a kernel that takes more of the stack is refused by its name", "[compiled][stack][sound]") {
  compiled::CompileOptions o = options();
  o.plan.stack_bytes = std::size_t{1} << 30;
  const System s = attention(1, 300, 3072, 32);
  CHECK_THROWS_AS(compiled::compile_system(s, o), InternalError);
  CHECK_THROWS_WITH(compiled::compile_system(s, o), Contains("kernel_") && Contains("bytes of stack; at most 65536 are allowed"));
}

TEST_CASE("the kernels of long rows run on a thread with a small stack", "[compiled][stack][sound]") {
  for (const System& s : {attention(1, 300, 3072, 32), rows_of_rows(20, 8000), many_sums(40, 16, 100000)}) {
    const auto in = numbers_for(s);
    const compiled::Executable e = compiled::compile_system(s, options());
    const auto expected = e.run(in);
    std::vector<HostTensor> found;
    on_small_stack(small_stack, [&] { found = e.run(in); });
    CHECK(found == expected);
  }
}

TEST_CASE("no bit depends on where a kernel's own memory lies", "[compiled][stack][sound]") {
  std::size_t moved = 0;
  for (const System& s : {attention(2, 70, 300, 16), attention(1, 37, 53, 8), rows_of_rows(21, 50), rows_of_rows(5, 700)}) {
    const auto in = numbers_for(s);
    compiled::CompileOptions o = options();
    o.schedule.always = true;
    o.plan.stack_bytes = std::size_t{1} << 20;
    const auto expected = compiled_values(s, in, o);
    REQUIRE(with_scratch(lowered(s, o).plan) == 0);
    for (const unsigned threads : {1U, 3U}) {
      o.threads = threads;
      o.least_shared_work = 0;
      o.plan.stack_bytes = 0;
      const compiled::Compilation apart = lowered(s, o);
      CHECK_NOTHROW(compiled::check_plan(apart.system, apart.plan, o.plan));
      moved += with_scratch(apart.plan);
      CHECK(compiled_values(s, in, o) == expected);
      o.plan.reuse = false;
      CHECK(compiled_values(s, in, o) == expected);
      o.plan.reuse = true;
    }
  }
  CHECK(moved >= 8);
}

TEST_CASE("each thread has its own piece of the arena, and a budget counts all of them", "[compiled][stack][sound]") {
  const System s = attention(1, 600, 4000, 32);
  const std::size_t three = compiled::compile_system(s, with_threads(3)).report().arena_bytes;
  std::size_t own = 0;
  const compiled::Compilation plan = lowered(s, with_threads(3));
  for (const compiled::loops::Nest& nest : plan.nests) {
    std::size_t bytes = 0;
    for (const compiled::loops::Buffer& o : nest.buffers) bytes += static_cast<std::size_t>(o.bytes);
    own = std::max(own, bytes);
  }
  CHECK(own > compiled::PlanOptions{}.stack_bytes);
  CHECK(three >= 3 * own);
  compiled::CompileOptions tight = with_threads(3);
  tight.plan.memory_budget = 2 * own;
  CHECK_THROWS_WITH(compiled::compile_system(s, tight), Contains("memory budget"));
  tight.plan.memory_budget = three;
  CHECK(compiled::compile_system(s, tight).report().arena_bytes <= three);
}

TEST_CASE("plans whose kernels' own memory meets something else are refused", "[compiled][stack][sound]") {
  compiled::CompileOptions o = options();
  o.plan.stack_bytes = 0;
  o.schedule.always = true;
  const compiled::Compilation good = lowered(attention(1, 37, 53, 8), o);
  REQUIRE_NOTHROW(compiled::check_plan(good.system, good.plan, o.plan));
  std::size_t refusals = 0;
  const auto refused = [&](const char* why, const auto& spoil) {
    compiled::Plan plan = good.plan;
    spoil(plan);
    CHECK_THROWS_WITH(compiled::check_plan(good.system, plan, o.plan), Contains(why));
    ++refusals;
  };
  const auto last = [](compiled::Plan& plan) -> compiled::Kernel& {
    return *std::find_if(plan.kernels.rbegin(), plan.kernels.rend(), [](const auto& k) { return k.scratch.has_value(); });
  };
  refused("memory of its own sticks out of the arena", [&](auto& plan) { last(plan).scratch->offset += plan.arena_bytes; });
  refused("memory of its own is not aligned", [&](auto& plan) { last(plan).scratch->bytes -= 4; });
  refused("sticks out of its kernel's own memory", [&](auto& plan) { last(plan).scratch->bytes = 64; });
  refused("is more than has room on a stack", [&](auto& plan) { last(plan).scratch.reset(); });
  refused("lies over memory of its kernel's own", [&](auto& plan) {
    for (compiled::Residence& r : plan.residences) {
      if (r.home == Home::turn) r.offset = 0;
    }
  });
  refused("after it was overwritten", [&](auto& plan) {
    // The kernel reads what an earlier one left in the arena.
    std::set<TensorId> written, read;
    for (const compiled::Statement& one : last(plan).statements) {
      const spec::Equation& e = good.system.equations[one.equation];
      written.insert(e.target);
      spec::for_each(e.value, [&](const Expr& x) {
        if (x.form() == spec::Form::read) read.insert(x->tensor);
      });
    }
    const auto kept = std::find_if(read.begin(), read.end(), [&](TensorId t) {
      return !written.contains(t) && plan.residences[static_cast<std::size_t>(t)].home == Home::arena;
    });
    REQUIRE(kept != read.end());
    last(plan).scratch->offset = plan.residences[static_cast<std::size_t>(*kept)].offset;
    plan.arena_bytes += last(plan).scratch->all_bytes();
  });
  CHECK(refusals == 6);
}

TEST_CASE("calls that run at the same time have different slots", "[compiled][stack][sound]") {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    compiled::ThreadPool pool(threads);
    for (const std::int64_t extent : {1, 2, 3, 7, 64}) {
      struct Slots {
        std::vector<std::atomic<int>> busy;
        std::atomic<int> calls{0}, met{0};
      };
      const auto most = std::min<std::size_t>(threads, static_cast<std::size_t>(extent));
      Slots slots{std::vector<std::atomic<int>>(most)};
      for (int again = 0; again < 50; ++again) {
        pool.run(
            extent,
            [](void* p, std::int64_t, std::int64_t, std::size_t slot) {
              auto& all = *static_cast<Slots*>(p);
              ++all.calls;
              if (slot >= all.busy.size() || all.busy[slot]++ != 0) return void(++all.met);
              for (int i = 0; i < 100; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
              --all.busy[slot];
            },
            &slots);
      }
      CHECK(slots.calls >= 50);
      CHECK(slots.met == 0);
    }
  }
}

TEST_CASE("functions of emitted C keep to the same stack, and compute the same", "[compiled][stack][emitted][sound]") {
  source::CCompiler compiler;
  for (const System& s : {rows_of_rows(3, 7000), many_sums(40, 2, 200000)}) {
    const auto in = numbers_for(s);
    for (const char* level : {"-O0", "-O1"}) {
      compiler.flags = fmt::format("-std=c99 {} -Wall -Wextra -Wconversion -ffp-contract=off -Wframe-larger-than={}", level, compiled::most_stack_bytes / 2);
      const compiled::Runner c = source::run_as_c(s, compiler);
      compiled::CompileOptions on_stack;
      on_stack.plan.stack_bytes = std::size_t{1} << 30;
      CHECK(c(in) == source::run_as_c(s, {}, on_stack)(in));
    }
  }
  compiled::CompileOptions on_stack;
  on_stack.plan.stack_bytes = std::size_t{1} << 30;
  CHECK_THROWS_WITH(source::run_as_c(rows_of_rows(3, 7000), compiler, on_stack), Contains("frame size"));
}

}  // namespace etalon::test
