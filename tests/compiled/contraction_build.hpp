/// \file
/// Contractions for tests: products of matrices in every order of their axes, alone and in batches.
#pragma once

#include <string>
#include <vector>

#include "compiled/ir/schedule.hpp"
#include "tests/compiled/build_systems.hpp"

namespace etalon::test {

/// y[batch…, i, j] = sum[k] a[batch…, i, k] · b[batch…, k, j], each matrix perhaps transposed in memory.
struct Product {
  DType dtype = DType::f32;
  std::vector<std::int64_t> batch;
  std::int64_t rows = 1;
  std::int64_t depth = 1;
  std::int64_t columns = 1;
  bool transposed_a = false;
  bool transposed_b = false;
  bool transposed_y = false;
};

[[nodiscard]] inline Dims matrix(const std::vector<std::int64_t>& batch, std::int64_t m, std::int64_t n, bool transposed) {
  Dims dims;
  for (const std::int64_t b : batch) dims.push_back(b);
  dims.push_back(transposed ? n : m);
  dims.push_back(transposed ? m : n);
  return dims;
}

[[nodiscard]] inline Dims dims_a(const Product& p) { return matrix(p.batch, p.rows, p.depth, p.transposed_a); }
[[nodiscard]] inline Dims dims_b(const Product& p) { return matrix(p.batch, p.depth, p.columns, p.transposed_b); }

[[nodiscard]] inline System system_of(const Product& p) {
  System s;
  const TensorId a = input(s, "a", p.dtype, dims_a(p));
  const TensorId b = input(s, "b", p.dtype, dims_b(p));
  const TensorId y = output(s, "y", p.dtype, matrix(p.batch, p.rows, p.columns, p.transposed_y));
  const std::vector<Binder> binders = s.bind_all(y);
  const std::vector<Expr> all = variables(binders);
  const std::size_t n = p.batch.size();
  const std::vector<Expr> batch(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  const Expr& i = all[p.transposed_y ? n + 1 : n];
  const Expr& j = all[p.transposed_y ? n : n + 1];
  const Binder k = s.bind("k", p.depth);
  const auto at = [&](TensorId t, const Expr& first, const Expr& second, bool transposed) {
    std::vector<Expr> indices = batch;
    indices.push_back(transposed ? second : first);
    indices.push_back(transposed ? first : second);
    return s.at(t, std::move(indices));
  };
  s.define(y, binders, reduce(spec::Reduction::sum, {k}, spec::boolean(true),
                              at(a, i, variable(k), p.transposed_a) * at(b, variable(k), j, p.transposed_b)));
  return s;
}

/// Decisions on the contractions of a system, none of which is given.
[[nodiscard]] inline std::vector<compiled::Decision> scheduled(System& system, const compiled::Machine& machine, const compiled::ScheduleOptions& options = {}) {
  compiled::Deciding deciding;
  return compiled::schedule_contractions(system, machine, options, {}, deciding);
}

[[nodiscard]] inline std::string text_of(const Product& p) {
  std::string text = std::string(name_of(p.dtype)) + " ";
  for (const std::int64_t b : p.batch) text += std::to_string(b) + " times ";
  text += std::to_string(p.rows) + " by " + std::to_string(p.depth) + " by " + std::to_string(p.columns);
  return text + (p.transposed_a ? " T" : " N") + (p.transposed_b ? "T" : "N") + (p.transposed_y ? "T" : "N");
}

/// Numbers of ordinary size.
[[nodiscard]] inline HostTensor normal_numbers(DType dtype, const Dims& dims, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(dims.count()));
  for (double& v : values) v = normal(engine);
  return real_tensor(dtype, dims, values);
}

/// What was dumped while the system was compiled: all texts of that kind.
[[nodiscard]] inline std::string dump_of(const System& s, const std::string& kind, compiled::CompileOptions o = options()) {
  std::string text;
  o.dump_after = {kind};
  o.dump = [&](std::string_view what, const std::string& dumped) {
    if (what == kind) text += dumped;
  };
  (void)compiled::compile_system(s, o);
  return text;
}

/// How many numbers a vector of this machine holds.
[[nodiscard]] inline std::int64_t lanes_of(DType dtype) {
  return static_cast<std::int64_t>(shared_processor()->machine().lanes_f32 * 4 / size_of(dtype));
}

/// Columns of a panel: of the widest tiles of this machine.
[[nodiscard]] inline std::int64_t panel_of(DType dtype) { return 2 * lanes_of(dtype); }

}  // namespace etalon::test
