#include <fmt/format.h>

#include "spec/library/operations.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

/// 3×3, one row of zeros around: as many rows and columns come out as go in.
struct Convolution {
  std::int64_t batch, in, out, side;
};

Traced convolved(const Traced& x, const Traced& k) {
  return ops::conv2d.set("padding", std::vector<std::int64_t>{1, 1})(x, k, spec::absent);
}

Workload convolution(const Convolution& c, const std::string& part, const std::string& what) {
  Workload w;
  w.name = fmt::format("conv-{}-{}-{}", c.in, c.out, part);
  w.group = "conv";
  w.what = fmt::format("3×3 convolution {}→{}, {}×{}, batch {}: {}", c.in, c.out, c.side, c.side, c.batch, what);
  w.recipe = "conv-" + part;
  w.sizes = {{"batch", c.batch}, {"in", c.in}, {"out", c.out}, {"side", c.side}};
  w.flops = 2.0 * 9 * static_cast<double>(c.batch * c.in * c.out) * static_cast<double>(c.side * c.side);
  return w;
}

}  // namespace

void add_convolutions(std::vector<Workload>& all) {
  for (const Convolution& c : {Convolution{64, 16, 32, 14}, Convolution{32, 64, 64, 28}}) {
    const Dims image{c.batch, c.in, c.side, c.side}, kernel{c.out, c.in, 3, 3}, result{c.batch, c.out, c.side, c.side};
    Workload forward = convolution(c, "forward", "values");
    forward.inputs = {{"x", image}, {"k", kernel}};
    forward.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", convolved(in[0], in[1])); };
    all.push_back(std::move(forward));
    Workload data = convolution(c, "data", "cotangent of the image");
    data.inputs = {{"x", image}, {"k", kernel}, {"d", result}};
    data.body = [](Tracer& tracer, const std::vector<Traced>& in) {
      tracer.output("gx", spec::vjp(convolved(in[0], in[1]), in[2], in[0]));
    };
    all.push_back(data);
    Workload weights = convolution(c, "weights", "cotangent of the kernel");
    weights.inputs = data.inputs;
    weights.body = [](Tracer& tracer, const std::vector<Traced>& in) {
      tracer.output("gk", spec::vjp(convolved(in[0], in[1]), in[2], in[1]));
    };
    all.push_back(std::move(weights));
  }
}

}  // namespace etalon::bench
