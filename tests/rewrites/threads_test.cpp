// One code generator and one pool of threads serve many programs at once.
#include <catch2/catch.hpp>

#include <filesystem>
#include <iterator>
#include <thread>

#include "compiled/runtime/processor.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

std::size_t threads_of_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Runs all of them at once, each on a thread of its own.
template <class Each>
void at_once(std::size_t count, Each each) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&each, i] { each(i); });
  for (std::thread& t : threads) t.join();
}

}  // namespace

TEST_CASE("several threads compile with one code generator", "[sound]") {
  constexpr std::size_t count = 6;
  constexpr std::size_t rounds = 3;
  std::vector<spec::System> systems;
  std::vector<std::vector<HostTensor>> inputs, expected;
  for (std::uint32_t i = 0; i < count; ++i) {
    systems.push_back(drawn_system(100 + i, Sums::rounded));
    inputs.push_back(drawn_inputs(systems.back(), i));
    compiled::CompileOptions alone = eager();
    alone.device = std::make_shared<compiled::Processor>();
    expected.push_back(outputs_of(systems.back(), alone, inputs.back()));
  }
  compiled::CompileOptions shared = eager();
  shared.device = std::make_shared<compiled::Processor>();
  std::vector<std::size_t> right(count);
  at_once(count, [&](std::size_t i) {
    for (std::size_t round = 0; round < rounds; ++round) right[i] += same_bits(outputs_of(systems[i], shared, inputs[i]), expected[i]) ? 1 : 0;
  });
  CHECK(right == std::vector<std::size_t>(count, rounds));
}

TEST_CASE("a program and its derivatives have one pool of threads", "[sound]") {
  const spec::Program program = spec::parse_program("input x : f32[64, 64]\ninput w : f32[64, 64]\ny = matmul(x, w)\nz = tanh(y)\noutput z\n");
  compiled::CompileOptions options = eager();
  options.threads = 3;
  options.least_shared_work = 0;
  const std::vector<HostTensor> inputs = drawn_inputs(spec::lower(program), 1);
  const std::size_t before = threads_of_process();
  const compiled::Executable e = compiled::compile(program, options);
  const std::vector<std::optional<HostTensor>> both{inputs[0], inputs[1]}, one{inputs[0], std::nullopt}, cotangent{inputs[0]};
  for (int run = 0; run < 2; ++run) {
    (void)e.run(inputs);
    (void)e.jvp(inputs, both);
    (void)e.jvp(inputs, one);
    (void)e.vjp(inputs, {true, true}, cotangent);
    (void)e.vjp(inputs, {false, true}, cotangent);
  }
  CHECK(e.report().shared_kernels > 0);
  CHECK(threads_of_process() - before == options.threads - 1);
}

TEST_CASE("programs that share a pool run at the same time", "[sound]") {
  compiled::CompileOptions options = eager();
  options.threads = 3;
  options.least_shared_work = 0;
  constexpr std::size_t count = 4;
  std::vector<compiled::Executable> programs;
  std::vector<std::vector<HostTensor>> inputs, expected;
  for (std::uint32_t i = 0; i < count; ++i) {
    const spec::System system = drawn_system(200 + i, Sums::rounded);
    inputs.push_back(drawn_inputs(system, i));
    expected.push_back(outputs_of(system, eager(), inputs.back()));
    programs.push_back(compiled::compile_system(system, options));
  }
  std::vector<std::size_t> right(count);
  constexpr std::size_t rounds = 20;
  at_once(count, [&](std::size_t i) {
    for (std::size_t round = 0; round < rounds; ++round) right[i] += same_bits(programs[i].run(inputs[i]), expected[i]) ? 1 : 0;
  });
  CHECK(right == std::vector<std::size_t>(count, rounds));
}

}  // namespace etalon::test
