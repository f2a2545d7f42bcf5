#include <array>
#include <string>

#include "spec/library/operations.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

constexpr std::int64_t rows = 4096, columns = 1024;

Workload along_rows(const std::string& name, const std::string& what) {
  Workload w;
  w.name = name;
  w.group = "rows";
  w.what = what + ", 4096×1024";
  w.recipe = name;
  w.sizes = {{"rows", rows}, {"columns", columns}};
  w.inputs = {{"x", {rows, columns}}};
  w.copied_bytes = 4.0 * rows * columns;
  return w;
}

Workload gelu_chain() {
  Workload w = along_rows("gelu-chain", "gelu_tanh(x*w + b)");
  w.inputs.push_back({"w", {columns}});
  w.inputs.push_back({"b", {columns}});
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) {
    tracer.output("y", ops::gelu.set("approximate", std::string("tanh"))(in[0] * in[1] + in[2]));
  };
  return w;
}

Workload softmax() {
  Workload w = along_rows("softmax", "softmax of rows");
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", ops::softmax(in[0])); };
  return w;
}

Workload layer_norm() {
  Workload w = along_rows("layer-norm", "layer norm of rows with its cotangents");
  w.inputs.push_back({"gamma", {columns}, 0.5, 1.5});
  w.inputs.push_back({"beta", {columns}});
  w.inputs.push_back({"d", {rows, columns}});
  w.copied_bytes *= 2;
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) {
    const Traced y = ops::layer_norm(in[0], in[1], in[2]);
    const std::array wrt{in[0], in[1], in[2]};
    const std::vector<Traced> cotangents = spec::vjp(std::span(&y, 1), std::span(&in[3], 1), wrt);
    tracer.output("y", y);
    tracer.output("gx", cotangents[0]);
    tracer.output("ggamma", cotangents[1]);
    tracer.output("gbeta", cotangents[2]);
  };
  return w;
}

Workload attention() {
  const std::int64_t batch = 8, heads = 4, length = 64, width = 32;
  Workload w;
  w.name = w.recipe = w.group = "attention";
  w.what = "causal attention, batch 8, 4 heads, sequence 64, width 32";
  w.sizes = {{"batch", batch}, {"heads", heads}, {"length", length}, {"width", width}};
  for (const char* name : {"q", "k", "v"}) w.inputs.push_back({name, {batch, heads, length, width}});
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) {
    tracer.output(
        "y", ops::scaled_dot_product_attention.set("causal", true)(in[0], in[1], in[2], spec::absent, spec::absent));
  };
  w.flops = 4.0 * static_cast<double>(batch * heads * length * length * width);
  return w;
}

}  // namespace

void add_rows(std::vector<Workload>& all) {
  all.push_back(gelu_chain());
  all.push_back(softmax());
  all.push_back(layer_norm());
  all.push_back(attention());
}

}  // namespace etalon::bench
