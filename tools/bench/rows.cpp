#include <array>
#include <span>
#include <string>

#include <fmt/format.h>

#include "spec/library/operations.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

/// The matrix.
struct Size {
  std::int64_t rows = 4096, columns = 1024;
};

Workload along_rows(const std::string& name, const std::string& what, const Size& size) {
  const auto [rows, columns] = size;
  Workload w;
  w.name = name;
  w.group = "rows";
  w.what = fmt::format("{}, {}×{}", what, rows, columns);
  w.recipe = name;
  w.sizes = {{"rows", rows}, {"columns", columns}};
  w.inputs = {{"x", {rows, columns}}};
  w.copied_bytes = 4.0 * static_cast<double>(rows * columns);
  return w;
}

Workload gelu_chain(const Size& size = {}) {
  Workload w = along_rows("gelu-chain", "gelu_tanh(x*w + b)", size);
  w.inputs.push_back({"w", {size.columns}});
  w.inputs.push_back({"b", {size.columns}});
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) {
    tracer.output("y", ops::gelu.set("approximate", std::string("tanh"))(in[0] * in[1] + in[2]));
  };
  return w;
}

Workload softmax(const Size& size = {}) {
  Workload w = along_rows("softmax", "softmax of rows", size);
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", ops::softmax(in[0])); };
  return w;
}

Workload layer_norm(const Size& size = {}) {
  Workload w = along_rows("layer-norm", "layer norm of rows with its cotangents", size);
  w.inputs.push_back({"gamma", {size.columns}, 0.5, 1.5});
  w.inputs.push_back({"beta", {size.columns}});
  w.inputs.push_back({"d", {size.rows, size.columns}});
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

Workload attention(const std::string& name, std::int64_t batch, std::int64_t heads, std::int64_t length, std::int64_t width) {
  Workload w;
  w.name = name;
  w.group = w.recipe = "attention";
  w.what = fmt::format("causal attention, batch {}, {} heads, sequence {}, width {}", batch, heads, length, width);
  w.sizes = {{"batch", batch}, {"heads", heads}, {"length", length}, {"width", width}};
  for (const char* input : {"q", "k", "v"}) w.inputs.push_back({input, {batch, heads, length, width}});
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) {
    tracer.output(
        "y", ops::scaled_dot_product_attention.set("causal", true)(in[0], in[1], in[2], spec::absent, spec::absent));
  };
  w.flops = 4.0 * static_cast<double>(batch * heads * length * length * width);
  return w;
}

/// The same with the cotangents of queries, keys and values, for one of the result.
Workload with_cotangents(Workload w) {
  w.name += "-vjp";
  w.recipe += "-vjp";
  w.what += ", with its cotangents";
  w.inputs.push_back({"d", w.inputs.front().dims});
  w.flops *= 3.5;
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) {
    const Traced y = ops::scaled_dot_product_attention.set("causal", true)(in[0], in[1], in[2], spec::absent, spec::absent);
    const std::vector<Traced> cotangents = spec::vjp(std::span(&y, 1), std::span(&in[3], 1), std::span(in).first(3));
    tracer.output("y", y);
    tracer.output("gq", cotangents[0]);
    tracer.output("gk", cotangents[1]);
    tracer.output("gv", cotangents[2]);
  };
  return w;
}

/// By another name, since the same recipe of another size is another workload.
Workload named(std::string name, Workload w) {
  w.name = std::move(name);
  return w;
}

}  // namespace

void add_large_rows(std::vector<Workload>& all) {
  all.push_back(named("gelu-chain-64m", gelu_chain({65536, 1024})));
  all.push_back(named("softmax-large", softmax({16384, 4096})));
  all.push_back(named("layer-norm-large", layer_norm({16384, 4096})));
  for (const std::int64_t length : {1024, 4096}) {
    all.push_back(attention(fmt::format("attention-{}", length), 4, 16, length, 64));
    all.back().flops /= 2;  // of what is masked nothing need be done
  }
}

void add_rows(std::vector<Workload>& all) {
  all.push_back(gelu_chain());
  all.push_back(softmax());
  all.push_back(layer_norm());
  all.push_back(attention("attention", 8, 4, 64, 32));
  all.push_back(attention("attention-long", 1, 4, 2048, 64));
  all.push_back(with_cotangents(attention("attention-long", 1, 4, 2048, 64)));
}

}  // namespace etalon::bench
