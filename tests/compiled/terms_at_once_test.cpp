// Instructions that add several terms of a contraction at once, where a contract admits what they do: found by the form of their equations,
// held by the judge, and nowhere without that contract.
#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>
#include <utility>

#include "compiled/ir/term_adder.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/processor.hpp"
#include "conformance/conform.hpp"
#include "spec/contract/contract.hpp"
#include "tests/compiled/contraction_build.hpp"
#include "tests/compiled/element.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::Instruction;

namespace {

spec::Contract promised() { return spec::contract_named("cpu-bf16"); }

/// Every contraction in tiles that can be, under the promises.
compiled::CompileOptions under(const spec::Contract& promises) {
  compiled::CompileOptions o = options();
  o.schedule.promises = promises;
  o.schedule.always = true;
  return o;
}

bool host_adds_at_once() {
  const bool found = compiled::term_adder(DType::f32, DType::bf16, DType::bf16, compiled::Processor().machine(), promised()) != nullptr;
  if (!found) WARN("this machine has no instruction that adds several products of bf16 at once");
  return found;
}

/// Of the suite's cases of these operations, judged by a contract.
int status_by(const spec::Contract& judged, std::vector<std::string> operations, std::vector<DType> dtypes) {
  const auto backend = compiled::make_cpu_backend(under(promised()));
  conformance::ConformOptions o;
  o.backend_name = "cpu-bf16";
  o.operations = std::move(operations);
  o.modes = {spec::Mode::forward, spec::Mode::vjp};
  o.dtypes = std::move(dtypes);
  o.contract = judged;
  o.jobs = 1;
  o.shrink_seconds = 0;
  std::ostringstream console;
  const int status = run_conform(o, *backend, console);
  UNSCOPED_INFO(console.str());
  return status;
}

/// Whole numbers of few bits, whose products and sums no rounding changes.
HostTensor small_integers(DType dtype, const Dims& dims, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> numbers(-9, 9);
  std::vector<double> values(static_cast<std::size_t>(dims.count()));
  for (double& v : values) v = numbers(engine);
  return real_tensor(dtype, dims, values);
}

double element_of(const HostTensor& a, bool transposed, std::int64_t i, std::int64_t j) {
  const std::int64_t across = a.dims[1];
  return at(a, static_cast<std::size_t>(transposed ? j * across + i : i * across + j));
}

void check_exact(const Product& p, const compiled::CompileOptions& o) {
  INFO(text_of(p));
  const HostTensor a = small_integers(p.dtype, dims_a(p), 1), b = small_integers(p.dtype, dims_b(p), 2);
  const HostTensor y = compiled::compile_system(system_of(p), o).run(std::vector<HostTensor>{a, b})[0];
  for (std::int64_t i = 0; i < p.rows; ++i) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.depth; ++k) sum += element_of(a, p.transposed_a, i, k) * element_of(b, p.transposed_b, k, j);
      REQUIRE(element_of(y, p.transposed_y, i, j) == sum);
    }
  }
}

bool uses_adder(const Product& p, const compiled::CompileOptions& o) {
  std::string loops;
  compiled::CompileOptions dumping = o;
  dumping.dump_after = {"loops"};
  dumping.dump = [&](std::string_view, const std::string& text) { loops = text; };
  (void)compiled::compile_system(system_of(p), dumping);
  return loops.find(" adder ") != std::string::npos;
}

Instruction with_meaning(std::string_view meaning) {
  Instruction i = compiled::instruction("vdpbf16ps");
  i.meaning = meaning;
  return i;
}

}  // namespace

TEST_CASE("what packing needs is read off a row's equations", "[compiled][contractions]") {
  const auto pairs = compiled::as_term_adder(compiled::instruction("vdpbf16ps"));
  REQUIRE(pairs);
  CHECK((pairs->terms == 2 && pairs->lanes == 16 && pairs->held == DType::bf16 && pairs->type == DType::f32));
  const auto fours = compiled::as_term_adder(with_meaning(
      "four(c[8], a[32], b[32]) -> y[8]\n  p[l < 8] = c[l] + a[4*l] * b[4*l]\n  q[l < 8] = p[l] + a[4*l + 3] * b[4*l + 3]\n"
      "  r[l < 8] = q[l] + a[4*l + 1] * b[4*l + 1]\n  y[l] = r[l] + a[4*l + 2] * b[4*l + 2]"));
  REQUIRE(fours);
  CHECK((fours->terms == 4 && fours->lanes == 8));
  CHECK(fours->operands == std::array<std::size_t, 3>{1, 2, 0});
}

