// A sample of the library as C through a compiler is held to the suite. Compilers take nearly all of the time, which sanitizers
// say nothing of: this is built without them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "compiled/runtime/c_backend.hpp"
#include "compiled/runtime/question.hpp"
#include "tests/emitted/sample.hpp"

using namespace etalon;
using namespace etalon::test;
using namespace etalon::compiled;
using spec::System;

TEST_CASE("what a C compiler makes of a sample of the library conforms", "[emitted]") {
  const conformance::ConformOptions options =
      sample_of("cpu-c", {"add",       "remainder", "pow",        "tanh",    "exp",           "gelu",        "softmax",    "logsumexp",
                          "sum",       "max",       "argmax",     "cumsum",  "matmul",        "linear",      "conv2d",     "max_pool2d",
                          "gather",    "one_hot",   "scatter_add", "concat", "flip",          "where",       "layer_norm", "cross_entropy",
                          "lstm_cell", "rope",      "normal",     "adam",    "floor_divide",  "atan2",       "cast",       "scaled_dot_product_attention"});
  // Compilers are slow to start: a first run notes what is asked, which is then compiled some hundreds at a time.
  const std::vector<System> asked = systems_asked(options);
  REQUIRE(asked.size() > 4000);
  std::unordered_multimap<std::size_t, std::pair<const System*, Runner>> made;
  constexpr std::size_t at_once = 400;
  source::CCompiler compiler;
  compiler.flags = "-std=c99 -O0 -Wall -Wextra -Wconversion -ffp-contract=off";
  for (std::size_t first = 0; first < asked.size(); first += at_once) {
    const std::span<const System> some(asked.data() + first, std::min(at_once, asked.size() - first));
    const std::vector<Runner> runners = source::run_together_as_c(some, compiler);
    for (std::size_t i = 0; i < some.size(); ++i) made.emplace(hash_of(some[i]), std::pair(&some[i], runners[i]));
  }
  std::size_t later = 0;
  const auto backend = make_system_backend("cpu-c", [&](const System& s) -> Runner {
    const auto [begin, end] = made.equal_range(hash_of(s));
    const auto it = std::find_if(begin, end, [&](const auto& one) { return same(*one.second.first, s); });
    if (it != end) return it->second.second;
    ++later;
    return source::run_as_c(s, compiler);
  });
  check_conforms(options, *backend);
  CHECK(later < 50);
}
