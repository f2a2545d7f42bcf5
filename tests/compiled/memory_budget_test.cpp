// A budget for intermediates: kernels change places and values are computed again, and no bit of any output changes.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "compiled/runtime/store.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

namespace etalon::test {
namespace {

using Catch::Matchers::Contains;

/// A program that ends with a loss: its gradient in every parameter and a step with momentum.
std::string trained(const std::string& forward, const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string head;
  std::string tail = "loss = mse(last, target) {reduction = mean}\n";
  std::string names;
  for (const auto& [name, dims] : parameters) {
    head += fmt::format("parameter {} : f32{}\nparameter {}_m : f32{}\n", name, dims, name, dims);
    tail += fmt::format("{}_g = vjp(loss; {})\n{}_1, {}_m1 = sgd({}, {}_g, {}_m, t) {{lr = 0.1, momentum = 0.9}}\n", name, name, name, name, name, name, name);
    names += fmt::format("update {} := {}_1\nupdate {}_m := {}_m1\n", name, name, name, name);
  }
  return head + "index t : i64[]\n" + forward + tail + "output loss, last\n" + names;
}

/// Eight layers, 64 by 96 each.
std::string deep_mlp() {
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string forward = "input x : f32[64, 96]\ninput target : f32[64, 96]\n";
  std::string from = "x";
  for (int l = 1; l <= 8; ++l) {
    parameters.emplace_back(fmt::format("w{}", l), "[96, 96]");
    parameters.emplace_back(fmt::format("b{}", l), "[96]");
    forward += fmt::format("z{0} = linear({1}, w{0}, b{0})\nh{0} = tanh(z{0})\n", l, from);
    from = fmt::format("h{}", l);
  }
  return trained(forward + "last = neg(h8)\n", parameters);
}

std::string cnn() {
  return trained("input x : f32[6, 1, 20, 20]\ninput target : f32[6, 10]\nc1 = conv2d(x, k1, b1) {padding = [1, 1]}\nr1 = relu(c1)\n"
                 "p1 = max_pool2d(r1) {kernel = [2, 2], stride = [2, 2]}\nc2 = conv2d(p1, k2, b2) {padding = [1, 1]}\nr2 = relu(c2)\n"
                 "p2 = max_pool2d(r2) {kernel = [2, 2], stride = [2, 2]}\nf = reshape(p2) {shape = [6, 400]}\nlast = linear(f, w3, b3)\n",
                 {{"k1", "[8, 1, 3, 3]"}, {"b1", "[8]"}, {"k2", "[16, 8, 3, 3]"}, {"b2", "[16]"}, {"w3", "[10, 400]"}, {"b3", "[10]"}});
}

/// Two blocks of a transformer.
std::string gpt() {
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string forward = "input x : f32[3, 20, 32]\ninput target : f32[3, 20, 32]\n";
  std::string from = "x";
  for (int l = 1; l <= 2; ++l) {
    for (const char* row : {"ga", "ba", "gb", "bb", "bo"}) parameters.emplace_back(fmt::format("{}{}", row, l), "[32]");
    for (const char* square : {"wq", "wk", "wv", "wo"}) parameters.emplace_back(fmt::format("{}{}", square, l), "[32, 32]");
    parameters.emplace_back(fmt::format("wi{}", l), "[128, 32]");
    parameters.emplace_back(fmt::format("bi{}", l), "[128]");
    parameters.emplace_back(fmt::format("wx{}", l), "[32, 128]");
    forward += fmt::format("n{0} = layer_norm({1}, ga{0}, ba{0}) {{axes = 2}}\n"
                           "a{0} = multi_head_attention(n{0}, wq{0}, wk{0}, wv{0}, wo{0}, _, _, _, _, _) {{heads = 4, causal = true}}\n"
                           "s{0} = add({1}, a{0})\nm{0} = layer_norm(s{0}, gb{0}, bb{0}) {{axes = 2}}\nu{0} = linear(m{0}, wi{0}, bi{0})\n"
                           "v{0} = gelu(u{0})\ny{0} = linear(v{0}, wx{0}, bo{0})\no{0} = add(s{0}, y{0})\n",
                           l, from);
    from = fmt::format("o{}", l);
  }
  return trained(forward + "last = neg(o2)\n", parameters);
}

/// A store with numbers for all that the program reads.
compiled::Store filled(const compiled::Executable& e, const spec::Program& program) {
  compiled::Store store;
  e.declare(store);
  unsigned seed = 1;
  for (const spec::Input& input : program.inputs) {
    if (input.value) continue;
    HostTensor value(input.dtype, input.dims);
    if (kind_of(input.dtype) == Kind::real) {
      value = normal_numbers(input.dtype, input.dims, seed++);
      if (input.role == spec::Role::parameter) {
        for (float& f : value.view<float>()) f *= 0.1F;
      }
    } else {
      value.view<std::int64_t>()[0] = 1;
    }
    store.write(input.name, value);
  }
  return store;
}

struct Trained {
  std::vector<std::vector<HostTensor>> outputs;  ///< of two steps
  std::map<std::string, HostTensor> store;       ///< afterwards
  std::size_t arena = 0;
  std::string plan;
};

Trained train(const std::string& text, std::optional<std::size_t> budget, unsigned threads = 1) {
  const spec::Program program = spec::parse_program(text);
  compiled::CompileOptions o = options();
  Trained result;
  o.threads = threads;
  o.plan.memory_budget = budget;
  o.dump_after = {"plan"};
  o.dump = [&](std::string_view stage, const std::string& dumped) {
    if (stage == "plan") result.plan = dumped;
  };
  const compiled::Executable e = compiled::compile(program, o);
  result.arena = e.report().arena_bytes;
  compiled::Store store = filled(e, program);
  for (int step = 0; step < 2; ++step) result.outputs.push_back(e.run(store));
  for (const std::string& name : store.names()) result.store.emplace(name, store.read(name));
  return result;
}

/// The least budget that fits, as the refusal of a budget of one byte says.
std::size_t least_of(const std::string& text) {
  try {
    (void)train(text, 1);
  } catch (const SpecViolation& e) {
    const std::string what = e.what();
    CHECK_THAT(what, Contains("memory budget: 1 bytes for intermediates are too few; the least that computing again reaches is "));
    return std::stoul(what.substr(what.find("reaches is ") + 11));
  }
  FAIL("a byte is enough");
  return 0;
}

}  // namespace

TEST_CASE("a training step within a budget computes the same bits in less memory", "[compiled][budget]") {
  for (const auto& [name, text, part] : {std::tuple{"deep MLP", deep_mlp(), 0.55}, std::tuple{"CNN", cnn(), 0.8}, std::tuple{"GPT", gpt(), 0.6}}) {
    INFO(name);
    const Trained free = train(text, std::nullopt);
    CHECK_THAT(free.plan, !Contains("computed again"));
    const std::size_t least = least_of(text);
    INFO("arena of " << free.arena << " bytes, at least " << least);
    CHECK(static_cast<double>(least) <= part * static_cast<double>(free.arena));
    std::size_t before = free.arena;
    for (const double share : {0.0, 0.3, 0.6, 1.0}) {
      const std::size_t budget = free.arena - static_cast<std::size_t>(share * static_cast<double>(free.arena - least));
      const Trained tight = train(text, budget, share == 1.0 ? 2 : 1);
      INFO("budget " << budget << ": " << tight.arena);
      CHECK(tight.arena <= budget);
      CHECK(tight.arena <= before);
      CHECK(tight.outputs == free.outputs);
      CHECK(tight.store == free.store);
      before = tight.arena;
      if (share == 1.0) CHECK_THAT(tight.plan, Contains("computed again: ") && Contains("when most is live"));
    }
  }
}

TEST_CASE("a budget that is kept anyway changes nothing", "[compiled][budget]") {
  const Trained free = train(deep_mlp(), std::nullopt);
  const Trained same = train(deep_mlp(), free.arena);
  CHECK(same.plan == free.plan);
}

TEST_CASE("a plan within a budget is one that the checker accepts", "[compiled][budget]") {
  for (const std::string& text : {deep_mlp(), cnn(), gpt()}) {
    const std::size_t least = least_of(text);
    const spec::Program program = spec::parse_program(text);
    compiled::CompileOptions o = options();
    o.plan.memory_budget = least;
    const compiled::Executable e = compiled::compile(program, o);
    CHECK(e.report().arena_bytes <= least);
    CHECK_NOTHROW(spec::verify(e.system()));
  }
}

}  // namespace etalon::test
