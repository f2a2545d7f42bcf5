#ifdef ETALON_COMPILED

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/ir/parse_loops.hpp"
#include "spec/program/program.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {
namespace {

using compiled::loops::Nest;

/// Reductions of every kind, products in tiles, a window, a scatter, integers, truth values and halves.
constexpr const char* program =
    "input x : f32[12, 100]\ninput w : f32[100, 40]\ninput h : bf16[12]\ninput d : f64[300]\ninput i : i64[12]\ninput img : f32[1, 2, 8, 8]\n"
    "input k : f32[3, 2, 3, 3]\ny = softmax(x)\nz = matmul(y, w)\nm = argmax(x)\nc = isnan(x)\na = any(c)\nt = exp(h)\ns = sum(d)\n"
    "v = conv2d(img, k, _)\nu = relu(v)\nl = sum(u)\ng, e = vjp(l; img, k)\nq = gather(z, i)\nr = sum(q)\nf = vjp(r; z)\n"
    "output z, m, a, t, s, g, e, f\n";

/// The program's loops for a processor, with every decision that makes other ones.
const compiled::Compilation& lowered() {
  static const compiled::Compilation made = [] {
    compiled::CompileOptions options;
    options.schedule.always = true;
    options.schedule.last_cache_bytes = options.schedule.middle_cache_bytes = 1 << 10;
    return compiled::lower_to_loops(spec::lower(spec::parse_program(program)), {}, options, compiled::Machine{16, 32});
  }();
  return made;
}

/// Whether the verifier lets it through: whatever else it throws than what it is for ends the process.
bool is_sound(const Nest& nest) {
  try {
    compiled::loops::verify(lowered().system, nest);
    return true;
  } catch (const InternalError& error) {
    check_message(error.what());
    return false;
  }
}

}  // namespace

void read_loops(std::string_view text) {
  const spec::System& system = lowered().system;
  std::vector<compiled::loops::ParsedNest> kernels;
  if (!accepted([&] { kernels = compiled::loops::parse_nests(system, text, "loops"); })) return;
  for (const compiled::loops::ParsedNest& kernel : kernels) {
    const std::string written = to_text(system, kernel.nest);
    std::optional<Nest> again;
    if (!accepted([&] { again = compiled::loops::parse_nest(system, written); })) broken("a kernel that is written can be read", written);
    if (to_text(system, *again) != written) broken("a kernel is the same after its text", written);
    (void)is_sound(kernel.nest);
  }
}

std::vector<std::string> loops_seeds() {
  std::vector<std::string> seeds;
  for (const Nest& nest : lowered().nests) {
    if (!is_sound(nest)) broken("what is lowered is sound", to_text(lowered().system, nest));
    seeds.push_back(to_text(lowered().system, nest));
  }
  seeds.emplace_back("kernel z(x, out z) of 1 operations:\n  for i'900 < 12 until 3:\n    if i == 2: z[i, 0] += x[i, i * 2], around the caches\n");
  return seeds;
}

}  // namespace etalon::fuzz

#endif
