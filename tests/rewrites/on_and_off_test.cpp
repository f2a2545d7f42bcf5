// Whatever is left out of the way from equations to machine code: the bits of the outputs are the same. The order in which a sum is
// added belongs to its kernel (decision 0006), so where a rewrite makes other kernels the sums are such that every order gives the
// same bits; where it does not, they are sums of any numbers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/directed_systems.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

constexpr std::uint32_t systems = 24;

/// Compares the outputs of one system with and without each rewrite. \returns those without which other loops come of it.
std::vector<std::string> compare(const spec::System& system, const std::vector<HostTensor>& inputs, Sums sums,
                                 const compiled::CompileOptions& options) {
  const compiled::Compilation with = lowered(system, options);
  const std::vector<HostTensor> expected = outputs_of(system, options, inputs);
  std::vector<std::string> met;
  for (const Named& rewrite : all_rewrites()) {
    if (rewrite.orders_sums && sums == Sums::rounded) continue;
    const compiled::CompileOptions off = without(options, rewrite.name);
    if (alike(with, lowered(system, off))) continue;
    met.push_back(rewrite.name);
    INFO("without " << rewrite.name);
    CHECK(same_bits(outputs_of(system, off, inputs), expected));
  }
  return met;
}

std::vector<std::string> compare(std::uint32_t seed, Sums sums, const compiled::CompileOptions& options) {
  INFO("seed " << seed);
  const spec::System system = drawn_system(seed, sums);
  return compare(system, drawn_inputs(system, seed), sums, options);
}

/// The compiler as it is used, for programs that are large enough without being eager.
compiled::CompileOptions usual() {
  compiled::CompileOptions options;
  options.device = eager().device;
  return options;
}

/// Programs that must be equal besides drawn systems: parameters in panels, and a budget.
std::string step_of(const char* m, const char* v) {
  const std::string types[] = {m, v};
  return "parameter w : f32[64, 32]\nparameter m : " + types[0] + "[64, 32]\nparameter v : " + types[1] +
         "[64, 32]\ninput x : f32[40, 32]\ninput d : f32[40, 64]\ny = linear(x, w, _)\ng = vjp(y; w; d)\n"
         "m2 = cast(m) {dtype = f32}\nms = scale(m2) {by = 0.9}\nmg = add(ms, g)\nm1 = cast(mg) {dtype = " + types[0] + "}\n"
         "gv = cast(g) {dtype = " + types[1] + "}\nvs = scale(v) {by = 0.7}\nv1 = add(vs, gv)\n"
         "a = cast(m1) {dtype = f32}\nb = cast(v1) {dtype = f32}\na1 = scale(a) {by = 0.1}\nb1 = scale(b) {by = 0.3}\n"
         "w2 = sub(w, a1)\nw1 = sub(w2, b1)\noutput y\nupdate w := w1\nupdate m := m1\nupdate v := v1\n";
}

}  // namespace

TEST_CASE("no rewrite changes a bit of what sums of any order leave", "[sound]") {
  std::map<std::string, int> met;
  for (std::uint32_t seed = 1; seed <= systems; ++seed) {
    for (const std::string& name : compare(seed, Sums::exact, eager())) ++met[name];
  }
  for (const Directed& directed : directed_programs()) {
    const spec::System system = spec::lower(spec::parse_program(directed.text));
    const std::vector<HostTensor> inputs = directed.sums == Sums::exact ? whole_inputs(system, 1) : drawn_inputs(system, 1);
    const std::vector<std::string> names = compare(system, inputs, directed.sums, usual());
    for (const std::string& name : names) ++met[name];
    for (const std::string_view name : directed.meets) {
      INFO(directed.text << "without " << name);
      CHECK(std::find(names.begin(), names.end(), name) != names.end());
    }
  }
  for (const Named& rewrite : all_rewrites()) {
    // Parameters and budgets have tests of their own below, and what is for grids alone has them there (tests/cuda/copies_test.cpp).
    const std::set<std::string> not_drawn{"keep", "in_place", "budget", "copies"};
    if (not_drawn.contains(rewrite.name)) continue;
    INFO(rewrite.name);
    CHECK(met[rewrite.name] > 0);
  }
}

TEST_CASE("directed programs meet their rewrites on vectors of 32 bytes and of 64", "[sound]") {
  for (const compiled::Machine& machine : {compiled::Machine{8, 16}, compiled::Machine{16, 32}}) {
    for (const Directed& directed : directed_programs()) {
      const spec::System system = spec::lower(spec::parse_program(directed.text));
      const compiled::Compilation with = lowered(system, usual(), machine);
      for (const std::string_view name : directed.meets) {
        INFO(directed.text << "without " << name << ", " << machine.lanes_f32 << " numbers in a vector");
        CHECK_FALSE(alike(with, lowered(system, without(usual(), std::string(name)), machine)));
      }
    }
  }
}

