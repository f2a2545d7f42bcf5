// Sums over rows that the kernel of the rows adds up in passing, and rows that are fetched before they are needed.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <variant>

#include "compiled/compile.hpp"
#include "compiled/ir/accesses.hpp"
#include "compiled/memory/check_plan.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

/// Rows of a softmax and its cotangent, summed over all rows, for x of extents `rows`, columns.
System summed_rows(const std::string& rows, std::int64_t columns, const std::string& axes) {
  const std::string tensor = "f32[" + rows + ", " + std::to_string(columns) + "]";
  return spec::lower(spec::parse_program("input x : " + tensor + "\ninput d : " + tensor + "\ny = softmax(x) {axis = -1}\ngx = vjp(y; x; d)\nboth = mul(gx, d)\n" +
                                         "s = sum(both) {axes = " + axes + "}\nt = sum(d) {axes = " + axes + "}\noutput gx, s, t\n"));
}

compiled::CompileOptions without_passing() {
  compiled::CompileOptions o = options();
  o.off.insert("passing");
  return o;
}

std::vector<HostTensor> numbers_for(const Dims& dims) { return {normal_numbers(DType::f32, dims, 1), normal_numbers(DType::f32, dims, 2)}; }

double largest_difference(const HostTensor& a, const HostTensor& b) {
  REQUIRE(a.bytes.size() == b.bytes.size());
  REQUIRE(!a.bytes.empty());
  double most = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.dims.count()); ++i) {
    const double difference = std::abs(at(a, i) - at(b, i));
    if (!(difference <= most)) most = difference;
  }
  return most;
}

/// The tensors whose next rows some loop asks for.
void collect_fetched(const System& system, const std::vector<compiled::loops::Step>& steps, std::set<std::string>& names) {
  for (const compiled::loops::Step& s : steps) {
    const auto* loop = std::get_if<compiled::loops::Loop>(&s.is);
    const auto* in_lanes = compiled::loops::lanes_loop(s);
    if (in_lanes != nullptr) loop = in_lanes;
    if (loop == nullptr) continue;
    for (const auto& row : loop->fetched) names.insert(system[row.element->tensor].name);
    collect_fetched(system, loop->steps, names);
  }
}

/// The sums against f64 by hand, and the bits for several numbers of threads.
void holds(const System& s, const Dims& dims, std::size_t rows, std::size_t columns) {
  const auto in = numbers_for(dims);
  const auto found = compiled_values(s, in, options());
  REQUIRE(found.size() == 3);
  for (std::size_t k = 0; k < columns; ++k) {
    double sum = 0;
    double sum_of_d = 0;
    double size = 0;
    double size_of_d = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double term = at(found[0], i * columns + k) * at(in[1], i * columns + k);
      sum += term;
      size += std::abs(term);
      sum_of_d += at(in[1], i * columns + k);
      size_of_d += std::abs(at(in[1], i * columns + k));
    }
    // 64 roundings in a stretch, and those of the tree and of the term.
    const double u = std::ldexp(80, -24);
    CHECK(std::abs(at(found[1], k) - sum) <= u * size);
    CHECK(std::abs(at(found[2], k) - sum_of_d) <= u * size_of_d);
  }
  for (const unsigned threads : {2U, 3U}) {
    compiled::CompileOptions o = options();
    o.threads = threads;
    CHECK(compiled_values(s, in, o) == found);
  }
}

}  // namespace

TEST_CASE("sums over rows are added up by the kernel of the rows", "[compiled][passing]") {
  const System s = summed_rows("512", 96, "[0]");
  CHECK_THAT(dump_of(s, "plan"), Contains("adds up in passing, 8 parts"));
  CHECK_THAT(dump_of(s, "plan", without_passing()), !Contains("in passing"));
  CHECK(compiled::compile_system(s, options()).report().kernels <= compiled::compile_system(s, without_passing()).report().kernels);
  holds(s, {512, 96}, 512, 96);
}

TEST_CASE("rows of two loops add up in passing", "[compiled][passing]") {
  const System s = summed_rows("8, 64", 40, "[0, 1]");
  CHECK_THAT(dump_of(s, "plan"), Contains("adds up in passing, 8 parts"));
  holds(s, {8, 64, 40}, 512, 40);
}

TEST_CASE("many parts are joined in several steps", "[compiled][passing]") {
  const System s = summed_rows("8320", 16, "[0]");
  CHECK_THAT(dump_of(s, "plan"), Contains("adds up in passing, 130 parts"));
  CHECK_THAT(dump_of(s, "plan"), Contains(".joined"));
  holds(s, {8320, 16}, 8320, 16);
}

