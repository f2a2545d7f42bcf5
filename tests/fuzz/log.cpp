#include "tools/log/log.hpp"

#include <optional>

#include "tests/fuzz/readers.hpp"
#include "tools/log/html.hpp"
#include "tools/log/record.hpp"
#include "tools/log/text.hpp"

namespace etalon::fuzz {

void read_log(std::string_view text) {
  std::optional<logging::Log> log;
  if (!accepted([&] { log = logging::parse_log(text, "log"); })) return;
  const std::string written = logging::to_text(*log);
  if (text != written && text != std::string_view(written).substr(0, written.size() - 1)) broken("a log is the text that is written for it", written);
  (void)logging::to_html(*log);
}

std::vector<std::string> log_seeds() {
  std::vector<std::string> seeds;
  for (const char* program : {"input x : f32[2]\nconstant c : f32[] = 0.5\nh = mul(x, c) section \"a/b\"\ns = cumsum(h) {axis = 0} @ \"f.cpp\":3\noutput s\n",
                              "input x : f64[2, 2]\nparameter w : f64[2, 2]\nt = argmax(x) {axes = [0]}\nr = embedding(w, t)\noutput r\n",
                              "input x : f32[2]\nparameter g : f32[2]\ny = tanh(x)\nl = sum(y)\nd = vjp(l; x)\ng[i] += d[i]\noutput l\n"}) {
    spec::Program parsed = spec::parse_program(program);
    std::vector<HostTensor> inputs;
    for (const spec::Input& input : parsed.inputs) inputs.push_back(input.value ? *input.value : HostTensor(input.dtype, input.dims));
    seeds.push_back(to_text(logging::record(parsed, "f.txt", std::move(inputs), {}, {"reference", {}, logging::run_on_reference})));
  }
  return seeds;
}

}  // namespace etalon::fuzz