TEST_CASE("what makes no other kernels changes no bit of any sum", "[sound]") {
  int compared = 0;
  for (std::uint32_t seed = 1; seed <= systems; ++seed) compared += static_cast<int>(compare(seed, Sums::rounded, eager()).size());
  CHECK(compared > 30);
}

TEST_CASE("parameters in panels and in place keep the bits of every type of state", "[sound]") {
  std::size_t in_panels = 0;
  for (const char* m : {"f16", "bf16", "f32", "f64"}) {
    for (const char* v : {"f16", "bf16", "f32", "f64"}) {
      const spec::Program program = spec::parse_program(step_of(m, v));
      const auto after_steps = [&](compiled::CompileOptions options) {
        options.explain = true;
        const compiled::Executable step = compiled::compile(program, options);
        if (options.off.empty()) {
          in_panels += static_cast<std::size_t>(std::count_if(step.report().values.begin(), step.report().values.end(), [](const auto& value) { return !value.layout.empty(); }));
        }
        compiled::Store store;
        step.declare(store);
        const auto tensor = [&](const spec::Input& input) {
          spec::System one;
          one.inputs.push_back(one.add_tensor(input.name, input.dtype, input.dims));
          return drawn_inputs(one, static_cast<std::uint32_t>(input.name.front())).front();
        };
        for (const spec::Input& input : program.inputs) store.put(input.name, tensor(input));
        std::vector<HostTensor> all;
        for (int run = 0; run < 3; ++run) {
          for (HostTensor& output : step.run(store)) all.push_back(std::move(output));
        }
        for (const char* name : {"w", "m", "v"}) all.push_back(store.read(name));
        return all;
      };
      const std::vector<HostTensor> expected = after_steps(eager());
      for (const char* name : {"keep", "in_place"}) {
        INFO(m << " " << v << " without " << name);
        CHECK(same_bits(after_steps(without(eager(), name)), expected));
      }
    }
  }
  CHECK(in_panels > 0);
}

TEST_CASE("values that are computed again for a memory budget keep their bits", "[sound]") {
  std::size_t again = 0;
  for (std::uint32_t seed = 1; seed <= systems / 2; ++seed) {
    const spec::System system = drawn_system(seed, Sums::rounded);
    const std::vector<HostTensor> inputs = drawn_inputs(system, seed);
    compiled::CompileOptions options = eager();
    const std::size_t bytes = lowered(system, options).plan.arena_bytes;
    for (const std::size_t eighths : {7U, 6U, 5U}) {
      options.plan.memory_budget = bytes * eighths / 8;
      try {
        const compiled::Compilation fitted = lowered(system, options);
        again += fitted.plan.recomputations.size();
      } catch (const SpecViolation&) {
        continue;  // too few bytes for this one
      }
      INFO("seed " << seed << " with " << eighths << " eighths");
      CHECK(same_bits(outputs_of(system, options, inputs), outputs_of(system, without(options, "budget"), inputs)));
    }
  }
  CHECK(again > 0);
}

TEST_CASE("recompute keeps the reader's arithmetic", "[sound]") {
  const std::string flips = "input x : f32[8, 5]\nz = scale(x) {by = 0.1}\nf = flip(z) {axes = [0]}\ng = flip(z) {axes = [1]}\n"
                            "c = cast(f) {dtype = f64}\nd = cast(g) {dtype = f64}\n";
  HostTensor ones(DType::f32, {8, 5});
  for (float& x : ones.view<float>()) x = 1;
  const double expected = static_cast<double>(0.1F);
  for (const char* outputs : {"output c, d\n", "output c, d, z\n"}) {
    for (const char* off : {"recompute", "inline_locals", ""}) {
      compiled::CompileOptions options;
      if (*off != 0) options.off = {off};
      const std::vector<HostTensor> all = compiled::compile(spec::parse_program(flips + outputs), options).run(std::vector<HostTensor>{ones});
      std::size_t equal = 0;
      for (const std::size_t o : {0U, 1U}) {
        for (const double value : all.at(o).view<double>()) equal += value == expected ? 1 : 0;
      }
      INFO(outputs << " without " << off);
      CHECK(equal == 80);
    }
  }
}

TEST_CASE("every rewrite can be left out by name", "[sound]") {
  const spec::System system = drawn_system(3, Sums::exact);
  for (const Named& rewrite : all_rewrites()) CHECK_NOTHROW(lowered(system, without(eager(), rewrite.name)));
  for (const char* name : {"split_products", "keep", "lift", "strips", "pack", "passing", "recompute", "budget"}) {
    const auto all = all_rewrites();
    CHECK(std::count_if(all.begin(), all.end(), [&](const Named& r) { return r.name == name; }) == 1);
  }
  CHECK_THROWS_WITH(lowered(system, without(eager(), "recompte")), "off: unknown stage 'recompte'; did you mean 'recompute'?");
}

