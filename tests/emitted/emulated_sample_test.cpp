// A sample of the library as CUDA C++ on the emulated GPU is held to the suite.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "cuda/contract.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/module_text.hpp"
#include "tests/emitted/sample.hpp"

using namespace etalon;
using namespace etalon::test;

TEST_CASE("what the emulated GPU makes of a sample of the library conforms", "[emitted][cuda]") {
  const conformance::ConformOptions options = sample_of("cuda-emulated", {"add", "pow", "gelu", "softmax", "sum", "argmax", "cumsum", "matmul", "conv2d", "gather",
                                                                          "scatter_add", "concat", "layer_norm", "normal", "adam", "cast"});
  std::set<std::string> texts;
  for (const spec::System& s : systems_asked(options)) texts.insert(cuda::module_text(compiled::lower_to_loops(s, {}, {}, cuda::machine)).text);
  REQUIRE(texts.size() > 500);
  const std::vector<std::string> all(texts.begin(), texts.end());
  compiled::source::CCompiler quick = cuda::emulator::host_compiler();
  quick.flags.replace(quick.flags.find("-O1"), 3, "-O0");
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(7, quick);
  constexpr std::size_t at_once = 400;
  for (std::size_t first = 0; first < all.size(); first += at_once) emulator->prepare({all.data() + first, std::min(at_once, all.size() - first)});
  compiled::CompileOptions there;
  there.device = emulator;
  const auto backend = compiled::make_device_backend(there, cuda::contract_of_device("cuda-emulated", "cpu-c"));
  check_conforms(options, *backend);
  CHECK(emulator->compilations() < all.size() / at_once + 50);
}
