// Executables of one compilation that run at the same time: each computes what it computes alone, bit for bit.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "compiled/runtime/thread_pool.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using compiled::Executable;

namespace {

constexpr std::size_t count = 3;   ///< executables
constexpr std::size_t rounds = 8;  ///< runs of each

/// A step of training whose intermediates are in the arena, with a scatter, a copy at the end and a captured value.
constexpr const char* step = R"(
parameter w : f32[50, 30]
parameter table : f32[9, 30]
input x : f32[40, 30]
input i : i64[40]
input target : f32[40, 50]
index t : i64[]
rows = gather(table, i)
sum = add(rows, x)
z = linear(sum, w, _)
h = tanh(z)
loss = mse(h, target) {reduction = mean}
gw, gt = vjp(loss; w, table)
w1 = sub(w, gw)
t1 = sub(table, gt)
output loss, h
update w := w1
update table := t1
capture z
)";

/// Runs all of them at once, each on a thread of its own, none before all are there.
template <class Each>
void at_once(Each each) {
  std::vector<std::thread> threads;
  std::atomic<std::size_t> there{0};
  for (std::size_t n = 0; n < count; ++n) {
    threads.emplace_back([&, n] {
      ++there;
      while (there < count) std::this_thread::yield();
      each(n);
    });
  }
  for (std::thread& t : threads) t.join();
}

compiled::CompileOptions with_threads(unsigned threads) {
  compiled::CompileOptions o = options();
  o.threads = threads;
  o.least_shared_work = 0;
  o.plan.in_place = false;
  o.plan.stack_bytes = 0;  // kernels have memory of their own in the arena
  return o;
}

/// Numbers of one executable's own.
HostTensor drawn(const spec::Input& i, std::size_t n) {
  if (i.dtype != DType::i64) return small_integers(i.dtype, i.dims, static_cast<unsigned>(n * 31 + static_cast<std::size_t>(i.dims.count())));
  HostTensor t(i.dtype, i.dims);
  std::int64_t next = static_cast<std::int64_t>(n);
  for (std::int64_t& v : t.view<std::int64_t>()) v = next++ % 9;
  return t;
}

compiled::Store filled(const spec::Program& program, std::size_t n) {
  compiled::Store store;
  for (const spec::Input& i : program.inputs) store.put(i.name, drawn(i, n));
  return store;
}

/// What training leaves: outputs and captured values of each step, and parameters in the end.
std::vector<HostTensor> trained(const Executable& e, compiled::Store& store) {
  std::vector<HostTensor> all, outputs;
  const compiled::Bound bound = e.bind(store);
  for (std::size_t round = 0; round < rounds; ++round) {
    bound.run_into(outputs);
    all.insert(all.end(), outputs.begin(), outputs.end());
    all.push_back(e.captured("z"));
  }
  for (const char* name : {"w", "table"}) all.push_back(store.read(name));
  return all;
}

}  // namespace

TEST_CASE("copies of an executable train at the same time", "[compiled][at_once]") {
  const spec::Program program = spec::parse_program(step);
  for (const unsigned threads : {1U, 2U}) {
    const Executable one = compiled::compile(program, with_threads(threads));
    std::vector<std::vector<HostTensor>> alone(count), found(count);
    std::vector<compiled::Store> stores(count);
    for (std::size_t n = 0; n < count; ++n) {
      stores[n] = filled(program, n);
      alone[n] = trained(one, stores[n]);
      stores[n] = filled(program, n);
    }
    REQUIRE_FALSE(alone[0] == alone[1]);
    std::vector<Executable> copies(count, one);
    at_once([&](std::size_t n) { found[n] = trained(copies[n], stores[n]); });
    for (std::size_t n = 0; n < count; ++n) CHECK(found[n] == alone[n]);
    CHECK(copies[0].report().arena_bytes == one.report().arena_bytes);
  }
}

TEST_CASE("what is made when it is needed is made once for all copies", "[compiled][at_once]") {
  const spec::Program program = spec::parse_program(step);
  const Executable one = compiled::compile(program, with_threads(2));
  std::vector<std::vector<HostTensor>> inputs(count);
  for (std::size_t n = 0; n < count; ++n) {
    for (const spec::Input& i : program.inputs) inputs[n].push_back(drawn(i, n));
  }
  const std::vector<bool> wrt{true, true, true, false, false, false};
  const auto gradients = [&](const Executable& e, std::size_t n) {
    std::vector<HostTensor> all = e.run(inputs[n]);
    const std::vector<HostTensor> like = all;
    const compiled::Derivatives d = e.vjp(inputs[n], wrt, std::vector<std::optional<HostTensor>>(like.begin(), like.end()));
    for (const auto& r : d.results) all.push_back(r.value_or(HostTensor(DType::f32, {})));
    return all;
  };
  std::vector<std::vector<HostTensor>> found(count);
  const std::vector<Executable> copies(count, one);
  at_once([&](std::size_t n) { found[n] = gradients(copies[n], n); });
  for (std::size_t n = 0; n < count; ++n) {
    REQUIRE(found[n].size() == 2 + wrt.size());
    CHECK(found[n] == gradients(one, n));
  }
}

TEST_CASE("a store that nobody updates is read by several at once", "[compiled][at_once]") {
  const spec::Program program =
      spec::parse_program("parameter w : f32[64, 48]\ninput x : f32[40, 48]\ny = linear(x, w, _)\nz = softmax(y)\noutput z\n");
  compiled::Store store;
  for (const spec::Input& i : program.inputs) store.put(i.name, drawn(i, 5));
  const std::vector<Executable> copies(count, compiled::compile(program, with_threads(2)));
  const std::vector<HostTensor> expected = copies[0].run(store);  // it also decides how the parameter lies
  std::vector<std::size_t> right(count);
  at_once([&](std::size_t n) {
    const compiled::Bound bound = copies[n].bind(store);
    std::vector<HostTensor> outputs;
    for (std::size_t round = 0; round < rounds; ++round) {
      bound.run_into(outputs);
      right[n] += outputs == expected ? 1 : 0;
    }
  });
  CHECK(right == std::vector<std::size_t>(count, rounds));
}

TEST_CASE("programs of one number of threads have one pool", "[compiled][at_once]") {
  const auto two = compiled::ThreadPool::of_process(2);
  CHECK(two->threads() == 2);
  CHECK(compiled::ThreadPool::of_process(2) == two);
  CHECK_FALSE(compiled::ThreadPool::of_process(3) == two);
  std::vector<std::shared_ptr<compiled::ThreadPool>> found(count);
  at_once([&](std::size_t n) { found[n] = compiled::ThreadPool::of_process(4); });
  for (const auto& pool : found) CHECK(pool == found[0]);
}
