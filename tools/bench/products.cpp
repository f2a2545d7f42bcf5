#include <fmt/format.h>

#include "spec/library/operations.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

Workload product(std::string name, std::int64_t m, std::int64_t k, std::int64_t n) {
  Workload w;
  w.name = std::move(name);
  w.group = "gemm";
  w.what = fmt::format("product of matrices {}×{} and {}×{}, both row-major and not packed", m, k, k, n);
  w.recipe = "gemm";
  w.sizes = {{"m", m}, {"k", k}, {"n", n}};
  w.inputs = {{"a", {m, k}}, {"b", {k, n}}};
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", ops::matmul(in[0], in[1])); };
  w.flops = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  return w;
}

}  // namespace

void add_products(std::vector<Workload>& all) {
  for (std::int64_t n = 16; n <= 2048; n *= 2) all.push_back(product(fmt::format("gemm-{}", n), n, n, n));
  all.push_back(product("gemm-tall", 8192, 64, 64));
  all.push_back(product("gemm-mlp", 128, 784, 512));
  all.push_back(product("gemm-gpt", 512, 128, 512));
}

}  // namespace etalon::bench
