// What is read of machine code, against kernels that are known by construction; bytes that are no machine code are refused and crash nothing.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "cuda/cubin.hpp"
#include "cuda/nvrtc.hpp"
#include "spec/error.hpp"

using namespace etalon;
using Catch::Matchers::Contains;

namespace {

constexpr std::array architectures{"sm_80", "sm_90", "sm_90a", "sm_120"};

/// One kernel after the other with its parameters and body; `T` is the thread.
constexpr const char* text = R"(
#define K extern "C" __global__ void
#define T threadIdx.x
K fused(float *x, float a) { float v = x[T];
#pragma unroll
  for (int i = 0; i < 1024; ++i) v = __fmaf_rn(v, a, v);
  x[T] = v; }
K fused_registers(float *x) { float v = x[T], a = x[T + 32];
#pragma unroll
  for (int i = 0; i < 100; ++i) v = __fmaf_rn(v, a, v);
  x[T] = v; }
K products(float *x) { float v = x[T], a = x[T + 32];
#pragma unroll
  for (int i = 0; i < 101; ++i) v = __fmul_rn(v, a);
  x[T] = v; }
K sums(float *x) { float v = x[T], a = x[T + 32];
#pragma unroll
  for (int i = 0; i < 102; ++i) v = __fadd_rn(v, a);
#pragma unroll
  for (int i = 0; i < 30; ++i) v = __fadd_rn(v, 1.5f + i);
  x[T] = v; }
K doubles(double *x, double a) { double v = x[T];
#pragma unroll
  for (int i = 0; i < 40; ++i) v = __fma_rn(__dadd_rn(__dmul_rn(v, a), a), a, v);
  x[T] = v; }
K functions(float *x) { float v = x[T];
#pragma unroll
  for (int i = 0; i < 103; ++i) asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(v));
  x[T] = v; }
template <class N> __device__ void copy(const N *x, N *y) {
#pragma unroll
  for (int i = 0; i < 20; ++i) y[T + 1000 * i] = x[T + 999 * i];
}
K moves_8(const char *x, char *y) { copy(x, y); }
K moves_16(const short *x, short *y) { copy(x, y); }
K moves_32(const float *x, float *y) { copy(x, y); }
K moves_64(const float2 *x, float2 *y) { copy(x, y); }
K moves_128(const float4 *x, float4 *y) { copy(x, y); }
K moves_constant(const float *__restrict__ x, float *__restrict__ y) { copy(x, y); }
K shared_32(float *y) { __shared__ volatile float s[2000];
#pragma unroll
  for (int i = 0; i < 20; ++i) s[T + 32 * i] = i;
  __syncthreads();
  float v = 0;
#pragma unroll
  for (int i = 0; i < 21; ++i) v = __fadd_rn(v, s[T * 2 + i]);
  y[T] = v; }
K shared_128(float4 *y) { __shared__ float4 s[2000];
#pragma unroll
  for (int i = 0; i < 20; ++i) s[T + 32 * i] = y[T + i * 1000];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 20; ++i) y[T + i * 2000] = s[T * 2 + i]; }
K barriers(float *y) { __shared__ volatile float s[64];
#pragma unroll
  for (int i = 0; i < 10; ++i) { s[T] = i; __syncthreads(); y[T + i] = s[T ^ 1]; __syncthreads(); } }
K exchanges(float *y, int n) { float v = y[T];
#pragma unroll
  for (int i = 0; i < 10; ++i) v = __fadd_rn(v, __shfl_xor_sync(~0u, v, 16 >> (i % 5)));
#pragma unroll
  for (int i = 0; i < 7; ++i) v = __fadd_rn(v, __shfl_sync(~0u, v, (n + i * T) & 31));
  y[T] = v; }
K stack(float *y, int n) { volatile float b[200];
  for (int i = 0; i < 200; ++i) b[i] = y[i * n];
  y[T] = b[n]; }
K adds_and_reads(float *y) { y[T + 100] = atomicAdd(y + T, 1.f); }
K adds(float *y) { atomicAdd(y + T, 1.f); }
K swaps(int *y) { y[T + 100] = atomicCAS(y + T, 1, 5); }
K adds_shared(int *y) { __shared__ int s[32]; s[T] = 0; __syncthreads(); int o = atomicAdd(s + T / 2, T); __syncthreads(); y[T] = s[T] + o; }
K adds_reals_shared(float *y) { __shared__ float s[32]; s[T] = 0; __syncthreads(); atomicAdd(s + T / 2, y[T]); __syncthreads(); y[T] = s[T]; }
__device__ __noinline__ float callee(float x) { for (int i = 0; i < 100; ++i) x = __fmul_rn(x, __fadd_rn(x, 0.25f)); return x; }
K calls(float *y) { y[T] = callee(y[T]) + callee(y[T + 1]); }
K tensor(unsigned *x, float *y) { unsigned a0 = x[T], a1 = x[T + 1], a2 = x[T + 2], a3 = x[T + 3], b0 = x[T + 4], b1 = x[T + 5];
  float c0 = y[T], c1 = y[T + 1], c2 = y[T + 2], c3 = y[T + 3];
#pragma unroll
  for (int i = 0; i < 16; ++i) asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
    : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  y[T] = c0 + c1 + c2 + c3; }
