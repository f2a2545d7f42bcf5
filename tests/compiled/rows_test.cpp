// Loops over one row that become one, and results that are stored around the caches.
#include <catch2/catch.hpp>
#include <sstream>
#include <utility>

#include "compiled/compile.hpp"
#include "compiled/runtime/backend.hpp"
#include "conformance/conform.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

System layer_norm(const std::string& type, std::int64_t rows, std::int64_t columns) {
  const std::string tensor = type + "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
  const std::string row = type + "[" + std::to_string(columns) + "]";
  return spec::lower(spec::parse_program("input x : " + tensor + "\ninput g : " + row + "\ninput b : " + row + "\ninput d : " + tensor +
                                         "\ny = layer_norm(x, g, b)\ngx, gg, gb = vjp(y; x, g, b; d)\noutput y, gx, gg, gb\n"));
}

System softmax(std::int64_t rows, std::int64_t columns) {
  return spec::lower(spec::parse_program("input x : f32[" + std::to_string(rows) + ", " + std::to_string(columns) + "]\ny = softmax(x) {axis = -1}\noutput y\n"));
}

/// y[i, k] = 2 x[i, k] + 1.
System line(std::int64_t rows, std::int64_t columns) {
  System s;
  const TensorId x = input(s, "x", DType::f32, {rows, columns});
  const TensorId y = output(s, "y", DType::f32, {rows, columns});
  const auto b = s.bind_all(y);
  s.define(y, b, spec::decimal(2) * s.at(x, variables(b)) + spec::decimal(1));
  return s;
}

/// m[i] = sum[k] x[i, k]; a[i, k] = d[i, k] m[i] + x[i, last - k]; y[i, k] = d[i, k] m[i] + x[i, k].
System mirrored(std::int64_t rows, std::int64_t columns) {
  System s;
  const TensorId x = input(s, "x", DType::f32, {rows, columns});
  const TensorId d = input(s, "d", DType::f32, {rows, columns});
  const TensorId m = output(s, "m", DType::f32, {rows});
  const TensorId a = output(s, "a", DType::f32, {rows, columns});
  const TensorId y = output(s, "y", DType::f32, {rows, columns});
  const auto i = s.bind_all(m);
  const Binder k = s.bind("k", columns);
  s.define(m, i, spec::reduce(spec::Reduction::sum, {k}, spec::boolean(true), s.at(x, {variable(i[0]), variable(k)})));
  const auto at_a = s.bind_all(a);
  const auto at_y = s.bind_all(y);
  const auto scaled = [&](const std::vector<Binder>& b) { return s.at(d, variables(b)) * s.at(m, {variable(b[0])}); };
  s.define(a, at_a, scaled(at_a) + s.at(x, {variable(at_a[0]), spec::integer(columns - 1) - variable(at_a[1])}));
  s.define(y, at_y, scaled(at_y) + s.at(x, variables(at_y)));
  return s;
}

compiled::CompileOptions without_merging() {
  compiled::CompileOptions o = options();
  o.off.insert("merge_rows");
  return o;
}

compiled::CompileOptions without_streaming(compiled::CompileOptions o = options()) {
  o.off.insert("stream");
  return o;
}

compiled::Machine small_machine() {
  compiled::Machine m;
  m.lanes_f32 = 16;
  m.vector_registers = 32;
  return m;
}

/// Caches that small tensors do not fit.
compiled::CompileOptions small_caches() {
  compiled::CompileOptions o = options();
  o.schedule.middle_cache_bytes = 1 << 10;
  o.schedule.last_cache_bytes = 1 << 12;
  return o;
}

std::string loops_on(const compiled::Machine& machine, const System& s, const std::vector<compiled::PlanOptions::Update>& updates = {},
                     const compiled::CompileOptions& o = small_caches()) {
  const compiled::Compilation lowered = compiled::lower_to_loops(s, updates, o, machine);
  std::string text;
  for (const compiled::loops::Nest& nest : lowered.nests) text += compiled::loops::to_text(lowered.system, nest);
  REQUIRE_FALSE(text.empty());
  return text;
}

std::vector<HostTensor> numbers_for(const System& s, bool whole) {
  std::vector<HostTensor> in;
  unsigned seed = 1;
  for (const TensorId t : s.inputs) in.push_back(whole ? small_integers(s[t].dtype, s[t].dims, seed++) : normal_numbers(s[t].dtype, s[t].dims, seed++));
  return in;
}

/// The first lanes loop that was made of several, in these steps.
compiled::loops::Reduce* merged_reduction(std::vector<compiled::loops::Step>& steps) {
  for (compiled::loops::Step& s : steps) {
    if (auto* r = std::get_if<compiled::loops::Reduce>(&s.is)) {
      if (!r->loops.empty() && !r->loops.back().merged.empty()) return r;
    }
    if (auto* loop = std::get_if<compiled::loops::Loop>(&s.is)) {
      if (auto* found = merged_reduction(loop->steps)) return found;
    }
  }
  return nullptr;
}

