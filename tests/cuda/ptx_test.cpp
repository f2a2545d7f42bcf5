// What is conspicuous in PTX, in texts by hand and in what NVRTC writes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/nvrtc.hpp"
#include "cuda/ptx.hpp"

using namespace etalon;
using cuda::PtxFinding;
using Kind = cuda::PtxFinding::Kind;

TEST_CASE("approximations, flushing and unordered sums are found with their place", "[cuda][ptx]") {
  const std::string text =
      ".version 9.0\n"
      ".visible .entry first(\n"
      "\t.param .u64 first_param_0\n"
      ")\n"
      "{\n"
      "\tmul.f32 %f1, %f2, %f3;\n"
      "\tex2.approx.ftz.f32 %f1, %f2;  // rcp.approx.f32 of a comment\n"
      "\t@%p1 red.global.add.f32 [%rd1], %f1;\n"
      "\t@!%p1 atom.global.add.u32 %r1, [%rd1], 1;\n"
      "$L__BB0_2:\n"
      "}\n"
      ".func (.param .b32 func_retval0) second(\n"
      "\t.param .b32 second_param_0\n"
      ")\n"
      "{ div.full.f32 %f1, %f1, %f2; add.ftz.f32 %f1, %f1, %f2; }\n"
      ".visible .entry third()\n"
      "{\n"
      "\tatom.shared.cas.b32 %r1, [%r2], %r3, %r4;\n"
      "\tatom.global.add.noftz.bf16x2 %r1, [%rd1], %r2;\n"
      "}\n";
  const std::vector<PtxFinding> expected{{Kind::approximate, "first", "ex2.approx.ftz.f32", 7},
                                         {Kind::flushing, "first", "ex2.approx.ftz.f32", 7},
                                         {Kind::unordered, "first", "red.global.add.f32", 8},
                                         {Kind::approximate, "second", "div.full.f32", 15},
                                         {Kind::flushing, "second", "add.ftz.f32", 15},
                                         {Kind::unordered, "third", "atom.global.add.noftz.bf16x2", 19}};
  CHECK(cuda::findings_in_ptx(text) == expected);
  CHECK(cuda::findings_in_ptx("").empty());
  CHECK(cuda::findings_in_ptx("@%p1").empty());
  CHECK(cuda::findings_in_ptx(".entry ").empty());
}

TEST_CASE("what NVRTC writes is found by function", "[cuda][ptx]") {
  if (!cuda::has_nvrtc()) return;
  const std::string text =
      "extern \"C\" __global__ void exact(float *x) { *x = *x * 2 + x[1] / x[2]; }\n"
      "extern \"C\" __global__ void fast(float *x) { *x = __expf(*x); }\n"
      "extern \"C\" __global__ void added(float *x) { atomicAdd(x, x[1]); }\n"
      "extern \"C\" __global__ void counted(int *x) { atomicAdd(x, x[1]); }\n";
  const std::vector<PtxFinding> found = cuda::findings_in_ptx(cuda::compile_to_ptx(text));
  const auto has = [&](const std::string& function, Kind kind) {
    return std::ranges::any_of(found, [&](const PtxFinding& f) { return f.function == function && f.kind == kind; });
  };
  CHECK(has("fast", Kind::approximate));
  CHECK(has("added", Kind::unordered));
  CHECK_FALSE(has("fast", Kind::unordered));
  CHECK(std::ranges::none_of(found, [](const PtxFinding& f) { return f.function == "exact" || f.function == "counted"; }));
}
