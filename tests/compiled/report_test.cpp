// What the report says, against counts that do not come from the planner: allocations, and a sweep over the dump.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>

#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

namespace {

/// Bytes that the linker's wrapping of aligned_alloc and free (tests/CMakeLists.txt) saw: buffers ask for memory there.
std::size_t allocated = 0;
std::size_t allocations = 0;
std::size_t live = 0;

/// Bytes of what was allocated and not yet freed, by whatever thread. It outlives those who free last.
struct LiveBlocks {
  std::mutex mutex;
  std::map<void*, std::size_t> bytes;
};

LiveBlocks& live_blocks() {
  static auto& blocks = *new LiveBlocks;
  return blocks;
}

}  // namespace

extern "C" void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
extern "C" void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes);
extern "C" void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  const std::lock_guard lock(live_blocks().mutex);
  allocated += bytes;
  ++allocations;
  live += bytes;
  void* block = __real_aligned_alloc(alignment, bytes);
  live_blocks().bytes[block] = bytes;
  return block;
}

extern "C" void __real_free(void* block);
extern "C" void __wrap_free(void* block);
extern "C" void __wrap_free(void* block) {
  {
    LiveBlocks& blocks = live_blocks();
    const std::lock_guard lock(blocks.mutex);
    if (const auto found = blocks.bytes.find(block); found != blocks.bytes.end()) {
      live -= found->second;
      blocks.bytes.erase(found);
    }
  }
  __real_free(block);
}

namespace etalon::test {
namespace {

using compiled::Keeping;
using compiled::ValueReport;

constexpr const char* step = R"(parameter w : f32[50, 30]
parameter v : f32[10, 50]
parameter mw : f32[50, 30]
parameter mv : f32[10, 50]
input x : f32[40, 30]
input target : f32[40, 10]
index t : i64[]
z = linear(x, w, _)
h = tanh(z)
y = linear(h, v, _)
view = transpose(y) {permutation = [1, 0]}
back = transpose(view) {permutation = [1, 0]}
loss = mse(back, target) {reduction = mean}
gw, gv = vjp(loss; w, v)
w1, m1 = sgd(w, gw, mw, t) {lr = 0.1, momentum = 0.9}
v1, n1 = sgd(v, gv, mv, t) {lr = 0.1, momentum = 0.9}
output loss, y
update w := w1
update v := v1
update mw := m1
update mv := n1
)";

const ValueReport& value(const compiled::Report& report, const std::string& name) {
  for (const ValueReport& v : report.values) {
    if (v.name == name) return v;
  }
  FAIL("no value " + name);
  return report.values.front();
}

struct Life {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t first_byte = 0;
  std::size_t last_byte = 0;
};

/// The blocks of the arena as the dump of the plan has them; one in another's place is alive as long as it is used.
std::vector<Life> lives_in(const std::string& plan, std::size_t kernels) {
  static const std::regex line(R"(arena \[(\d+), (\d+)\): from kernel (\d+) to (\d+|the end))");
  std::vector<Life> lives;
  for (std::sregex_iterator it(plan.begin(), plan.end(), line), end; it != end; ++it) {
    const std::smatch& m = *it;
    lives.push_back({std::stoul(m[3]), m[4] == "the end" ? kernels : std::stoul(m[4]), std::stoul(m[1]), std::stoul(m[2])});
  }
  return lives;
}

}  // namespace

TEST_CASE("peak bytes are those that are allocated, and a run takes none besides", "[compiled][report]") {
  const spec::Program program = spec::parse_program(step);
  const std::size_t before = allocated;
  const std::size_t count = allocations;
  const compiled::Executable e = compiled::compile(program, options());
  compiled::Store store;
  e.declare(store);
  for (const spec::Input& i : program.inputs) {
    HostTensor numbers(i.dtype, i.dims);
    store.write(i.name, numbers);
  }
  std::vector<HostTensor> outputs;
  e.run_into(outputs, store);
  std::size_t held = allocated - before;
  const std::size_t buffers = allocations - count;
  for (const HostTensor& o : outputs) held += o.bytes.size();
  // Each buffer is rounded up to whole lines.
  REQUIRE(buffers >= 6);
  CHECK(held >= e.report().peak_bytes() - e.report().stack_bytes);
  CHECK(held <= e.report().peak_bytes() - e.report().stack_bytes + 128 * buffers);
  const std::size_t after = allocations;
  e.run_into(outputs, store);
  CHECK(allocations == after);
}