compiled::loops::Store* streamed_store(std::vector<compiled::loops::Step>& steps, compiled::loops::Loop** lanes) {
  for (compiled::loops::Step& s : steps) {
    auto* loop = std::get_if<compiled::loops::Loop>(&s.is);
    if (loop == nullptr) continue;
    for (compiled::loops::Step& inner : loop->steps) {
      auto* store = std::get_if<compiled::loops::Store>(&inner.is);
      if (store == nullptr || !store->streamed) continue;
      *lanes = loop;
      return store;
    }
    if (auto* found = streamed_store(loop->steps, lanes)) return found;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("what a row is made of is stored and added up in one turn", "[compiled][rows]") {
  const std::string merged = loops_on(small_machine(), layer_norm("f32", 128, 256));
  CHECK_THAT(merged, Contains("in one pass with the loop of y.d, which visits the same elements of y.d"));
  CHECK_THAT(merged, Contains("in one pass with the loop of gg.parts, which visits the same elements of "));
  compiled::CompileOptions o = without_merging();
  CHECK_THAT(loops_on(small_machine(), layer_norm("f32", 128, 256), {}, o), !Contains("in one pass"));
  const std::string row = loops_on(small_machine(), softmax(8, 64));
  CHECK_THAT(row, Contains("in one pass with the loop of y.e, which visits the same elements of y.e"));
  CHECK_THAT(row, !Contains("in one pass with the loop of y,"));  // it waits for the sum
  CHECK_THAT(loops_on(small_machine(), softmax(8, 80)), !Contains("in one pass"));  // exp of 128 lanes instead of 80
}

TEST_CASE("merged loops have the bits of separate ones, for any threads", "[compiled][rows]") {
  for (const char* type : {"f32", "f64", "f16"}) {
    for (const std::int64_t columns : {1, 3, 16, 33, 64, 100, 257}) {
      const System s = layer_norm(type, 64, columns);
      INFO(type << ", rows of " << columns);
      const auto in = numbers_for(s, false);
      const auto apart = compiled_values(s, in, without_merging());
      REQUIRE(apart.size() == 4);
      for (const unsigned threads : {1U, 2U, 3U}) {
        compiled::CompileOptions o = options();
        o.threads = threads;
        o.least_shared_work = 0;
        CHECK(compiled_values(s, in, o) == apart);
      }
    }
  }
}

TEST_CASE("what was written in place of what is read does not move past the readers", "[compiled][rows]") {
  const System s = mirrored(12, 80);
  CHECK_THAT(loops_on(small_machine(), s), Contains("in one pass with the loop of "));
  // y takes the place of x, of which a reads other elements of the row.
  const std::string in_place = loops_on(small_machine(), s, {{0, 2}});
  CHECK_THAT(in_place, !Contains("in one pass with the loop of y"));
  CHECK_THAT(in_place, !Contains("in one pass with the loop of a"));
  const auto in = numbers_for(s, true);
  CHECK(compiled_values(s, in) == reference_values(s, in));
  const spec::Program program = spec::parse_program(
      "parameter x : f32[12, 80]\ninput d : f32[12, 80]\nm = sum(x) {axes = [1], keepdims = true}\ns = mul(d, m)\nf = flip(x) {axes = [1]}\na = add(s, f)\n"
      "y = add(s, x)\nupdate x := y\noutput a\n");
  const compiled::Executable e = compiled::compile(program, options());
  compiled::Store store;
  e.declare(store);
  store.write("x", in[0]);
  const auto expected = reference_values(s, in);
  CHECK(e.run(store, {{"d", in[1]}}).at(0) == expected[1]);
  CHECK(store.read("x") == expected[2]);
}

TEST_CASE("loops that would meet elsewhere than in the element at hand are refused", "[compiled][rows]") {
  const compiled::Compilation sound = compiled::lower_to_loops(softmax(8, 64), {}, small_caches(), small_machine());
  compiled::loops::Nest nest = sound.nests.at(0);
  compiled::loops::verify(sound.system, nest);
  compiled::loops::Reduce* sum = merged_reduction(nest.steps);
  REQUIRE(sum != nullptr);
  const spec::Binder lane = sum->loops.back().binder;
  sum->body = spec::substitute(sum->body, {{lane.variable, spec::integer(lane.extent - 1) - spec::variable(lane)}});
  CHECK_THROWS_WITH(compiled::loops::verify(sound.system, nest), Contains("meet in the element at hand alone"));
}

TEST_CASE("results that fill the caches twice go around them", "[compiled][rows]") {
  const auto streams = [](const System& s, std::int64_t last_cache) {
    compiled::CompileOptions o = small_caches();
    o.schedule.last_cache_bytes = last_cache;
    return loops_on(small_machine(), s, {}, o).find("around the caches") != std::string::npos;
  };
  constexpr std::int64_t x_and_y = 2 * 32 * 64 * 4;
  CHECK(streams(line(32, 64), x_and_y / 2));
  CHECK_FALSE(streams(line(32, 64), x_and_y / 2 + 1));
  CHECK_FALSE(streams(line(64, 72), 1));  // a row does not end with a vector
  CHECK_FALSE(streams(line(65, 65), 1));
  CHECK_FALSE(streams(softmax(32, 64), 1));  // exp takes longer than memory
  CHECK(streams(layer_norm("f32", 64, 64), 1));
  CHECK(streams(layer_norm("f64", 64, 64), 1));
  CHECK_THAT(loops_on(small_machine(), line(32, 64)), Contains("around the caches"));
  CHECK_THAT(loops_on(small_machine(), line(32, 64), {}, without_streaming(small_caches())), !Contains("around the caches"));
  // An output in place of an input stays near, and so does one that an equation reads.
  CHECK_THAT(loops_on(small_machine(), line(64, 64), {{0, 0}}), !Contains("around the caches"));
  const System read = spec::lower(spec::parse_program("input x : f32[64, 64]\ny = scale(x) {by = 3}\nz = softmax(y) {axis = 0}\noutput y, z\n"));
  CHECK_THAT(loops_on(small_machine(), read), !Contains("around the caches"));
}

TEST_CASE("the last cache is no smaller than those before it", "[compiled][rows]") {
  const compiled::Machine machine = shared_processor()->machine();
  CHECK(machine.last_bytes >= machine.middle_bytes);
  CHECK(machine.middle_bytes >= machine.near_bytes);
}

TEST_CASE("a streamed store is a whole vector within lines", "[compiled][rows]") {
  const compiled::Compilation sound = compiled::lower_to_loops(line(32, 64), {}, small_caches(), small_machine());
  compiled::loops::Nest nest = sound.nests.at(0);
  compiled::loops::Loop* lanes = nullptr;
  compiled::loops::Store* store = streamed_store(nest.steps, &lanes);
  REQUIRE(store != nullptr);
  compiled::loops::verify(sound.system, nest);
  lanes->binder.extent = 63;
  CHECK_THROWS_WITH(compiled::loops::verify(sound.system, nest), Contains("around the caches"));
  lanes->binder.extent = 64;
  store->place[1] = store->place[1] + spec::integer(1);
  CHECK_THROWS_WITH(compiled::loops::verify(sound.system, nest), Contains("around the caches"));
}

TEST_CASE("streamed results have every element, and the bits of stored ones", "[compiled][rows]") {
  const bool vectors = shared_processor()->machine().lanes_f32 > 1;
  for (const char* type : {"f32", "f64", "f16"}) {
    const System s = layer_norm(type, 256, 128);
    const auto in = numbers_for(s, false);
    const auto stored = compiled_values(s, in, without_streaming());
    for (const unsigned threads : {1U, 2U, 3U}) {
      compiled::CompileOptions o = options();
      o.schedule.last_cache_bytes = 1;
      o.threads = threads;
      o.least_shared_work = 0;
      INFO(type << ", threads " << threads);
      CHECK((dump_of(s, "loops", o).find("around the caches") != std::string::npos) == vectors);
      CHECK(compiled_values(s, in, o) == stored);
    }
  }
  const System s = line(4096, 1024);
  compiled::CompileOptions o = options();
  o.schedule.last_cache_bytes = 1;
  o.threads = 3;
  const auto in = numbers_for(s, true);
  const auto out = compiled_values(s, in, o);
  const auto x = in[0].view<float>();
  const auto y = out.at(0).view<float>();
  REQUIRE(y.size() == x.size());
  REQUIRE(y.size() == 4096 * 1024);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += y[i] == 2 * x[i] + 1 ? 0U : 1U;
  CHECK(wrong == 0);
}

TEST_CASE("normalisations conform with merged loops", "[compiled][rows]") {
  const auto backend = compiled::make_cpu_backend({});
  conformance::ConformOptions o;
  o.backend_name = "cpu";
  o.operations = {"layer_norm", "softmax", "rms_norm"};
  o.modes = {spec::Mode::forward, spec::Mode::vjp};
  o.jobs = 1;
  std::ostringstream console;
  const int status = run_conform(o, *backend, console);
  INFO(console.str());
  CHECK(status == 0);
}
