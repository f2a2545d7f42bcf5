// The loops of a kernel are what their text says: what is read back is the same kernel, and makes code that gives the same bits.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "compiled/ir/parse_loops.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/directed_systems.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

using compiled::loops::Nest;

/// The kinds of lines there are, by words that no other line has.
const std::set<std::string> words{"out ", "inout ", "bytes of the kernel's own", "is full of zeros", "for ", "over ", "term ", " where ", " until ", " lanes", ", one by one",
                                  ", on cores", ", on a grid", "merged ", "fetches ", " to be written", " chains", " in blocks of ", "+= ", "if ", ", around the caches",
                                  " as bf16", " in f64", "squares of ", "tiles of ", "only tiles where ", "each tile fetches ", "because "};

/// Prints each kernel, reads it and compares. \param met gets the words that were printed
void compare(const compiled::Compilation& made, std::set<std::string>& met) {
  for (const Nest& nest : made.nests) {
    const std::string text = to_text(made.system, nest);
    INFO(text);
    const Nest again = compiled::loops::parse_nest(made.system, text);
    REQUIRE(to_text(made.system, again) == text);
    REQUIRE(again == nest);
    for (const std::string& word : words) {
      if (text.find(word) != std::string::npos) met.insert(word);
    }
  }
}

std::string text_of(const compiled::Compilation& made) {
  std::string text;
  for (const Nest& nest : made.nests) text += to_text(made.system, nest);
  return text;
}

constexpr compiled::Machine processor{16, 32};
constexpr compiled::Machine narrow{8, 16};
constexpr compiled::Machine grid{.block_threads = 256};

}  // namespace

TEST_CASE("the text of loops is read back as the same loops", "[sound]") {
  std::set<std::string> met;
  std::size_t kernels = 0;
  const auto compare_all = [&](const spec::System& system) {
    for (const compiled::Machine& machine : {processor, narrow, grid}) {
      compiled::CompileOptions text_only = eager();
      if (machine.block_threads != 0) text_only.off.insert({"contractions", "pack"});
      const compiled::Compilation made = lowered(system, text_only, machine);
      compare(made, met);
      kernels += made.nests.size();
    }
    compare(lowered(system, without(eager(), "all"), narrow), met);
  };
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    compare_all(drawn_system(seed, seed % 2 == 0 ? Sums::rounded : Sums::exact));
  }
  for (const Directed& directed : directed_programs()) {
    INFO(directed.text);
    compare_all(spec::lower(spec::parse_program(directed.text)));
  }
  // What is added where data says.
  compare_all(spec::lower(spec::parse_program("input x : f32[9, 3]\ninput i : i64[7]\ninput d : f32[7, 3]\ny = gather(x, i)\ng = vjp(y; x; d)\noutput y, g\n")));
  CHECK(kernels > 2000);
  for (const std::string& word : words) {
    INFO(word);
    CHECK(met.contains(word));
  }
}

TEST_CASE("machine code of loops that were read back gives the same bits", "[sound]") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    const spec::System system = drawn_system(seed, Sums::rounded);
    const std::vector<HostTensor> inputs = drawn_inputs(system, seed);
    compiled::CompileOptions options = eager();
    const std::vector<HostTensor> expected = outputs_of(system, options, inputs);
    options.loops = {text_of(lowered(system, options)), "drawn"};
    CHECK(same_bits(outputs_of(system, options, inputs), expected));
  }
}

}  // namespace etalon::test