TEST_CASE("peak bytes count what derivatives hold and what threads have of their own", "[compiled][report][sound]") {
  const spec::Program program = spec::parse_program(
      "input q : f32[1, 2, 300, 16]\ninput k : f32[1, 2, 900, 16]\ninput v : f32[1, 2, 900, 16]\n"
      "y = scaled_dot_product_attention(q, k, v, _, _)\noutput y\n");
  std::vector<HostTensor> in;
  for (const spec::Input& i : program.inputs) in.push_back(normal_numbers(i.dtype, i.dims, static_cast<unsigned>(in.size())));
  const std::size_t before = live;
  {
    compiled::CompileOptions o = options();
    o.threads = 3;
    o.least_shared_work = 0;
    const compiled::Executable e = compiled::compile(program, o);
    const auto check = [&] {
      CHECK(live - before >= e.report().arena_bytes);
      CHECK(live - before <= e.report().arena_bytes + 128);
      CHECK(e.report().stack_bytes >= 3);
      CHECK(e.report().peak_bytes() == e.report().arena_bytes + e.report().stack_bytes + e.report().input_bytes + e.report().output_bytes);
    };
    check();
    const auto once = e.run(in);
    const std::size_t forward = e.report().arena_bytes;
    CHECK(forward > 3 * 900 * sizeof(float));
    (void)e.vjp(in, {true, true, true}, std::vector{std::optional(normal_numbers(DType::f32, {1, 2, 300, 16}, 7))});
    check();
    CHECK(e.report().arena_bytes > forward);
    // The forward pass in the arena that has moved.
    CHECK(e.run(in) == once);
    (void)e.jvp(in, std::vector<std::optional<HostTensor>>{in[0], in[1], in[2]});
    check();
  }
  CHECK(live == before);
}

TEST_CASE("the arena is as large as a sweep over the lives of the dump finds", "[compiled][report]") {
  compiled::CompileOptions o = options();
  std::string plan;
  o.dump_after = {"plan"};
  o.dump = [&](std::string_view what, const std::string& text) {
    if (what == "plan") plan = text;
  };
  const compiled::Executable e = compiled::compile(spec::parse_program(step), o);
  const std::vector<Life> lives = lives_in(plan, e.report().kernels);
  REQUIRE(lives.size() >= 3);
  std::size_t highest = 0;
  std::size_t most = 0;
  for (std::size_t k = 0; k <= e.report().kernels; ++k) {
    std::size_t live = 0;
    for (const Life& a : lives) {
      if (k < a.begin || k > a.end) continue;
      live += a.last_byte - a.first_byte;
      highest = std::max(highest, a.last_byte);
      for (const Life& b : lives) {
        if (&a == &b || k < b.begin || k > b.end) continue;
        CHECK((a.last_byte <= b.first_byte || b.last_byte <= a.first_byte));
      }
    }
    most = std::max(most, live);
  }
  CHECK(highest <= e.report().arena_bytes);
  CHECK(e.report().arena_bytes < highest + 64);
  CHECK(most <= e.report().arena_bytes);
}

TEST_CASE("every value's keeping is reported with its reason", "[compiled][report]") {
  compiled::CompileOptions o = options();
  o.explain = true;
  const compiled::Executable e = compiled::compile(spec::parse_program(step), o);
  const compiled::Report& r = e.report();
  CHECK(value(r, "w").keeping == Keeping::shared);
  CHECK(value(r, "y").keeping == Keeping::shared);
  CHECK(value(r, "w1").keeping == Keeping::shared);
  CHECK(value(r, "view").keeping == Keeping::inlined);
  CHECK(value(r, "h").keeping == Keeping::stored);
  CHECK(value(r, "z").keeping != Keeping::inlined);
  for (const ValueReport& v : r.values) {
    INFO(v.name);
    CHECK_FALSE(v.reason.empty());
    CHECK((v.keeping == Keeping::stored || v.keeping == Keeping::shared) == (v.bytes > 0 && v.where.find("iteration") == std::string::npos));
  }
  // Without being asked nobody looks.
  CHECK(compiled::compile(spec::parse_program(step), options()).report().values.empty());
}

TEST_CASE("kernels report the bytes that they move", "[compiled][report]") {
  System s;
  const TensorId table = input(s, "table", DType::f32, {1000, 8});
  const TensorId rows = input(s, "rows", DType::i64, {5});
  const TensorId y = output(s, "y", DType::f32, {5, 8});
  const auto b = s.bind_all(y);
  const Expr row = s.at(rows, {spec::variable(b[0])});
  const Expr inside = spec::apply(Primitive::le, {spec::integer(0), row}) && spec::apply(Primitive::lt, {row, spec::integer(1000)});
  s.define(y, b, spec::select(inside, s.at(table, {row, spec::variable(b[1])}), spec::decimal(0)));
  const compiled::Executable e = compiled::compile_system(s, options());
  REQUIRE(e.report().kernel_reports.size() == 1);
  // Five rows of the table, five numbers of them, forty results.
  CHECK(e.report().kernel_reports[0].read_bytes == 5 * 8 * 4 + 5 * 8);
  CHECK(e.report().kernel_reports[0].written_bytes == 5 * 8 * 4);
  CHECK(e.report().peak_bytes() - e.report().stack_bytes == 1000 * 8 * 4 + 5 * 8 + 5 * 8 * 4);
}

}  // namespace etalon::test