K tensor_doubles(double *y) { double a = y[T], b = y[T + 1], c0 = y[T + 2], c1 = y[T + 3];
#pragma unroll
  for (int i = 0; i < 16; ++i) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" : "+d"(c0), "+d"(c1) : "d"(a), "d"(b));
  y[T] = c0 + c1; }
K straight_to_shared(const float4 *x, float4 *y) { __shared__ float4 s[256];
#pragma unroll
  for (int i = 0; i < 4; ++i) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(s + T + i * 64)), "l"(x + T + i * 64));
  asm volatile("cp.async.wait_all;"); __syncthreads(); y[T] = s[255 - T]; }
)";

/// A kernel that holds an instruction exactly, or at least, so many times.
struct Known {
  const char* kernel;
  const char* instruction;
  std::size_t count;
};
constexpr std::array exactly{
    Known{"fused", "FFMA", 1024},         Known{"fused_registers", "FFMA", 100}, Known{"products", "FMUL", 101},         Known{"sums", "FADD", 132},
    Known{"doubles", "DFMA", 40},         Known{"doubles", "DADD", 40},          Known{"doubles", "DMUL", 40},           Known{"functions", "MUFU", 103},
    Known{"moves_8", "LDG.8", 20},        Known{"moves_8", "STG.8", 20},         Known{"moves_16", "LDG.16", 20},        Known{"moves_16", "STG.16", 20},
    Known{"moves_32", "LDG.32", 20},      Known{"moves_32", "STG.32", 20},       Known{"moves_64", "LDG.64", 20},        Known{"moves_64", "STG.64", 20},
    Known{"moves_128", "LDG.128", 20},    Known{"moves_128", "STG.128", 20},     Known{"moves_constant", "LDG.32", 20},  Known{"shared_32", "STS.32", 20},
    Known{"shared_32", "LDS.32", 21},     Known{"shared_128", "STS.128", 20},    Known{"shared_128", "LDS.128", 20},     Known{"shared_128", "BAR", 1},
    Known{"barriers", "BAR", 20},         Known{"exchanges", "SHFL", 17},        Known{"adds_and_reads", "ATOMG", 1},    Known{"adds", "RED", 1},
    Known{"swaps", "ATOMG", 1},           Known{"adds_shared", "ATOMS", 1},      Known{"adds_reals_shared", "ATOMS", 1}, Known{"calls", "CALL", 2},
    Known{"tensor", "HMMA", 16},          Known{"tensor_doubles", "DMMA", 16},   Known{"straight_to_shared", "LDGSTS", 4},
    Known{"fused", "LDG.32", 1},          Known{"fused", "STG.32", 1},           Known{"fused", "LDL", 0},               Known{"fused", "STL", 0},
    Known{"fused", "FMUL", 0},            Known{"fused", "BAR", 0},              Known{"moves_32", "LDS", 0},            Known{"moves_128", "FFMA", 0},
};

const cuda::CompiledKernel& named(const std::vector<cuda::CompiledKernel>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &cuda::CompiledKernel::name);
  REQUIRE(found != all.end());
  return *found;
}

/// Of one instruction; with its width, where it is named with one.
std::size_t count(const cuda::CompiledKernel& kernel, const std::string& instruction) {
  if (instruction.find('.') == std::string::npos) return kernel.instructions.of(instruction);
  const auto found = kernel.instructions.named.find(instruction);
  return found == kernel.instructions.named.end() ? 0 : found->second;
}

}  // namespace

TEST_CASE("instructions are counted as they were written, on every architecture", "[cuda][cubin]") {
  if (!cuda::has_nvrtc()) return;
  for (const char* architecture : architectures) {
    INFO(architecture);
    const std::vector<cuda::CompiledKernel> kernels = cuda::kernels_in(cuda::compile_to_machine_code(text, architecture).cubin);
    for (const Known& known : exactly) {
      INFO(known.kernel << ": " << known.instruction);
      CHECK(count(named(kernels, known.kernel), known.instruction) == known.count);
    }
    const cuda::CompiledKernel& stack = named(kernels, "stack");
    // 200 numbers, moved by one to four at a time, and one of them read.
    CHECK(stack.instructions.of("STL") >= 50);
    CHECK(stack.instructions.of("LDL") >= 1);
    CHECK(named(kernels, "fused").instructions.all >= 1026);
    CHECK(named(kernels, "fused").instructions.all < 1100);
  }
}

