#include <filesystem>
#include <optional>

#include "conformance/interchange/stablehlo/import.hpp"
#include "conformance/interchange/stablehlo/text.hpp"
#include "spec/file.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {

void read_stablehlo(std::string_view text) {
  using namespace conformance::stablehlo;
  std::optional<Module> module;
  if (!accepted([&] { module = read_module(text, "fuzzed"); })) return;
  const Imported imported = import_module(*module, {"fuzzed", ""});
  for (const std::string& line : imported.refused) check_message(line);
  if (!imported.refused.empty()) return;
  const std::string program = to_text(imported.program);
  if (!accepted([&] {
        if (to_text(spec::parse_program(program)) != program)
          broken("an imported program is the same after its text", program);
      }))
    broken("an imported program can be read", program);
  // What is written for the program can be read again.
  std::string written;
  if (!accepted([&] { written = module_text(imported.program); })) return;
  if (!accepted([&] { (void)read_module(written, "written"); }))
    broken("a module that is written can be read", written);
}

std::vector<std::string> stablehlo_seeds() {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(ETALON_SOURCE_DIR "/tests/interchange/stablehlo"))
    seeds.push_back(read_file(entry.path()));
  seeds.push_back(R"(func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %1:2 = stablehlo.while(%i = %0, %j = %x) : tensor<2xf32>, tensor<2xf32>
    cond { stablehlo.return %i : tensor<2xf32> } do { stablehlo.return %i, %j : tensor<2xf32>, tensor<2xf32> }
  return %0 : tensor<2xf32> loc("a":1:1)
}
)");
  return seeds;
}

}  // namespace etalon::fuzz