TEST_CASE("a number of rows without a fitting stretch is summed by itself", "[compiled][passing]") {
  for (const std::int64_t rows : {7, 61, 509}) {
    const System s = summed_rows(std::to_string(rows), 32, "[0]");
    CHECK_THAT(dump_of(s, "plan"), !Contains("in passing"));
    holds(s, {rows, 32}, static_cast<std::size_t>(rows), 32);
  }
}

TEST_CASE("sums in passing are those of the definition within the rounding of both ways", "[compiled][passing]") {
  const System s = summed_rows("320", 50, "[0]");
  const auto in = numbers_for({320, 50});
  const auto with = compiled_values(s, in, options());
  const auto without = compiled_values(s, in, without_passing());
  CHECK(with[0] == without[0]);
  CHECK(!(largest_difference(with[1], without[1]) > 320 * std::ldexp(160, -24)));
}

TEST_CASE("a plan whose rows do not belong to the parts that they add to is refused", "[compiled][passing]") {
  const compiled::Compilation sound = compiled::lower_to_loops(summed_rows("512", 96, "[0]"), {}, options(), compiled::Machine{});
  compiled::check_plan(sound.system, sound.plan);
  const auto kernel_of = [](compiled::Plan& plan) -> compiled::Kernel& {
    return *std::find_if(plan.kernels.begin(), plan.kernels.end(), [](const compiled::Kernel& k) { return k.stretch != 0; });
  };
  compiled::Plan other = sound.plan;
  kernel_of(other).stretch = 32;
  CHECK_THROWS_WITH(compiled::check_plan(sound.system, other), Contains("has other stretches"));
  other = sound.plan;
  spec::System shifted = sound.system;
  const auto passing = std::find_if(kernel_of(other).statements.begin(), kernel_of(other).statements.end(), [](const compiled::Statement& s) { return s.in_passing; });
  spec::Equation& parts = shifted.equations[passing->equation];
  // Its rows, the last of each stretch first: within the stretch, but not the row at hand.
  const spec::Binder row = parts.value->binders[0];
  const spec::Expr turned = spec::substitute(parts.value->args[1], {{row.variable, spec::integer(row.extent - 1) - spec::variable(row)}});
  parts.value = spec::reduce(spec::Reduction::sum, parts.value->binders, parts.value->args[0], turned);
  CHECK_THROWS_WITH(compiled::check_plan(shifted, other), Contains("of another iteration"));
}

TEST_CASE("the next row of large tensors is fetched, of small ones not", "[compiled][passing]") {
  const System large = summed_rows("1024", 512, "[0]");
  CHECK_THAT(dump_of(large, "loops"), Contains("fetches x["));
  CHECK_THAT(dump_of(large, "loops"), Contains("to be written"));
  CHECK_THAT(dump_of(summed_rows("64", 512, "[0]"), "loops"), !Contains("fetches"));
  holds(large, {1024, 512}, 1024, 512);
}

TEST_CASE("which tensors' next rows are fetched is a decision", "[compiled][passing][schedules]") {
  const auto with = [](const System& system, const std::string& lines) {
    compiled::CompileOptions o = options();
    o.decisions = compiled::decisions_in(lines, "s");
    return compiled::lower_to_loops(system, {}, o, compiled::Machine{16, 32});
  };
  const auto fetched = [](const compiled::Compilation& c) {
    std::set<std::string> names;
    for (const auto& nest : c.nests) collect_fetched(c.system, nest.steps, names);
    return names;
  };
  const System large = summed_rows("1024", 512, "[0]"), small = summed_rows("64", 512, "[0]");
  const compiled::Compilation usual = with(large, "");
  REQUIRE(fetched(usual).contains("x"));
  CHECK_THAT(compiled::to_text(usual.deciding.taken()), Contains("fetch x on\n"));
  const std::set<std::string> without = fetched(with(large, "fetch x off"));
  CHECK_FALSE(without.contains("x"));
  CHECK(without.size() + 1 == fetched(usual).size());
  const compiled::Compilation near = with(small, "");
  CHECK(fetched(near).empty());
  CHECK_THAT(compiled::to_text(near.deciding.taken()), Contains("fetch x off\n"));
  CHECK(fetched(with(small, "fetch x on")) == std::set<std::string>{"x"});
  CHECK_THROWS_WITH(with(small, "fetch nothing on"), Contains("s:1: fetch nothing: there is nothing of this kind to decide here"));
}