TEST_CASE("no kernel computes what nobody reads", "[sound]") {
  // Both readers compute the absolute values themselves.
  const spec::Program program = spec::parse_program("input x : f32[1024, 1024]\ny = abs(x)\ns = sum(y)\nm = max(y)\noutput s, m\n");
  const compiled::Executable e = compiled::compile(program, eager());
  std::size_t stored = 0;
  for (const compiled::KernelReport& k : e.report().kernel_reports) stored += k.written_bytes;
  CHECK(stored < 1024 * sizeof(float) * 4);
  CHECK(e.report().arena_bytes < 1024 * sizeof(float) * 4);
  // Whatever is stored in the arena is read by a kernel.
  std::size_t seen = 0;
  for (std::uint32_t seed = 1; seed <= systems; ++seed) {
    const compiled::Compilation with = lowered(drawn_system(seed, Sums::exact), eager());
    std::vector<bool> read(with.system.tensors.size());
    const auto note = [&](const spec::Expr& x) {
      if (x.form() == spec::Form::read) read[static_cast<std::size_t>(x->tensor)] = true;
    };
    for (const spec::Equation& equation : with.system.equations) {
      spec::for_each(equation.value, note);
      for (const spec::Expr& p : equation.place) spec::for_each(p, note);
    }
    for (std::size_t t = 0; t < read.size(); ++t) {
      if (with.plan.residences[t].home != compiled::Home::arena) continue;
      INFO("seed " << seed << ", " << with.system.tensors[t].name);
      CHECK(read[t]);
      ++seen;
    }
  }
  CHECK(seen > systems);
}

TEST_CASE("no bit depends on the host's caches", "[sound]") {
  const auto with_caches = [](compiled::CompileOptions options, std::int64_t near, std::int64_t middle, std::int64_t last) {
    options.schedule.near_cache_bytes = near;
    options.schedule.middle_cache_bytes = middle;
    options.schedule.last_cache_bytes = last;
    return options;
  };
  std::size_t other_loops = 0;
  for (std::uint32_t seed = 1; seed <= systems / 2; ++seed) {
    const spec::System system = drawn_system(seed, Sums::rounded);
    const std::vector<HostTensor> inputs = drawn_inputs(system, seed);
    compiled::CompileOptions plain = eager();
    plain.schedule.always = seed % 2 == 0;
    const compiled::CompileOptions small = with_caches(plain, 1 << 10, 1 << 12, 1 << 13), large = with_caches(plain, 1 << 20, 1 << 26, 1 << 29);
    const compiled::Compilation a = lowered(system, small), b = lowered(system, large);
    INFO("seed " << seed);
    CHECK(spec::to_text(a.system) == spec::to_text(b.system));
    CHECK(a.plan.kernels.size() == b.plan.kernels.size());
    if (alike(a, b)) continue;
    ++other_loops;
    CHECK(same_bits(outputs_of(system, small, inputs), outputs_of(system, large, inputs)));
  }
  CHECK(other_loops > 0);
  // The gradient of a convolution, whose sum over images falls into parts where its factors are large; attention and its gradient.
  for (const char* text : {"input x : f32[8, 16, 40, 40]\ninput k : f32[16, 16, 3, 3]\ninput d : f32[8, 16, 38, 38]\ny = conv2d(x, k, _)\ng = vjp(y; k; d)\noutput g\n",
                           "input q : f32[1, 2, 600, 32]\ninput k : f32[1, 2, 600, 32]\ninput v : f32[1, 2, 600, 32]\ninput d : f32[1, 2, 600, 32]\n"
                           "y = scaled_dot_product_attention(q, k, v, _, _)\na, b, c = vjp(y; q, k, v; d)\noutput y, a, b, c\n"}) {
    const spec::System system = spec::lower(spec::parse_program(text));
    const std::vector<HostTensor> inputs = drawn_inputs(system, 1);
    compiled::CompileOptions plain = eager();
    plain.schedule.always = false;
    std::vector<std::vector<HostTensor>> all;
    std::vector<std::string> equations;
    for (const std::int64_t middle : {std::int64_t{1} << 14, std::int64_t{1} << 18, std::int64_t{1} << 21, std::int64_t{1} << 28}) {
      const compiled::CompileOptions options = with_caches(plain, middle / 32, middle, 4 * middle);
      equations.push_back(spec::to_text(lowered(system, options).system));
      all.push_back(outputs_of(system, options, inputs));
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
      CHECK(equations[i] == equations[0]);
      CHECK(same_bits(all[i], all[0]));
    }
  }
}

}  // namespace etalon::test