TEST_CASE("a row that leaves a term out, takes one twice or reads others is none", "[compiled][contractions]") {
  for (const std::string_view meaning :
       {"twice(a[32], b[32], c[16]) -> y[16]\n  p[l < 16] = c[l] + a[2*l] * b[2*l]\n  y[l] = p[l] + a[2*l] * b[2*l]",
        "once(a[32], b[32], c[16]) -> y[16]\n  y[l] = c[l] + a[2*l] * b[2*l]",
        "apart(a[32], b[32], c[16]) -> y[16]\n  p[l < 16] = c[l] + a[l] * b[l]\n  y[l] = p[l] + a[l + 16] * b[l + 16]",
        "crossed(a[32], b[32], c[16]) -> y[16]\n  p[l < 16] = c[l] + a[2*l] * b[2*l + 1]\n  y[l] = p[l] + a[2*l + 1] * b[2*l]",
        "forgotten(a[32], b[32], c[16]) -> y[16]\n  p[l < 16] = c[l] + a[2*l] * b[2*l]\n  y[l] = c[l] + a[2*l + 1] * b[2*l + 1]",
        "vadd(a[n], b[n]) -> y[n]\n  y[l] = a[l] + b[l]"}) {
    INFO(meaning);
    CHECK_FALSE(compiled::as_term_adder(with_meaning(meaning)));
  }
}

TEST_CASE("an instruction is used within what is promised and nowhere else", "[compiled][contractions]") {
  compiled::Machine machine = compiled::machines::avx512;
  const auto found = [&](DType left, DType right, const spec::Contract& promises) {
    return compiled::term_adder(DType::f32, left, right, machine, promises) != nullptr;
  };
  CHECK_FALSE(found(DType::bf16, DType::bf16, promised()));
  machine.beyond[0] = "avx512bf16";
  CHECK(found(DType::bf16, DType::bf16, promised()));
  CHECK(found(DType::f32, DType::bf16, promised()));
  CHECK_FALSE(found(DType::f64, DType::bf16, promised()));
  CHECK(found(DType::f16, DType::bf16, promised()));
  spec::Contract exact = promised();
  exact.product_operand_precision = 0;
  CHECK(found(DType::bf16, DType::bf16, exact));
  CHECK_FALSE(found(DType::f32, DType::f32, exact));
  CHECK_FALSE(found(DType::bf16, DType::f16, exact));
  spec::Contract tf32 = promised();
  tf32.product_operand_precision = 11;
  CHECK_FALSE(found(DType::f32, DType::f32, tf32));
  spec::Contract gradual = promised();
  gradual.flush_results = false;
  CHECK_FALSE(found(DType::bf16, DType::bf16, gradual));
  CHECK_FALSE(found(DType::bf16, DType::bf16, spec::contract_named("cpu")));
}

TEST_CASE("products add several terms at once where that is promised", "[compiled][contractions]") {
  if (!host_adds_at_once()) return;
  const Product p{DType::f32, {}, 40, 100, 48, false, false, false};
  CHECK(uses_adder(p, under(promised())));
  CHECK_FALSE(uses_adder(p, options()));
  CHECK_FALSE(uses_adder(p, under(spec::contract_named("cpu"))));
  CHECK_FALSE(uses_adder({DType::f64, {}, 40, 100, 48, false, false, false}, under(promised())));
}

TEST_CASE("products of numbers that bf16 holds are exact, in every layout and at odd depths", "[compiled][contractions]") {
  const compiled::CompileOptions o = under(promised());
  for (const auto& [m, k, n] : std::vector<std::array<std::int64_t, 3>>{{14, 64, 32}, {15, 65, 33}, {5, 1, 17}, {29, 127, 65}, {40, 300, 48}, {3, 2, 16}}) {
    for (unsigned layout = 0; layout < 8; ++layout) {
      check_exact({DType::f32, {}, m, k, n, (layout & 1U) != 0, (layout & 2U) != 0, (layout & 4U) != 0}, o);
    }
  }
}

TEST_CASE("contractions conform to the contract that admits products of bf16", "[compiled][contractions]") {
  CHECK(status_by(promised(), {"matmul", "linear", "conv1d", "scaled_dot_product_attention"}, {DType::f32, DType::bf16}) == 0);
}

TEST_CASE("the judge convicts products of bf16 under the contract of the processor", "[compiled][contractions]") {
  if (!host_adds_at_once()) return;
  CHECK(status_by(spec::contract_named("cpu"), {"matmul"}, {DType::f32}) == 1);
}
