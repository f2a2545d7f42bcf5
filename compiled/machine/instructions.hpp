/// \file
/// Every instruction that compiled code counts on, one row each. A new one is a row here and nothing else: tests/instructions holds all
/// rows that the machine has to their equations, and code generators find them by these.
#pragma once

#include <array>
#include <string_view>

#include "compiled/machine/instruction.hpp"

namespace etalon::compiled {

namespace instruction_types {
inline constexpr std::array reals{DType::f32, DType::f64};
inline constexpr std::array all_reals{DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr std::array all{DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
inline constexpr std::array f16{DType::f16};
inline constexpr std::array bf16{DType::bf16};
inline constexpr std::array f32{DType::f32};
inline constexpr std::array f64{DType::f64};
}  // namespace instruction_types

inline constexpr std::array instructions{
    // Arithmetic in lanes: selected wherever an expression has the form of the equation's right side.
    Instruction{.meaning = "vadd(a[n], b[n]) -> y[n]\n  y[l] = a[l] + b[l]",
                .llvm = "%y = fadd <n x T> %a, %b", .c = "a + b", .types = instruction_types::reals},
    Instruction{.meaning = "vsub(a[n], b[n]) -> y[n]\n  y[l] = a[l] - b[l]",
                .llvm = "%y = fsub <n x T> %a, %b", .c = "a - b", .types = instruction_types::reals},
    Instruction{.meaning = "vmul(a[n], b[n]) -> y[n]\n  y[l] = a[l] * b[l]",
                .llvm = "%y = fmul <n x T> %a, %b", .c = "a * b", .types = instruction_types::reals},
    Instruction{.meaning = "vdiv(a[n], b[n]) -> y[n]\n  y[l] = a[l] / b[l]",
                .llvm = "%y = fdiv <n x T> %a, %b", .c = "a / b", .types = instruction_types::reals},
    Instruction{.meaning = "vneg(x[n]) -> y[n]\n  y[l] = -x[l]",
                .llvm = "%y = fneg <n x T> %x", .c = "-x", .types = instruction_types::reals},
    Instruction{.meaning = "vsqrt(x[n]) -> y[n]\n  y[l] = sqrt(x[l])",
                .llvm = "%y = call <n x T> @llvm.sqrt(<n x T> %x)", .c = "sqrt~(x)", .types = instruction_types::reals},
    Instruction{.meaning = "vabs(x[n]) -> y[n]\n  y[l] = abs(x[l])",
                .llvm = "%y = call <n x T> @llvm.fabs(<n x T> %x)", .c = "fabs~(x)", .types = instruction_types::reals},
    Instruction{.meaning = "vfloor(x[n]) -> y[n]\n  y[l] = floor(x[l])",
                .llvm = "%y = call <n x T> @llvm.floor(<n x T> %x)", .c = "floor~(x)", .types = instruction_types::reals},
    Instruction{.meaning = "vceil(x[n]) -> y[n]\n  y[l] = ceil(x[l])",
                .llvm = "%y = call <n x T> @llvm.ceil(<n x T> %x)", .c = "ceil~(x)", .types = instruction_types::reals},
    Instruction{.meaning = "vtrunc(x[n]) -> y[n]\n  y[l] = trunc(x[l])",
                .llvm = "%y = call <n x T> @llvm.trunc(<n x T> %x)", .c = "trunc~(x)", .types = instruction_types::reals},
    Instruction{.meaning = "vround(x[n]) -> y[n]\n  y[l] = round(x[l])",
                .llvm = "%y = call <n x T> @llvm.roundeven(<n x T> %x)", .c = "rint~(x)", .types = instruction_types::reals},
    Instruction{.meaning = "vmax(a[n], b[n]) -> y[n]\n  y[l] = maximum(a[l], b[l])",
                .llvm = "%y = call <n x T> @llvm.maximum(<n x T> %a, <n x T> %b)", .c = "#maximum_@(a, b)",
                .types = instruction_types::reals, .contract = R"({"nan_of_extrema": "propagate"})"},
    Instruction{.meaning = "vmin(a[n], b[n]) -> y[n]\n  y[l] = minimum(a[l], b[l])",
                .llvm = "%y = call <n x T> @llvm.minimum(<n x T> %a, <n x T> %b)", .c = "#minimum_@(a, b)",
                .types = instruction_types::reals, .contract = R"({"nan_of_extrema": "propagate"})"},

    // One rounding for two operations: selected where loops say that products are added so, and nowhere else.
    Instruction{.meaning = "vfma(a[n], b[n], c[n]) -> y[n]\n  y[l] = a[l] * b[l] + c[l]",
                .llvm = "%y = call <n x T> @llvm.fma(<n x T> %a, <n x T> %b, <n x T> %c)", .c = "fma~(a, b, c)",
                .types = instruction_types::reals, .least_lanes = 2},

    // Conversions: selected by the two types. Those of 16 bits use integers and single precision alone, so that every machine gives the
    // same bits and no library function is called.
    Instruction{.meaning = "vwiden_f32(x[n]) {to = f64} -> y[n] : to\n  y[l] = x[l]",
                .llvm = "%y = fpext <n x T> %x to <n x double>", .types = instruction_types::f32},
    Instruction{.meaning = "vnarrow_f64(x[n]) {to = f32} -> y[n] : to\n  y[l] = x[l]",
                .llvm = "%y = fptrunc <n x T> %x to <n x float>", .types = instruction_types::f64},
    Instruction{.meaning = "vwiden_bf16(x[n]) {to = f32} -> y[n] : to\n  y[l] = x[l]",
                .llvm = R"(
  %wide = zext <n x T> %x to <n x i32>
  %bits = shl <n x i32> %wide, splat (i32 16)
  %y = bitcast <n x i32> %bits to <n x float>)",
                .c = "#widen_@(x)", .types = instruction_types::bf16},
    // Exact: binary16 is a part of binary32 after its exponent is moved by 112.
    Instruction{.meaning = "vwiden_f16(x[n]) {to = f32} -> y[n] : to\n  y[l] = x[l]",
                .llvm = R"(
  %wide = zext <n x T> %x to <n x i32>
  %unsigned = and <n x i32> %wide, splat (i32 32767)
  %size = shl <n x i32> %unsigned, splat (i32 13)
  %real = bitcast <n x i32> %size to <n x float>
  %product = fmul <n x float> %real, splat (float 0x46F0000000000000)
  %moved = bitcast <n x float> %product to <n x i32>
  %special = icmp uge <n x i32> %size, splat (i32 260046848)
  %infinite = or <n x i32> %size, splat (i32 2139095040)
  %value = select <n x i1> %special, <n x i32> %infinite, <n x i32> %moved
  %high = and <n x i32> %wide, splat (i32 32768)
  %sign = shl <n x i32> %high, splat (i32 16)
  %bits = or <n x i32> %value, %sign
  %y = bitcast <n x i32> %bits to <n x float>)",
                .c = "#widen_@(x)", .types = instruction_types::f16},
    // Adding just under half a unit, or half of one to an odd number, carries exactly when nearest even is above; the carry moves into
    // the exponent and at the largest numbers into infinity. NaN stays NaN and keeps its sign.
    Instruction{.meaning = "vnarrow_bf16(x[n]) {to = bf16} -> y[n] : to\n  y[l] = x[l]",
                .llvm = R"(
  %bits = bitcast <n x T> %x to <n x i32>
  %highest = and <n x i32> %bits, splat (i32 -2147483648)
  %sign = lshr <n x i32> %highest, splat (i32 16)
  %size = and <n x i32> %bits, splat (i32 2147483647)
  %isnan = icmp ugt <n x i32> %size, splat (i32 2139095040)
  %kept = lshr <n x i32> %size, splat (i32 16)
  %last = and <n x i32> %kept, splat (i32 1)
  %more = add <n x i32> %size, splat (i32 32767)
  %up = add <n x i32> %more, %last
  %rounded = lshr <n x i32> %up, splat (i32 16)
  %value = select <n x i1> %isnan, <n x i32> splat (i32 32704), <n x i32> %rounded
  %signed = or <n x i32> %value, %sign
  %y = trunc <n x i32> %signed to <n x i16>)",
                .c = "#narrow_bf16(x)", .types = instruction_types::f32},
    // The same of 11 bits. Below the normal numbers the last place is 2^-24, that of 0.5 in single precision: the addition rounds.
    Instruction{.meaning = "vnarrow_f16(x[n]) {to = f16} -> y[n] : to\n  y[l] = x[l]",
                .llvm = R"(
  %bits = bitcast <n x T> %x to <n x i32>
  %highest = and <n x i32> %bits, splat (i32 -2147483648)
  %sign = lshr <n x i32> %highest, splat (i32 16)
  %size = and <n x i32> %bits, splat (i32 2147483647)
  %isnan = icmp ugt <n x i32> %size, splat (i32 2139095040)
  %absolute = bitcast <n x i32> %size to <n x T>
  %sum = fadd <n x T> %absolute, splat (float 0x3FE0000000000000)
  %sumbits = bitcast <n x T> %sum to <n x i32>
  %small = sub <n x i32> %sumbits, splat (i32 1056964608)
  %issmall = icmp ult <n x i32> %size, splat (i32 947912704)
  %kept = lshr <n x i32> %size, splat (i32 13)
  %last = and <n x i32> %kept, splat (i32 1)
  %more = add <n x i32> %size, splat (i32 4095)
  %up = add <n x i32> %more, %last
  %moved = sub <n x i32> %up, splat (i32 939524096)
  %normal = lshr <n x i32> %moved, splat (i32 13)
  %finite = select <n x i1> %issmall, <n x i32> %small, <n x i32> %normal
  %islarge = icmp uge <n x i32> %size, splat (i32 1199570944)
  %ordered = select <n x i1> %islarge, <n x i32> splat (i32 31744), <n x i32> %finite
  %value = select <n x i1> %isnan, <n x i32> splat (i32 32256), <n x i32> %ordered
  %signed = or <n x i32> %value, %sign
  %y = trunc <n x i32> %signed to <n x i16>)",
                .c = "#narrow_f16(x)", .types = instruction_types::f32},

    // Between memory and registers: the same copy, told apart by what is touched and by the way through the caches.
    Instruction{.meaning = "vload(x[n] : any) -> y[n]\n  y[l] = x[l]",
                .llvm = "%y = load <n x T>, ptr %x, align ALIGN", .types = instruction_types::all},
    Instruction{.meaning = "vload_where(x[n] : any, m[n] : bool, other[n] : any) -> y[n]\n  y[l] = if m[l] then x[l] else other[l]",
                .llvm = "%y = call <n x T> @llvm.masked.load(ptr %x, i32 ALIGN, <n x i1> %m, <n x T> %other)",
                .types = instruction_types::all, .least_lanes = 2},
    Instruction{.meaning = "vstore(x[n] : any) -> y[n]\n  y[l] = x[l]",
                .llvm = "store <n x T> %x, ptr %y, align ALIGN", .types = instruction_types::all},
    Instruction{.meaning = "vstore_where(x[n] : any, m[n] : bool, old[n] : any) -> y[n]\n  y[l] = if m[l] then x[l] else old[l]",
                .llvm = "call void @llvm.masked.store(<n x T> %x, ptr %y, i32 ALIGN, <n x i1> %m)",
                .types = instruction_types::all, .least_lanes = 2},
    Instruction{.meaning = "vstream(x[n] : any) -> y[n]\n  y[l] = x[l]",
                .llvm = "store <n x T> %x, ptr %y, align ALIGN, !nontemporal !0",
                .types = instruction_types::all, .least_lanes = 2},
    // Any address will do. The line is brought into the second cache to be read; into the nearest, as one asks for it, to be written.
    Instruction{.meaning = "vprefetch(x[n] : any) -> y[n]\n  y[l] = x[l]",
                .llvm = "call void @llvm.prefetch(ptr %x, i32 0, i32 2, i32 1)", .types = instruction_types::all},
    Instruction{.meaning = "vprefetch_write(x[n] : any) -> y[n]\n  y[l] = x[l]",
                .llvm = "call void @llvm.prefetch(ptr %x, i32 1, i32 3, i32 1)", .types = instruction_types::all},

    // Sixteen lanes of what AVX-512 has and no other.
    // Of a NaN with an infinite power its answer is that of 0 or infinity (Intel's manual, table of VSCALEFPS).
    Instruction{.meaning = R"(vscalefps(e[16], p[16]) -> y[16]
  y[l] = if isnan(e[l]) and isinf(p[l]) then maximum(p[l], 0) else e[l] * exp2(floor(p[l])))",
                .llvm = R"(
  %y = call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float> %e, <16 x float> %p, <16 x float> zeroinitializer, i16 -1, i32 4))",
                .types = instruction_types::f32, .least_lanes = 16, .architecture = "x86_64"},
    // Products of bf16 added in single precision, the odd ones first. It reads subnormal operands as zero and gives zero instead of
    // subnormal sums: selected where a program promises no more (compiled/ir/term_adder.hpp).
    Instruction{.meaning = R"(vdpbf16ps(a[32], b[32], c[16]) -> y[16]
  odd[l < 16] = c[l] + a[2*l + 1] * b[2*l + 1]
  y[l] = odd[l] + a[2*l] * b[2*l])",
                .llvm = R"(
  %left = bitcast <32 x i16> %a to <32 x bfloat>
  %right = bitcast <32 x i16> %b to <32 x bfloat>
  %y = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %c, <32 x bfloat> %left, <32 x bfloat> %right))",
                .c = "_mm512_storeu_ps(y, _mm512_dpbf16_ps(_mm512_loadu_ps(c), (__m512bh)_mm512_loadu_si512(a), (__m512bh)_mm512_loadu_si512(b)))",
                .types = instruction_types::f32, .held = {{{"a", DType::bf16}, {"b", DType::bf16}}},
                .least_lanes = 16, .architecture = "x86_64", .feature = "avx512bf16",
                .contract = R"({"flush_operands": true, "flush_results": true})"},

    // Products of small matrices by a warp, on tensor cores. A product of factors is exact; those and what they are added to are aligned to the
    // largest, and what is below the bits that are kept then is cut off (Fasi, Higham, Mikaitis, Pranesh 2021). Selected where a program
    // promises no more than additions that are cut off (compiled/ir/fragment_adder.hpp).
    Instruction{.meaning = "mma_m16n8k16_bf16(a[16, 16], b[16, 8], c[16, 8]) -> y[16, 8]\n  y[i, j] = c[i, j] + sum[k] a[i, k] * b[k, j]",
                .llvm = {}, .ptx = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                .types = instruction_types::f32, .held = {{{"a", DType::bf16}, {"b", DType::bf16}}},
                .architecture = "nvptx64", .contract = R"({"accumulation": "toward_zero"})"},
    Instruction{.meaning = "mma_m16n8k16_f16(a[16, 16], b[16, 8], c[16, 8]) -> y[16, 8]\n  y[i, j] = c[i, j] + sum[k] a[i, k] * b[k, j]",
                .llvm = {}, .ptx = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                .types = instruction_types::f32, .held = {{{"a", DType::f16}, {"b", DType::f16}}},
                .architecture = "nvptx64", .contract = R"({"accumulation": "toward_zero"})"},
    // Factors are read with eleven bits.
    Instruction{.meaning = "mma_m16n8k8_tf32(a[16, 8], b[8, 8], c[16, 8]) -> y[16, 8]\n  y[i, j] = c[i, j] + sum[k] a[i, k] * b[k, j]",
                .llvm = {}, .ptx = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                .types = instruction_types::f32, .architecture = "nvptx64",
                .contract = R"({"accumulation": "toward_zero", "product_operand_precision": 11})"},

    // From memory to memory that a block's threads share, while the thread goes on; what is not asked for is zero there, of a copy all or nothing.
    // The first moves sixteen bytes, past the first cache, the other four or eight. Whoever asked waits for it, and the others for him.
    Instruction{.meaning = "copy_past_cache(x[n], m[n] : bool) -> y[n]\n  y[l] = if m[l] then x[l] else 0",
                .llvm = {}, .ptx = "cp.async.cg.shared.global", .types = instruction_types::all_reals, .architecture = "nvptx64"},
    Instruction{.meaning = "copy_by_cache(x[n], m[n] : bool) -> y[n]\n  y[l] = if m[l] then x[l] else 0",
                .llvm = {}, .ptx = "cp.async.ca.shared.global", .types = instruction_types::reals, .architecture = "nvptx64"},
};

/// The instruction of that name. One that is in no row does not compile.
consteval const Instruction& instruction(std::string_view name) {
  for (const Instruction& i : instructions) {
    if (name_of(i) == name) return i;
  }
  throw "no such instruction";
}

}  // namespace etalon::compiled
