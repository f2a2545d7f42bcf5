// Contractions on tensor cores, where a contract admits what those do: emulated from where PTX's manual says that a warp's threads have the
// elements, held by the judge, and found in machine code.
#include <catch2/catch.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiled/ir/fragment_adder.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/runtime/backend.hpp"
#include "conformance/conform.hpp"
#include "cuda/contract.hpp"
#include "cuda/cubin.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/grid.hpp"
#include "cuda/module_text.hpp"
#include "cuda/nvrtc.hpp"
#include "spec/error.hpp"
#include "spec/half.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::Instruction;
using cuda::emulator::Emulator;

namespace {

spec::Contract promised() { return cuda::with_tensor_cores(cuda::contract_of_device("cuda-emulated", "cpu-c")); }

/// Of eleven bits, as tf32 has them.
spec::Contract promised_tf32() {
  spec::Contract c = promised();
  c.product_operand_precision = 11;
  return c;
}

compiled::CompileOptions under(const spec::Contract& promises, std::shared_ptr<compiled::Device> device) {
  compiled::CompileOptions o = on(std::move(device));
  o.schedule.promises = promises;
  o.schedule.always = true;
  return o;
}

spec::System product(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& type) {
  const auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    return "input " + std::string(name) + " : " + type + "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]\n";
  };
  return spec::lower(spec::parse_program(matrix("a", m, k) + matrix("b", k, n) + "y = matmul(a, b)\noutput y\n"));
}

std::string text_under(const spec::System& system, const spec::Contract& promises) {
  return cuda::module_text(compiled::lower_to_loops(system, {}, under(promises, nullptr), cuda::machine)).text;
}

/// Whole numbers, so small that every format has them and their products' sums.
std::vector<std::int64_t> integers(std::int64_t count, std::int64_t seed) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back((i * i * 7 + i * seed + seed) % 19 - 9);
  return all;
}

HostTensor tensor_of(const std::vector<std::int64_t>& values, DType dtype, const Dims& dims) {
  HostTensor t(dtype, dims);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    if (dtype == DType::f32) t.view<float>()[i] = value;
    else t.view<std::uint16_t>()[i] = spec::nearest_half(value, dtype);
  }
  return t;
}

double value_of(const HostTensor& t, std::size_t i) {
  return t.dtype == DType::f32 ? static_cast<double>(t.view<float>()[i]) : spec::half_value(t.view<std::uint16_t>()[i], t.dtype);
}

/// Whether every element of the product is the exact sum.
bool is_exact(const compiled::Executable& e, std::int64_t m, std::int64_t k, std::int64_t n, DType dtype) {
  const std::vector<std::int64_t> a = integers(m * k, 3), b = integers(k * n, 5);
  const HostTensor y = e.run(std::vector<HostTensor>{tensor_of(a, dtype, {m, k}), tensor_of(b, dtype, {k, n})})[0];
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
      const HostTensor expected = tensor_of({sum}, dtype, {1});
      if (!(value_of(y, static_cast<std::size_t>(i * n + j)) == value_of(expected, 0))) return false;
    }
  }
  return true;
}

int status_by(const spec::Contract& judged, const spec::Contract& promises, std::vector<std::string> operations, std::vector<DType> dtypes) {
  const auto backend = compiled::make_device_backend(under(promises, std::make_shared<Emulator>()), promises);
  conformance::ConformOptions o;
  o.backend_name = "cuda-emulated-bf16";
  o.operations = std::move(operations);
  o.checks = {conformance::Check::value};
  o.dtypes = std::move(dtypes);
  o.contract = judged;
  o.jobs = 1;
  o.shrink_seconds = 0;
  std::ostringstream console;
  const int status = run_conform(o, *backend, console);
  UNSCOPED_INFO(console.str());
  return status;
}

struct Misplaced {
  const char* what;
  std::string place;
  std::string instead;
};

std::string misplaced(std::string text, const Misplaced& mutant) {
  const std::size_t at = text.find(mutant.place);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return text.replace(at, mutant.place.size(), mutant.instead);
}

}  // namespace

TEST_CASE("sizes of fragments are read off a row's equation", "[cuda][fragments]") {
  const auto found = compiled::as_fragment_adder(compiled::instruction("mma_m16n8k8_tf32"));
  REQUIRE(found);
  CHECK((found->rows == 16 && found->columns == 8 && found->terms == 8 && found->bits == 11 && found->held == DType::f32));
  Instruction other = compiled::instruction("mma_m16n8k16_bf16");
  REQUIRE(compiled::as_fragment_adder(other));
  other.meaning = "turned(a[16, 16], b[16, 8], c[16, 8]) -> y[16, 8]\n  y[i, j] = c[i, j] + sum[k] a[k, i] * b[k, j]";
  CHECK_FALSE(compiled::as_fragment_adder(other));
  other.meaning = "alone(a[16, 16], b[16, 8], c[16, 8]) -> y[16, 8]\n  y[i, j] = sum[k] a[i, k] * b[k, j]";
  CHECK_FALSE(compiled::as_fragment_adder(other));
}

TEST_CASE("tensor cores are used within what is promised and nowhere else", "[cuda][fragments]") {
  const auto uses = [](const std::string& type, const spec::Contract& promises) -> std::string {
    const std::string text = text_under(product(64, 64, 64, type), promises);
    const std::size_t at = text.find("mma_m");
    return at == std::string::npos ? "" : text.substr(at, text.find('(', at) - at);
  };
  CHECK(uses("f32", promised()) == "mma_m16n8k16_bf16");
  CHECK(uses("f32", promised_tf32()) == "mma_m16n8k8_tf32");
  CHECK(uses("bf16", promised_tf32()) == "mma_m16n8k16_bf16");
  CHECK(uses("f16", promised_tf32()) == "mma_m16n8k16_f16");
  CHECK(uses("f64", promised()).empty());
  CHECK(uses("f32", spec::contract_named("cuda")).empty());
  CHECK(uses("bf16", spec::contract_named("cuda")).empty());
  spec::Contract nearest = promised();
  nearest.accumulation = spec::RoundingMode::nearest;
  CHECK(uses("bf16", nearest).empty());
}

