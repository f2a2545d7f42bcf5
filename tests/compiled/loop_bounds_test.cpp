// Elements that a kernel touches lie in its buffers: what leaves them is refused with the kernel, the tensor, the index and where it
// goes; what conditions, limits and promises keep inside is not.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/ir/parse_loops.hpp"
#include "compiled/task.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Reduce;
using compiled::loops::Step;

namespace {

constexpr compiled::Machine machine{16, 32};

/// x : f32[4, 6], n : i64[] whatever it is, p : i64[] in 0..3, y : f32[4, 6], t : f32[4, 6], of which a thread has one row, q : i64[4] of
/// positions in rows
System tensors() {
  System s;
  (void)input(s, "x", DType::f32, {4, 6});
  (void)input(s, "n", DType::i64, {});
  const TensorId p = input(s, "p", DType::i64, {});
  s.tensors[static_cast<std::size_t>(p)].range = {{0, 3}};
  (void)output(s, "y", DType::f32, {4, 6});
  (void)s.add_tensor("t", DType::f32, {4, 6});
  const TensorId q = output(s, "q", DType::i64, {4});
  s.tensors[static_cast<std::size_t>(q)].range = {{0, 5}};
  return s;
}

/// What the verifier says of steps inside i'90 < 4 and j'91 < 6; nothing where it is content.
std::string said_of(const std::string& steps) {
  const System s = tensors();
  std::string body;
  for (std::size_t begin = 0; begin < steps.size();) {
    const std::size_t end = std::min(steps.find('\n', begin), steps.size());
    body += "      " + steps.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  const std::string head = "kernel k(x, n, p, inout y, inout q) of 1 operations:\n  t in 24 bytes of the kernel's own\n";
  const Nest nest = compiled::loops::parse_nest(s, head + "  for i'90 < 4:\n    for j'91 < 6:\n" + body);
  try {
    compiled::loops::verify_bounds(s, {&nest, 1});
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

std::string text_of(const compiled::Compilation& made) {
  std::string text;
  for (const Nest& nest : made.nests) text += to_text(made.system, nest);
  return text;
}

/// Each loop of the steps.
void collect(std::vector<Step>& steps, std::vector<Loop*>& into) {
  for (Step& s : steps) {
    if (auto* loop = std::get_if<Loop>(&s.is)) {
      into.push_back(loop);
      collect(loop->steps, into);
    }
    if (auto* r = std::get_if<Reduce>(&s.is)) {
      for (Loop& loop : r->loops) {
        into.push_back(&loop);
        collect(loop.steps, into);
      }
    }
  }
}

}  // namespace

TEST_CASE("what_stays_in_its_buffer_is_let_through", "[compiled][loops]") {
  for (const char* steps : {"y[i, j] = x[i, j]", "y[3 - i, 5 - j] = x[j // 2, 5 - j]", "y[i, j] = if j < 5 then x[i, j + 1] else 0.0",
                            "y[i, j] = if 0 <= i - 1 and j < 4 then x[i - 1, j + 2] else 0.0", "if i + j < 4: y[i + j, 0] = x[i + j, j]",
                            "y[i, j] = if 0 <= n[] and n[] < 4 then x[n[], j] else 0.0", "y[i, j] = x[p[], minimum(maximum(n[], 0), 5)]",
                            "r95 = minimum(i + 1, 3)\ny[i, j] = x[r95, j]", "r95 = j < 5\nif r95: y[i, j + 1] = 0.0",
                            "for k'92 < 9 until 6 - j:\n  y[i, j + k] = 0.0", "r95 = argmax:\n  over k'92 < 6:\n    term x[i, k]\ny[i, r95] = x[i, r95]",
                            "r95 = sum:\n  over k'92 < 9:\n    term x[i, k] where k < 6\ny[i, j] = r95", "t[0, j] = x[i, j]\ny[i, j] = t[0, j]",
                            "r95 = n[] as i32\nif r95 < 6 and 0 <= r95: q[i] = r95", "q[i] = minimum(maximum(n[], 0), 5)", "if 0 <= n[] and n[] <= 5: q[i] = n[]", "y[i, j] = x[i, q[i]]"}) {
    INFO(steps);
    CHECK(said_of(steps) == "");
  }
}

TEST_CASE("what_leaves_its_buffer_is_refused_with_where_it_goes", "[compiled][loops]") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"y[i, j] = x[i, j + 1]", "index 1 of x is 6, wanted 0..5, at x[i, j + 1]"},
      {"y[i + 1, j] = 0.0", "index 0 of y is 4, wanted 0..3, at y[i + 1, j]"},
      {"y[i, j] = x[j, i]", "index 0 of x is 4, wanted 0..3, at x[j, i]"},
      {"y[i, j] = if j < 6 then x[i, j + 1] else 0.0", "index 1 of x is 6, wanted 0..5, at x[i, j + 1]"},
      {"y[i, j] = if j < 5 then 0.0 else x[i, j + 1]", "index 1 of x is 6, wanted 0..5, at x[i, j + 1]"},
      {"if i + j < 5: y[i + j, 0] = 0.0", "index 0 of y is 4, wanted 0..3, at y[i + j, 0]"},
      {"y[i, j] = x[n[], j]", "index 0 of x is in -inf..inf, wanted 0..3, at x[n, j]"},
      {"y[i, j] = if n[] < 4 then x[n[], j] else 0.0", "index 0 of x is in -inf..3, wanted 0..3, at x[n, j]"},
      {"y[i, j] = x[p[] + 1, j]", "index 0 of x is in 1..4, wanted 0..3, at x[p + 1, j]"},
      {"r95 = i + 1\ny[i, j] = x[r95, j]", "index 0 of x is 4, wanted 0..3, at x[i + 1, j]"},
      {"r95 = j < 6\nif r95: y[i, j + 1] = 0.0", "index 1 of y is 6, wanted 0..5, at y[i, j + 1]"},
      {"for k'92 < 9 until 7 - j:\n  y[i, j + k] = 0.0", "index 1 of y is 6, wanted 0..5, at y[i, j + k]"},
      {"r95 = argmax:\n  over k'92 < 7:\n    term x[i, minimum(k, 5)]\ny[i, j] = x[i, r95]", "index 1 of x is 6, wanted 0..5, at x[i, r95]"},
      {"r95 = sum:\n  over k'92 < 9:\n    term x[i, k] where k < 7\ny[i, j] = r95", "index 1 of x is 6, wanted 0..5, at x[i, k]"},
      {"t[1, j] = x[i, j]", "index 0 of t is 6, wanted 0..5, at t[1 * 6 + j]"},
      {"y[i, j] = t[i, j]", "index 0 of t is 6, wanted 0..5, at t[i * 6 + j]"},
      {"r95 = n[] as i32\ny[i, j] = if 0 <= n[] and n[] < 4 then x[r95, j] else 0.0", "index 0 of x is -2147483648, wanted 0..3, at x[r95, j]"},
      {"q[i] = n[]", "what is stored in q is in -inf..inf, wanted 0..5"},
      {"q[i] = j + 1", "what is stored in q is in 1..6, wanted 0..5"},
  };
  for (const auto& [steps, message] : wrong) {
    INFO(steps);
    CHECK(said_of(steps) == "loops: kernel k: " + message);
  }
}

