#include "spec/program/program.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "spec/protocol/json.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/sample.hpp"

namespace etalon::fuzz {
namespace {

using spec::Program;

/// What was read from JSON is written alike once it is written and read again. Values are compared as text: NaN is not
/// equal to itself.
void check_json(const std::string& written) {
  std::string again;
  if (!accepted([&] { again = spec::to_line(spec::program_to_json(spec::program_from_json(spec::parse_json(written, "program"), "program"))); }))
    broken("a program that is written as JSON can be read", written);
  if (again != written) broken("a program is the same after JSON", written + "\n" + again);
}

/// Typing, and the one system of equations, where the program has them.
void check_meaning(const Program& program) {
  if (!accepted([&] { spec::verify(program); })) return;
  std::optional<spec::System> system;
  if (!accepted([&] { system = spec::lower(program); })) return;
  (void)accepted([&] { spec::verify(*system); });
}

}  // namespace

void read_program(std::string_view text) {
  std::optional<Program> program;
  if (!accepted([&] { program = spec::parse_program(text); })) return;
  const std::string written = spec::to_text(*program);
  std::optional<Program> again;
  if (!accepted([&] { again = spec::parse_program(written); })) broken("a program that is written can be read", written);
  if (spec::to_text(*again) != written) broken("a program is the same after its text", written);
  // A text in quotes that spells a number is one in JSON.
  Program from_json;
  if (accepted([&] { from_json = spec::program_from_json(spec::program_to_json(*program), "program"); })) check_json(spec::to_line(spec::program_to_json(from_json)));
  else broken("a program that is written as JSON can be read", written);
  check_meaning(*program);
}

void read_program_json(std::string_view text) {
  std::optional<Program> program;
  if (!accepted([&] { program = spec::program_from_json(spec::parse_json(text, "program"), "program"); })) return;
  check_json(spec::to_line(spec::program_to_json(*program)));
  check_meaning(*program);
}

std::vector<std::string> program_seeds() {
  std::vector<std::string> seeds{
      "input x : f32[8, 3]\ninput target : i64[8]\nparameter w : f32[4, 3] @ \"net.cpp\":12\nindex n : i64[] in 0..99\n"
      "constant half : f32[] = 0.5\nh = linear(x, w, _) @ \"net.cpp\":20 section \"w step\"\n"
      "loss = cross_entropy(h, target) {reduction = mean}\ng = vjp(loss; w)\nchange = mul(g, half)\nw1 = sub(w, change)\n"
      "output loss, g\nupdate w := w1\n",
      "definitions\nblend(x[...]) {width = 1.0} -> y[...]\n  y[...] = if abs(x[...]) < width then 0.5*x[...] else x[...]\n"
      "end definitions\ninput x : f32[2]\ny = blend(x) {width = 2.0}\noutput y\n",
      "parameter w : f32[4, ?n]\ninput x : f32[2, 5]\ny = linear(x, w, _)\noutput y\n",
      "input a : f32[2, 3]\ninput b : f32[3, 2]\ny = einsum(a, b) {spec = \"ij,jk->ik\", semiring = \"max_plus\"}\noutput y\n",
      "input d : f32[4, 2]\ninput x : f32[4, 3]\nbuffer g : f32[2, 3]\ng[i, j] :+= sum[n] d[n, i]*x[n, j]\n"
      "buffer h[i] = g[i, 0]\noutput g, h\n",
      "input x : f32[2]\ninput s : f32[2]\ny = exp(x)\nt = jvp(y; x; s)\noutput t\n",
      "input x : f32[2]\nh = exp(x)\nk = neg(h)\ny = sum(k)\noutput y\ncapture h, y @ \"net.cpp\":7 section \"front\"\n"
      "stored h\ninlined k @ \"net.cpp\":8\n",
      "constant c : bf16[2] = [bits:3f80, bits:7fc0]\nconstant b : bool[2] = [true, false]\ny = neg(c)\noutput y\n"};
  for (const spec::Request& request : sample_requests()) {
    if (request.mode == spec::Mode::forward) seeds.push_back(spec::to_text(request.program));
  }
  return seeds;
}

std::vector<std::string> program_json_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& text : program_seeds()) seeds.push_back(spec::to_line(spec::program_to_json(spec::parse_program(text))));
  return seeds;
}

}  // namespace etalon::fuzz