TEST_CASE("registers, stacks, shared memory and parameters are those of the kernel", "[cuda][cubin]") {
  if (!cuda::has_nvrtc()) return;
  for (const char* architecture : architectures) {
    INFO(architecture);
    const std::string cubin = cuda::compile_to_machine_code(text + std::string(R"(
K __launch_bounds__(1024) bounded(float *x, float *y, double z) { float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = x[i * T];
#pragma unroll
  for (int i = 0; i < 64; ++i) y[i * T + (int)z] = v[i] * v[63 - i]; }
K wide_open(float *x, float *y) { float v[160];
#pragma unroll
  for (int i = 0; i < 160; ++i) v[i] = x[i * T];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 160; ++i) y[i * T] = v[i] * v[159 - i]; }
K asks(float *x) { extern __shared__ float s[]; s[T] = x[T]; __syncthreads(); x[T] = s[T ^ 1]; }
)"),
                                                     architecture).cubin;
    const std::vector<cuda::CompiledKernel> kernels = cuda::kernels_in(cubin);
    CHECK(std::ranges::is_sorted(kernels, {}, &cuda::CompiledKernel::name));
    CHECK(kernels.size() == 29);
    CHECK(named(kernels, "stack").local_bytes == 800);
    CHECK(named(kernels, "fused").local_bytes == 0);
    CHECK(named(kernels, "shared_32").shared_bytes == 8000);
    CHECK(named(kernels, "shared_128").shared_bytes == 32000);
    CHECK(named(kernels, "fused").shared_bytes == 0);
    CHECK(named(kernels, "asks").shared_bytes == 0);
    CHECK(named(kernels, "fused").parameter_bytes == 12);
    CHECK(named(kernels, "bounded").parameter_bytes == 24);
    CHECK(named(kernels, "moves_32").parameter_bytes == 16);
    // 1024 threads share 65536 registers.
    CHECK(named(kernels, "bounded").registers <= 64);
    CHECK(named(kernels, "bounded").registers > 16);
    CHECK(named(kernels, "wide_open").registers > 64);
    CHECK(named(kernels, "wide_open").registers <= 255);
  }
}

TEST_CASE("bytes that are no machine code are refused or read, and crash nothing", "[cuda][cubin]") {
  CHECK_THROWS_AS(cuda::kernels_in(""), SpecViolation);
  CHECK_THROWS_WITH(cuda::kernels_in("#!/bin/sh"), Contains("cubin: ") && Contains("ELF"));
  CHECK_THROWS_AS(cuda::kernels_in("\x7f" "ELF"), SpecViolation);
  if (!cuda::has_nvrtc()) return;
  const std::string good = cuda::compile_to_machine_code("extern \"C\" __global__ void k(float *x) { __shared__ float s[32]; s[threadIdx.x] = *x; __syncthreads(); x[threadIdx.x] = s[0]; }", "sm_90").cubin;
  REQUIRE(cuda::kernels_in(good).size() == 1);
  std::size_t refused = 0, read = 0;
  const auto look = [&](const std::string& bytes) {
    // Memory of its own, so that a byte beyond the end is one that sanitizers know.
    const std::vector<char> own(bytes.begin(), bytes.end());
    try {
      for (const cuda::CompiledKernel& kernel : cuda::kernels_in({own.data(), own.size()})) CHECK(kernel.instructions.all <= good.size());
      ++read;
    } catch (const SpecViolation& e) {
      ++refused;
      CHECK(std::string(e.what()).starts_with("cubin: "));
    }
  };
  for (std::size_t end = 0; end < good.size(); end += 7) look(good.substr(0, end));
  // The header and the tables, byte by byte; the rest as it is drawn.
  std::mt19937_64 draw(3);
  const auto changed = [&](std::size_t at, std::size_t flips) {
    std::string bytes = good;
    for (std::size_t n = 0; n < flips; ++n) bytes[n == 0 ? at : draw() % bytes.size()] = static_cast<char>(draw());
    look(bytes);
  };
  for (std::size_t at = 0; at < 64; ++at) {
    for (int n = 0; n < 20; ++n) changed(at, 1);
  }
  for (int n = 0; n < 6000; ++n) changed(draw() % good.size(), 1 + draw() % 8);
  CHECK(refused > 500);
  CHECK(read > 500);
}
