// Wide values, such as scores of attention, are computed strip by strip: nothing of their size is stored, and no bit changes.
#include <algorithm>
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "compiled/memory/check_plan.hpp"
#include "compiled/compile.hpp"
#include "compiled/schedule/strips.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

namespace etalon::test {
namespace {

using Catch::Matchers::Contains;

struct Attention {
  std::int64_t batch, heads, queries, keys, width;
  bool causal = true;
  bool cotangents = true;
  const char* dtype = "f32";
  [[nodiscard]] System system() const {
    std::string text = fmt::format("input q : {5}[{0}, {1}, {2}, {4}]\ninput k : {5}[{0}, {1}, {3}, {4}]\ninput v : {5}[{0}, {1}, {3}, {4}]\n", batch, heads,
                                   queries, keys, width, dtype);
    if (cotangents) text += fmt::format("input d : {}[{}, {}, {}, {}]\n", dtype, batch, heads, queries, width);
    text += fmt::format("y = scaled_dot_product_attention(q, k, v, _, _) {{causal = {}}}\n", causal);
    if (cotangents) text += "gq, gk, gv = vjp(y; q, k, v; d)\n";
    return spec::lower(spec::parse_program(text + (cotangents ? "output y, gq, gk, gv\n" : "output y\n")));
  }
  [[nodiscard]] std::vector<HostTensor> numbers() const {
    const DType type = *dtype_named(dtype);
    const Dims of_queries{batch, heads, queries, width}, of_keys{batch, heads, keys, width};
    std::vector<HostTensor> all{normal_numbers(type, of_queries, 1), normal_numbers(type, of_keys, 2), normal_numbers(type, of_keys, 3)};
    if (cotangents) all.push_back(normal_numbers(type, of_queries, 4));
    return all;
  }
};

/// Wide values in strips whatever their size, a tile of rows in each.
compiled::CompileOptions always() {
  compiled::CompileOptions o = options();
  o.schedule.always = true;
  return o;
}

compiled::CompileOptions whole(compiled::CompileOptions o) {
  o.off.insert("strips");
  return o;
}

compiled::Compilation lowered(const System& s, const compiled::CompileOptions& o) { return compiled::lower_to_loops(s, {}, o, shared_processor()->machine()); }

std::size_t kernels_of_strips(const compiled::Plan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.kernels.begin(), plan.kernels.end(), [](const auto& k) { return k.kind == compiled::KernelKind::strips; }));
}

const std::vector<Attention> shapes{{1, 1, 37, 53, 8}, {2, 3, 29, 29, 11}, {1, 2, 14, 40, 9, false}, {3, 1, 15, 16, 16}, {1, 1, 43, 9, 8, false}};

}  // namespace

TEST_CASE("attention of a long sequence stores nothing of queries times keys", "[compiled][strips]") {
  const Attention forward{1, 2, 2048, 2048, 32, true, false}, both{1, 2, 2048, 2048, 32};
  for (const Attention& a : {forward, both}) {
    const System s = a.system();
    const compiled::Compilation with = lowered(s, options());
    CHECK_NOTHROW(compiled::check_plan(with.system, with.plan));
    CHECK(kernels_of_strips(with.plan) == (a.cotangents ? 2 : 1));
    const auto matrix = static_cast<std::size_t>(a.queries * a.keys);
    std::size_t seen = 0;
    for (const compiled::Residence& r : with.plan.residences) {
      if (r.home != compiled::Home::arena && r.home != compiled::Home::turn) continue;
      CHECK(r.bytes < matrix / 4);  // a byte for each score would be more
      ++seen;
    }
    CHECK(seen > 3);
    const compiled::Executable e = compiled::compile_system(s, options());
    CHECK(e.report().arena_bytes < matrix / 2);
    CHECK(compiled::compile_system(s, whole(options())).report().arena_bytes > 16 * matrix);
  }
}

