// Loops by hand: what their text means, what is refused and where, and that what is given is run as it stands.
#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/ir/parse_loops.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using compiled::loops::Nest;
using compiled::loops::Reduce;
using compiled::loops::Store;

namespace {

constexpr compiled::Machine machine{16, 32};

/// x : f32[4], n : i64[], y : f32[4]
System vectors() {
  System s;
  (void)input(s, "x", DType::f32, {4});
  (void)input(s, "n", DType::i64, {});
  (void)output(s, "y", DType::f32, {4});
  return s;
}

std::string kernel_of(const std::string& step) { return "kernel y(x, n, out y) of 1 operations:\n  for i'7 < 4:\n    " + step + "\n"; }

/// s[] = sum[k < 1000] x[k], and y[k] = x[k] / s[]
System scaled() { return spec::lower(spec::parse_program("input x : f32[1000]\ns = sum(x)\ny = div(x, s)\noutput s, y\n")); }

std::string text_of(const System& system, compiled::CompileOptions options = {}) {
  const compiled::Compilation made = compiled::lower_to_loops(system, {}, options, machine);
  std::string text;
  for (const Nest& nest : made.nests) text += to_text(made.system, nest);
  return text;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  INFO(text << "has no " << from);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

compiled::CompileOptions given(const std::string& loops) {
  compiled::CompileOptions o = options();
  o.loops = {loops, "mine"};
  return o;
}

void refused(const System& system, const std::string& loops, const std::string& message) {
  INFO(loops);
  REQUIRE_THROWS_AS(text_of(system, given(loops)), SpecViolation);
  REQUIRE_THROWS_WITH(text_of(system, given(loops)), message);
}

/// The terms in the tree that tree.hpp describes, for one loop.
float in_tree(const std::vector<float>& terms, std::size_t chains, std::optional<std::size_t> turns) {
  std::vector<float> results;
  for (std::size_t c = 0; c < chains; ++c) {
    std::vector<std::pair<std::size_t, float>> waiting;  // blocks that were added up, and their sum
    const std::size_t all = (terms.size() + chains - 1) / chains;
    const std::size_t block = turns.value_or(all);
    for (std::size_t begin = 0; begin < all; begin += block) {
      std::pair<std::size_t, float> sum{1, 0.0F};
      for (std::size_t t = begin; t < std::min(begin + block, all); ++t) {
        if (t * chains + c < terms.size()) sum.second += terms[t * chains + c];
      }
      for (; !waiting.empty() && waiting.back().first == sum.first; waiting.pop_back()) sum = {2 * sum.first, waiting.back().second + sum.second};
      waiting.push_back(sum);
    }
    float result = 0;
    for (; !waiting.empty(); waiting.pop_back()) result = waiting.back().second + result;
    results.push_back(result);
  }
  for (std::size_t n = chains; n > 1; n /= 2) {
    for (std::size_t c = 0; c < n / 2; ++c) results[c] += results[c + n / 2];
  }
  return results[0];
}

}  // namespace

TEST_CASE("expressions_in_the_text_of_loops_mean_what_the_notation_says", "[compiled][loops]") {
  const System s = vectors();
  const Binder i{7, 4, "i"};
  const Expr at = s.at(0, {variable(i)}), n = s.at(1, {}), zero = spec::decimal(0), one = spec::decimal(1);
  const auto apply = [](spec::Primitive p, std::vector<Expr> args) { return spec::apply(p, std::move(args)); };
  using P = spec::Primitive;
  const Expr below = apply(P::lt, {at, zero});
  const std::vector<std::pair<std::string, Expr>> texts{
      {"x[i] * 2.0 + 1.0", at * spec::decimal(2) + one},
      {"x[i] * (2.0 + 1.0)", at * (spec::decimal(2) + one)},
      {"x[i] - (1.0 - x[i])", at - (one - at)},
      {"x[i] * 0.1", at * spec::decimal(1, -1)},
      {"x[i] * ~0.1", at * spec::binary64(0.1)},
      {"x[i] + -~inf", at + spec::binary64(-std::numeric_limits<double>::infinity())},
      {"~nan'7ff8000000000001", spec::binary64(std::bit_cast<double>(std::uint64_t{0x7ff8000000000001}))},
      {"-~0", spec::binary64(-0.0)},
      {"1e300", spec::decimal(1, 300)},
      {"18446744073709551616.0", spec::decimal(spec::decimal_number("18446744073709551616"))},
      {"-2.0", spec::decimal(-2)},
      {"-(2.0)", -spec::decimal(2)},
      {"-x[i]", -at},
      {"x[i] - -(-2.0)", at - -spec::decimal(-2)},
      {"(-2.0) ^ x[i]", apply(P::pow, {spec::decimal(-2), at})},
      {"-2.0 ^ x[i]", -apply(P::pow, {spec::decimal(2), at})},
      {"(x[i] ^ 2.0) ^ 3.0", apply(P::pow, {apply(P::pow, {at, spec::decimal(2)}), spec::decimal(3)})},
      {"maximum(x[i], pi)", apply(P::maximum, {at, apply(P::pi, {})})},
      {"real(n[] - -3)", apply(P::to_real, {n - spec::integer(-3)})},
      {"x[(if i < 2 then i else 0)]", s.at(0, {spec::select(apply(P::lt, {variable(i), spec::integer(2)}), variable(i), spec::integer(0))})},
      {"if not(x[i] < 0.0) and i == 2 then x[i] else 1.0",
       spec::select(apply(P::logical_and, {apply(P::logical_not, {below}), apply(P::eq, {variable(i), spec::integer(2)})}), at, one)},
      {"if (not(x[i] < 0.0)) == (i < 2) then 0.0 else 1.0",
       spec::select(apply(P::eq, {apply(P::logical_not, {below}), apply(P::lt, {variable(i), spec::integer(2)})}), zero, one)},
  };
  for (const auto& [text, meaning] : texts) {
    const Nest nest = compiled::loops::parse_nest(s, kernel_of("y[i] = " + text));
    const auto& loop = std::get<compiled::loops::Loop>(nest.steps.front().is);
    const auto& store = std::get<Store>(loop.steps.front().is);
    INFO(text << " is read as " << to_text(s, nest));
    CHECK(store.value == meaning);
    if (text.starts_with("-2.0 ^")) continue;  // it is printed with parentheses that it need not have
    CHECK_THAT(to_text(s, nest), Catch::Contains("y[i] = " + text + "\n"));
  }
}

TEST_CASE("what_is_no_text_of_loops_is_refused_where_it_goes_wrong", "[compiled][loops]") {
  const auto wrong = [](const std::string& text, const std::string& message) {
    INFO(text);
    REQUIRE_THROWS_AS(compiled::loops::parse_nest(vectors(), text), SpecViolation);
    CHECK_THROWS_WITH(compiled::loops::parse_nest(vectors(), text), message);
  };
  wrong(kernel_of("y[i] = x[j]"), "loops:3:14: expected a loop or a register that is known here, found 'j'; did you mean 'i'?");
  wrong(kernel_of("y[i] = z[i]"), "loops:3:12: expected a tensor, found 'z'; did you mean 'i'?");
  wrong(kernel_of("y[i] = x[i] +"), "loops:3:18: expected an expression; found the end");
  wrong(kernel_of("y[i] = x[i] x[i]"), "loops:3:17: expected the end of the line, found 'x'");
  wrong(kernel_of("y[i] = x[i, i]"), "loops:3:12: a read of x has the wrong rank; found 2 indices");
  wrong(kernel_of("y[i] = x[1.0]"), "loops:3:12: an index is an integer; found 1 indices");
  wrong(kernel_of("y[i] = x[i] + 1"), "loops:3:12: arithmetic needs operands of one kind; found 'x[i] + 1'");
  wrong(kernel_of("y[i] = i"), "loops:3:12: expected a value of the tensor's kind, found 'i'");
  wrong(kernel_of("y[i] = n"), "loops:3:12: expected a loop or a register that is known here, found 'n'; a tensor is read with brackets");
  wrong(kernel_of("y[i] = sum[k < 3] x[k]"), "loops:3:12: expected an expression without reductions, found 'sum[k < 3] x[k]'");
  wrong(kernel_of("y[i] = ~x[i]"), "loops:3:13: expected a binary64, found 'x'");
  wrong(kernel_of("for k < 4:"), "loops:3:9: expected the name of a loop and its number, as in k'12, found 'k'");
  wrong(kernel_of("for k'8 < 4 in 3000000000000 lanes:"), "loops:3:20: expected an integer from 1 to 64, found '3000000000000'");
  wrong(kernel_of("for k'8 < 4, on boards:"), "loops:3:21: expected 'a', found 'boards'");
  wrong(kernel_of("r9 = sum:"), "loops:3:14: expected a loop or a term of the reduction on the next line, found the end");
  wrong(kernel_of("r9 = sum in blocks of 2 turns of k'3:\n      over k'8 < 4:\n        term x[k]"), "loops:3:38: expected a loop of the reduction, found 'k'3'");
  wrong(kernel_of("r9 = any:\n      term x[i]"), "loops:4:16: expected a condition before this, found the end of the line");
  wrong(kernel_of("x[i] = 1.0\n        y[i] = 1.0"), "loops:4:1: expected at most 4 blanks before the line, found 8");
  wrong(kernel_of("y[i] = 1.0\n   y[i] = 1.0"), "loops:4:1: expected blanks in twos before the line, found 3");
  wrong("kernel y(x, out z) of 1 operations:\n", "loops:1:17: expected a tensor, found 'z'; did you mean 'n'?");
  wrong("kernel y(x) of many operations:\n", "loops:1:16: expected a number, found 'many'");
  wrong("-- nothing\n\n", "loops:1:1: expected one kernel, found 0");
}

TEST_CASE("every_word_of_a_kernel_counts", "[compiled][loops]") {
  const std::string text = text_of(scaled());
  const System system = compiled::lower_to_loops(scaled(), {}, {}, machine).system;
  const auto nests = compiled::loops::parse_nests(system, text, "loops");
  REQUIRE(nests.size() == 2);
  const std::vector<std::pair<std::string, std::string>> changes{{"sum in 64 chains", "sum in 32 chains"}, {"sum in 64", "prod in 64"},   {"1000 in 64 lanes", "1000 in 32 lanes"},
                                                                 {"< 1000", "< 999"},                      {"term x[k", "term -x[k"},      {"x, out s", "x, inout s"},
                                                                 {"  s[] =", "  s[] +="}};
  for (const auto& [from, to] : changes) {
    INFO(from << " becomes " << to);
    CHECK_FALSE(compiled::loops::parse_nests(system, with(text, from, to), "loops")[0].nest == nests[0].nest);
  }
  CHECK(compiled::loops::parse_nests(system, with(text, "term x[k0]", "term  x[ k0 ] "), "loops")[0].nest == nests[0].nest);
}

TEST_CASE("sums_are_added_up_in_the_tree_that_stands_in_their_kernel", "[compiled][loops]") {
  if (shared_processor()->machine().lanes_f32 < 2) return;
  const HostTensor x = normal_numbers(DType::f32, {1000}, 3);
  const std::vector<float> terms(x.view<float>().begin(), x.view<float>().end());
  const std::string text = text_of(scaled());
  const std::string head = " = sum in 64 chains:";
  const std::size_t at = text.find("< 1000 in 64 lanes");
  REQUIRE(at != std::string::npos);
  const std::string loop = text.substr(text.rfind("over ", at) + 5, at - text.rfind("over ", at) - 6);
  const auto sum_of = [&](std::size_t chains, std::optional<std::size_t> turns) {
    std::string tree = chains > 1 ? " in " + std::to_string(chains) + " chains" : "";
    if (turns) tree += " in blocks of " + std::to_string(*turns) + " turns of " + loop;
    const std::string lanes = chains > 1 ? "< 1000 in " + std::to_string(chains) + " lanes" : "< 1000";
    const std::string mine = with(with(text, head, " = sum" + tree + ":"), "< 1000 in 64 lanes", lanes);
    return compiled::compile_system(scaled(), given(mine)).run(std::vector<HostTensor>{x})[0].view<float>()[0];
  };
  const std::vector<std::pair<std::size_t, std::optional<std::size_t>>> trees{{64, {}}, {64, 3}, {32, {}}, {16, 7}, {8, 64}, {8, 10}, {2, 50}, {1, 64}, {1, 1}, {1, 33}};
  std::vector<float> different;
  for (const auto& [chains, turns] : trees) {
    INFO(chains << " chains, blocks of " << turns.value_or(0) << " turns");
    const float expected = in_tree(terms, chains, turns);
    CHECK(sum_of(chains, turns) == expected);
    if (std::find(different.begin(), different.end(), expected) == different.end()) different.push_back(expected);
  }
  CHECK(different.size() > 2);
}

TEST_CASE("kernels_that_are_given_run_as_they_stand", "[compiled][loops]") {
  const System system = scaled();
  const HostTensor x = normal_numbers(DType::f32, {1000}, 4);
  const std::string text = text_of(system);
  const auto expected = compiled::compile_system(system, options()).run(std::vector<HostTensor>{x});
  CHECK(compiled::compile_system(system, given("-- mine\n\n" + text)).run(std::vector<HostTensor>{x}) == expected);
  // Only the second kernel, whose loop has no lanes here and doubles what it stores.
  std::string second = text.substr(text.find("kernel y("));
  second = with(with(second, " in 16 lanes", ""), "x[", "2.0 * x[");
  const auto doubled = compiled::compile_system(system, given(second)).run(std::vector<HostTensor>{x});
  CHECK(doubled[0] == expected[0]);
  for (std::size_t i = 0; i < 1000; ++i) CHECK(doubled[1].view<float>()[i] == 2 * expected[1].view<float>()[i]);
  CHECK_THAT(text_of(system, given(second)), Catch::Contains(second) && Catch::Contains(text.substr(0, text.find("kernel y("))));
}

TEST_CASE("kernels_that_do_not_fit_are_refused_by_one_line", "[compiled][loops]") {
  const System system = scaled();
  const std::string text = text_of(system);
  const std::string first = text.substr(0, text.find("kernel y("));
  refused(system, with(text, "kernel y(", "kernel z("), "mine:" + std::to_string(1 + std::count(first.begin(), first.end(), '\n')) + ": unknown kernel 'z'; did you mean 's'?");
  refused(system, first + first, "mine:" + std::to_string(1 + std::count(first.begin(), first.end(), '\n')) + ": kernel s: it is given twice");
  refused(system, with(text, "(x, out s)", "(x, inout s)"), "mine:1: kernel s: expected s, an argument that is written, found s, an argument that is read and written");
  refused(system, with(text, "(x, out s)", "(x)"), "mine:1: kernel s: expected s, an argument that is written, found nothing");
  refused(system, with(text, "(x, out s)", "(x, out s, y)"), "mine:1: kernel s: expected no other buffers, found y, an argument that is read");
  refused(system, with(text, "sum in 64 chains", "sum in 32 chains"), "mine:1: loops: kernel s: a reduction has a chain for each lane of its innermost loop");
  refused(system, with(with(text, "sum in 64 chains", "sum"), " in 64 lanes", ""),
          "mine:1: loops: kernel s: a chain of a sum takes in no more terms in sequence than the contract declares");
  refused(system, with(with(text, "sum in 64 chains", "sum in 12 chains"), " in 64 lanes", " in 12 lanes"), "mine:1: loops: kernel s: lanes are a power of two, at most 64");
  refused(system, with(text, "  s[] = ", "  x[0] = "), "mine:1: loops: kernel s: `x` is written as its buffer says");
  refused(spec::lower(spec::parse_program("input x : f32[4]\ny = exp(x)\noutput y\n")), first, "mine:1:17: expected a tensor, found 's'; did you mean 'x'?");
}