TEST_CASE("products of small whole numbers are exact on emulated tensor cores", "[cuda][fragments]") {
  struct Held {
    const char* name;
    DType dtype;
    spec::Contract promises;
  };
  const auto emulator = std::make_shared<Emulator>(3);
  for (const Held& kind : {Held{"f32", DType::f32, promised()}, Held{"f32", DType::f32, promised_tf32()}, Held{"f16", DType::f16, promised_tf32()}, Held{"bf16", DType::bf16, promised()}}) {
    for (const auto& [m, k, n] : std::vector<std::array<std::int64_t, 3>>{{16, 16, 8}, {40, 150, 30}, {17, 7, 33}, {130, 20, 70}}) {
      INFO(kind.name << " " << kind.promises.product_operand_precision << " bits, " << m << " by " << k << " by " << n);
      CHECK(is_exact(compiled::compile_system(product(m, k, n, kind.name), under(kind.promises, emulator)), m, k, n, kind.dtype));
    }
  }
}

TEST_CASE("contractions on emulated tensor cores conform to the contract that admits them", "[cuda][fragments]") {
  CHECK(status_by(promised(), promised(), {"matmul", "linear", "scaled_dot_product_attention"}, {DType::f32, DType::bf16}) == 0);
  CHECK(status_by(promised_tf32(), promised_tf32(), {"matmul"}, {DType::f32, DType::f16}) == 0);
}

TEST_CASE("the judge convicts tensor cores under the contract of the device", "[cuda][fragments]") {
  CHECK(status_by(cuda::contract_of_device("cuda-emulated", "cpu-c"), promised(), {"matmul"}, {DType::f32}) == 1);
}

TEST_CASE("machine code has the instructions of tensor cores where they are promised", "[cuda][fragments]") {
  if (!cuda::has_nvrtc()) return;
  const spec::System system = product(256, 256, 256, "f32");
  for (const char* architecture : {"sm_80", "sm_90"}) {
    const auto count = [&](const spec::Contract& promises, std::string_view name) {
      std::size_t all = 0;
      for (const cuda::CompiledKernel& k : cuda::kernels_in(cuda::compile_to_machine_code(text_under(system, promises), architecture).cubin)) all += k.instructions.of(name);
      return all;
    };
    INFO(architecture);
    CHECK(count(promised(), "HMMA") > 0);
    CHECK(count(promised(), "FFMA") == 0);
    CHECK(count(promised_tf32(), "HMMA") > 0);
    CHECK(count(spec::contract_named("cuda"), "HMMA") == 0);
  }
}

TEST_CASE("fragments with one index wrong are convicted", "[cuda][fragments][emulator]") {
  const std::int64_t m = 40, k = 150, n = 30;
  const spec::System system = product(m, k, n, "f32");
  const std::vector<Misplaced> mutants{
      {"a row of the left factor is its neighbour", "i_7 % 2 * 8 + lane / 4) * 24", "i_7 % 2 * 8 + (lane / 4 ^ 1)) * 24"},
      {"steps of the left factor are their neighbours", "lane % 4 * 2 + i_7 / 2 * 8", "(lane % 4 ^ 1) * 2 + i_7 / 2 * 8"},
      {"later steps of the right factor come first", "i_8 * 8", "(i_8 ^ 1) * 8"},
      {"registers of rows and of steps change places", "i_7 % 2 * 8 + lane / 4", "i_7 / 2 * 8 + lane / 4"},
      {"later steps are the first ones", "i_7 / 2 * 8", "i_7 / 2 * 0"},
      {"later steps of the right factor overlap the first ones", "i_8 * 8", "i_8 * 6"},
      {"fragments of rows overlap", "warp_row + f * 16", "warp_row + f * 8"},
      {"a fragment of columns is used twice", "own_right[c]", "own_right[0]"},
      {"a fragment of rows is used twice", "own_left[r]", "own_left[0]"},
      {"a sum is another row's", "sums[2 * r][2 * c + 1]", "sums[2 * r + 1][2 * c + 1]"},
      {"columns of sums change places", "lane % 4 * 2 + c_6 % 2", "lane % 4 * 2 + (c_6 + 1) % 2"},
      {"rows of sums change places", "r_6 % 2 * 8 + lane / 4", "(r_6 + 1) % 2 * 8 + lane / 4"},
      {"warps have columns in common", "thread / 32 % 2 * 16", "thread / 32 % 2 * 8"},
      {"a number is put in another row", "left[n_3 * 24", "left[(n_3 ^ 1) * 24"},
  };
  const std::string sound = text_under(system, promised());
  const auto emulator = std::make_shared<Emulator>(11);
  const compiled::Executable whole = compiled::compile_system(system, under(promised(), emulator));
  std::vector<compiled::Executable> broken;
  for (const Misplaced& mutant : mutants) {
    INFO(mutant.what);
    emulator->replace(sound, misplaced(sound, mutant));
    broken.push_back(compiled::compile_system(system, under(promised(), emulator)));
  }
  CHECK(is_exact(whole, m, k, n, DType::f32));
  for (std::size_t one = 0; one < mutants.size(); ++one) {
    INFO(mutants[one].what);
    bool found = false;
    try {
      found = !is_exact(broken[one], m, k, n, DType::f32);
    } catch (const DeviceError&) {
      found = true;
    }
    CHECK(found);
  }
}