TEST_CASE("strips keep every bit, with one, two and three threads", "[compiled][strips]") {
  const Attention long_enough{1, 3, 300, 301, 16};
  REQUIRE(kernels_of_strips(lowered(long_enough.system(), options()).plan) == 2);
  CHECK(kernels_of_strips(lowered(long_enough.system(), whole(options())).plan) == 0);
  const auto compare = [](const Attention& a, const compiled::CompileOptions& o) {
    const System s = a.system();
    const auto in = a.numbers();
    const auto expected = compiled_values(s, in, whole(o));
    for (const unsigned threads : {1U, 2U, 3U}) {
      compiled::CompileOptions with = o;
      with.threads = threads;
      with.least_shared_work = 0;
      CHECK(compiled_values(s, in, with) == expected);
    }
    compiled::CompileOptions apart = o;
    apart.plan.reuse = false;
    CHECK(compiled_values(s, in, apart) == expected);
    apart.plan.fuse = false;
    CHECK(compiled_values(s, in, apart) == expected);
  };
  compare(long_enough, options());
  for (const Attention& a : shapes) compare(a, always());
}

TEST_CASE("attention in strips stays within the bounds of its contract", "[compiled][strips]") {
  std::size_t compared = 0;
  for (Attention a : shapes) {
    for (const char* dtype : {"f32", "f64"}) {
      a.dtype = dtype;
      INFO(fmt::format("{} queries, {} keys, {}", a.queries, a.keys, dtype));
      const System s = a.system();
      REQUIRE(kernels_of_strips(lowered(s, always()).plan) > 0);
      const auto in = a.numbers();
      const auto verdict = reference::judge(compiled_values(s, in, always()), reference::envelopes(s, in, spec::contract_named("cpu")));
      CAPTURE(verdict.message);
      CHECK(verdict.passed());
      compared += verdict.comparisons;
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("a short sequence, or scores that somebody asks for, stay as they are", "[compiled][strips]") {
  CHECK(kernels_of_strips(lowered(Attention{8, 4, 64, 64, 32}.system(), options()).plan) == 0);
  const System asked = spec::lower(spec::parse_program("input q : f32[600, 16]\ninput k : f32[16, 600]\ns = matmul(q, k)\na = softmax(s)\ny = matmul(a, q)\noutput s, y\n"));
  CHECK(kernels_of_strips(lowered(asked, options()).plan) == 0);
  const System hidden = spec::lower(spec::parse_program("input q : f32[600, 16]\ninput k : f32[16, 600]\ns = matmul(q, k)\na = softmax(s)\ny = matmul(a, q)\noutput y\n"));
  CHECK(kernels_of_strips(lowered(hidden, options()).plan) == 1);
  const std::string plan = dump_of(hidden, "plan");
  CHECK_THAT(plan, Contains("wide values in strips of") && Contains("blocks are strips") && Contains("rows of a strip in the place of"));
}

TEST_CASE("tiles that a causal mask hides as a whole are left out", "[compiled][strips]") {
  Attention a{1, 2, 300, 300, 16};
  CHECK_THAT(dump_of(a.system(), "plan"), Contains("only tiles where t <= r holds somewhere"));
  CHECK_THAT(dump_of(a.system(), "loops"), Contains("only tiles where"));
  a.causal = false;
  CHECK_THAT(dump_of(a.system(), "plan"), Contains("wide values in strips") && !Contains("only tiles where"));
}

TEST_CASE("strips that need more room than a stack has are in the arena, and no score is stored", "[compiled][strips]") {
  for (const bool cotangents : {false, true}) {
    const Attention a{1, 4, 16384, 16384, 32, true, cotangents};
    const compiled::Compilation with = lowered(a.system(), options());
    CHECK_NOTHROW(compiled::check_plan(with.system, with.plan));
    CHECK(kernels_of_strips(with.plan) == (cotangents ? 2 : 1));
    CHECK(with.plan.arena_bytes < std::size_t{64} << 20);  // a byte for each score of one head would be four times as much
  }
}

TEST_CASE("where the columns of tiles are a loop of the strips, plain loops take their place", "[compiled][strips]") {
  // Both cotangents of the kernel w lie along its last axis, over which the strips of their sum go.
  const System s = spec::lower(spec::parse_program(R"(
input x : f32[2, 3, 3]
input w : f32[2, 3, 3]
input z : f32[2, 3, 3]
input a : f32[2, 2, 1]
input b : f32[2, 2, 1]
y = conv1d(x, w, _) {dilation = 1, groups = 1, padding = 0, stride = [3]}
v = conv1d(z, w, _) {dilation = 1, groups = 1, padding = 0, stride = [3]}
g = vjp(y, v; w; a, b)
output g
)"));
  const Dims wide{2, 3, 3}, narrow{2, 2, 1};
  const std::vector<HostTensor> in{normal_numbers(DType::f32, wide, 1), normal_numbers(DType::f32, wide, 2), normal_numbers(DType::f32, wide, 3),
                                   normal_numbers(DType::f32, narrow, 4), normal_numbers(DType::f32, narrow, 5)};
  REQUIRE(kernels_of_strips(lowered(s, always()).plan) == 1);
  const auto verdict = reference::judge(compiled_values(s, in, always()), reference::envelopes(s, in, spec::contract_named("cpu")));
  CAPTURE(verdict.message);
  CHECK(verdict.passed());
  CHECK(verdict.comparisons == 18);
}

TEST_CASE("plans whose strips lose rows are refused", "[compiled][strips]") {
  const compiled::Compilation good = lowered(Attention{1, 1, 37, 53, 8}.system(), always());
  REQUIRE_NOTHROW(compiled::check_plan(good.system, good.plan));
  const auto refused = [&](const char* why, const auto& spoil) {
    compiled::Plan plan = good.plan;
    spoil(plan);
    CHECK_THROWS_WITH(compiled::check_plan(good.system, plan), Contains(why));
  };
  const auto strips = [](compiled::Plan& plan) -> compiled::Kernel& {
    return *std::find_if(plan.kernels.begin(), plan.kernels.end(), [](const auto& k) { return k.kind == compiled::KernelKind::strips; });
  };
  refused("strips are of whole tiles", [&](auto& plan) { ++strips(plan).strips->rows; });
  refused("rows of tiles are those of strips", [&](auto& plan) { ++strips(plan).strips->schedules.begin()->second.row; });
  refused("columns of tiles are no loop of strips", [&](auto& plan) {
    auto& [statement, schedule] = *strips(plan).strips->schedules.begin();
    schedule.column = strips(plan).statements[statement].shared.back();
  });
  refused("strips are of a kernel of that kind", [&](auto& plan) { strips(plan).kind = compiled::KernelKind::loops; });
  const auto of_strip = [](compiled::Plan& plan, bool taken) -> compiled::Residence& {
    return *std::find_if(plan.residences.begin(), plan.residences.end(), [&](const auto& r) { return r.home == compiled::Home::turn && (r.stead >= 0) == taken && r.bytes > 1000; });
  };
  refused("of a strip has another size", [&](auto& plan) { of_strip(plan, false).bytes -= 4; });
  refused("after its rows were given away", [&](auto& plan) {
    // Values that are needed at the same time get one memory.
    const auto first = static_cast<std::size_t>(of_strip(plan, true).stead);
    for (std::size_t t = 0; t < plan.residences.size(); ++t) {
      compiled::Residence& r = plan.residences[t];
      if (r.home == compiled::Home::turn && t != first && r.bytes == plan.residences[first].bytes) r.stead = static_cast<TensorId>(first);
    }
  });
}

TEST_CASE("loops that end early are serial and not shared", "[compiled][strips][verify]") {
  compiled::Compilation good = lowered(Attention{1, 1, 37, 53, 8}.system(), always());
  std::size_t spoilt = 0;
  for (compiled::loops::Nest& nest : good.nests) {
    auto* outer = std::get_if<compiled::loops::Loop>(&nest.steps.back().is);
    if (outer == nullptr || outer->bind != compiled::loops::Bind::cores) continue;
    compiled::loops::Loop& loop = *outer;
    loop.limit = spec::integer(1);
    CHECK_THROWS_WITH(compiled::loops::verify(good.system, nest), Contains("a loop that threads share has no limit") || Contains("lanes have no limit"));
    ++spoilt;
  }
  CHECK(spoilt > 0);
}

}  // namespace etalon::test
