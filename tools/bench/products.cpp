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

/// Both sides of it are a power of two apart in memory: what moves lines of a cache as they lie is slow.
Workload transposition(std::string name, std::int64_t n) {
  Workload w;
  w.name = std::move(name);
  w.group = w.recipe = "transpose";
  w.what = fmt::format("transposition of a matrix {0}×{0}", n);
  w.sizes = {{"n", n}};
  w.inputs = {{"x", {n, n}}};
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", ops::transpose(in[0])); };
  return w;
}

Workload sum(std::string name, std::int64_t n) {
  Workload w;
  w.name = std::move(name);
  w.group = w.recipe = "sum";
  w.what = fmt::format("sum of {} numbers", n);
  w.sizes = {{"n", n}};
  w.inputs = {{"x", {n}}};
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", ops::sum(in[0])); };
  w.flops = static_cast<double>(n);
  return w;
}

}  // namespace

void add_large_products(std::vector<Workload>& all) {
  all.push_back(product("gemm-4096", 4096, 4096, 4096));
  all.push_back(transposition("transpose-8192", 8192));
  all.push_back(sum("sum-4m", 1 << 22));
}

void add_products(std::vector<Workload>& all) {
  for (std::int64_t n = 16; n <= 2048; n *= 2) all.push_back(product(fmt::format("gemm-{}", n), n, n, n));
  all.push_back(product("gemm-tall", 8192, 64, 64));
  all.push_back(product("gemm-mlp", 128, 784, 512));
  all.push_back(product("gemm-gpt", 512, 128, 512));
}

}  // namespace etalon::bench