TEST_CASE("what_held_before_a_reduction_does_not_hold_once_its_loops_write", "[compiled][loops]") {
  const std::string head = "r95 = sum if 0 <= q[0] and q[0] < 6:\n  over k'92 < 6:\n";
  CHECK(said_of(head + "    term x[i, q[0]]\ny[i, j] = r95") == "");
  // The promise of q still holds: it is kept by what is stored.
  CHECK(said_of(head + "    q[0] = 5\n    term x[i, q[0]]\ny[i, j] = r95") == "");
  CHECK(said_of("r95 = sum if q[0] < 4:\n  over k'92 < 6:\n    term x[q[0], k]\ny[i, j] = r95") == "");
  CHECK(said_of("r95 = sum if q[0] < 4:\n  over k'92 < 6:\n    q[0] = 5\n    term x[q[0], k]\ny[i, j] = r95") ==
        "loops: kernel k: index 0 of x is in 0..5, wanted 0..3, at x[q[0], k]");
}

TEST_CASE("factors_are_copied_from_inside_their_tensors", "[compiled][loops]") {
  // Steps of two leave out taps that others of the same length have.
  const compiled::Task task = compiled::task_of(spec::parse_program(R"(
input x : f64[4, 4, 3, 3]
input k : f64[2, 4, 5, 3]
input c : f64[4, 2, 7, 2]
y = conv2d(x, k) {padding = [4, 1], stride = [1, 2]}
g = vjp(y; x; c)
output g
)"));
  const compiled::Compilation made = compiled::lower_to_loops(task.system, {}, {}, machine);
  REQUIRE(made.nests.size() > 1);
  CHECK_NOTHROW(compiled::loops::verify_bounds(made.system, made.nests));
}

TEST_CASE("every_loop_that_goes_one_further_is_refused", "[compiled][loops]") {
  std::size_t refused = 0;
  for (const char* program : {"input x : f32[20, 30]\ny = softmax(x)\noutput y\n",
                              "input x : f32[3, 4, 5]\ny = transpose(x) {permutation = [2, 0, 1]}\ns = sum(x) {axes = [1]}\noutput y, s\n",
                              "input x : f32[2, 3, 20]\ninput w : f32[4, 3, 5]\ny = conv1d(x, w, _)\noutput y\n"}) {
    compiled::CompileOptions plain;
    plain.off = {"contractions"};
    const compiled::Compilation made = compiled::lower_to_loops(spec::lower(spec::parse_program(program)), {}, plain, machine);
    for (const Nest& nest : made.nests) {
      Nest changed = nest;
      std::vector<Loop*> loops;
      collect(changed.steps, loops);
      REQUIRE(!loops.empty());
      for (Loop* loop : loops) {
        ++loop->binder.extent;
        INFO(to_text(made.system, changed));
        CHECK_THROWS_WITH(compiled::loops::verify_bounds(made.system, {&changed, 1}), Catch::StartsWith("loops: kernel " + nest.name + ": index "));
        --loop->binder.extent;
        ++refused;
      }
      CHECK_NOTHROW(compiled::loops::verify_bounds(made.system, {&changed, 1}));
    }
  }
  CHECK(refused > 10);
}

TEST_CASE("kernels_by_hand_that_leave_their_memory_are_refused_by_one_line", "[compiled][loops]") {
  const System system = spec::lower(spec::parse_program("input x : f32[64, 1000]\ny = softmax(x)\noutput y\n"));
  const std::string text = text_of(compiled::lower_to_loops(system, {}, {}, machine));
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& message) {
    std::string changed = text;
    REQUIRE(changed.find(from) != std::string::npos);
    changed.replace(changed.find(from), from.size(), to);
    INFO(changed);
    compiled::CompileOptions o;
    o.loops = {changed, "mine"};
    REQUIRE_THROWS_AS(compiled::lower_to_loops(system, {}, o, machine), SpecViolation);
    REQUIRE_THROWS_WITH(compiled::lower_to_loops(system, {}, o, machine), message);
  };
  refused("< 64, on cores", "< 65, on cores", "mine:1: loops: kernel y: index 0 of x is 64, wanted 0..63, at x[s0, k]");
  refused("term x[s0, k]", "term x[s0, k + 1]", "mine:1: loops: kernel y: index 1 of x is 1000, wanted 0..999, at x[s0, k + 1]");
  refused("= y.e[0, j]", "= y.e[s0, j]", "mine:1: loops: kernel y: index 0 of y.e is 1000, wanted 0..999, at y.e[s0 * 1000 + j]");
}
