// Every row of the table of instructions, compiled alone by the texts that emitters use, is held to its equations; and rows that are
// wrong are found to be.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiled/emit/llvm/jit.hpp"
#include "compiled/emit/text/c_compiler.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/machine/selection.hpp"
#include "tests/instructions/holding.hpp"
#include "tests/instructions/instruction_file.hpp"

using namespace etalon;
using namespace etalon::test;
using compiled::Instruction;
using compiled::instruction;
using compiled::instructions;
using compiled::Jit;

namespace {

bool has_c_compiler() { return std::system("cc --version > /dev/null 2>&1") == 0; }

/// The fewest, parts of vectors, and more than one vector.
std::vector<std::int64_t> lanes_of(const Instruction& i) {
  return is_of_any_lanes(i) ? std::vector<std::int64_t>{least_lanes(i), 4, 16, 32} : std::vector<std::int64_t>{16};
}

AsFunction by_llvm(Jit& jit, const Instruction& i, DType type, std::int64_t lanes) {
  return [code = jit.alone(i, type, lanes)](std::byte* const* memory) { code.kernels[0](memory, 0, 1, nullptr); };
}

AsFunction in_library(const std::shared_ptr<compiled::source::Library>& library, const std::string& name) {
  using Function = void (*)(void* const*);
  return [library, f = reinterpret_cast<Function>(library->symbol(name))](std::byte* const* memory) {
    f(reinterpret_cast<void* const*>(memory));
  };
}

AsFunction by_c(const Instruction& i, DType type, std::int64_t lanes) {
  const InstructionFunction f{&i, type, lanes, "alone"};
  return in_library(compiled::source::compile_c(instruction_file({&f, 1})), f.name);
}

void check_by_llvm(Jit& jit) {
  std::size_t held = 0;
  for (const Instruction& i : instructions) {
    if (!jit.has(i)) {
      WARN(name_of(i) << " is skipped: this machine has no " << (i.feature.empty() ? std::string_view("vectors so wide") : i.feature));
      continue;
    }
    for (const DType type : i.types) {
      for (const std::int64_t lanes : lanes_of(i)) {
        const Holding h = hold(i, type, lanes, by_llvm(jit, i, type, lanes), 1);
        CHECK(h.fault == "");
        CHECK(h.compared > h.undecided);
        ++held;
      }
    }
  }
  CHECK(held > 0);
}

/// Until a mutant is convicted: subnormal sums of ordinary products are rare.
constexpr std::size_t most_turns = 32;

/// A row with another text or meaning.
struct Mutant {
  Instruction row;
  std::string_view what;
};

Instruction with_llvm(Instruction i, std::string_view text) {
  i.llvm = text;
  return i;
}
Instruction with_meaning(Instruction i, std::string_view meaning) {
  i.meaning = meaning;
  return i;
}
Instruction with_contract(Instruction i, std::string_view contract) {
  i.contract = contract;
  return i;
}
Instruction with_c(Instruction i, std::string_view c) {
  i.c = c;
  return i;
}

void check_convicted(Jit& jit, const std::vector<Mutant>& mutants) {
  for (const Mutant& m : mutants) {
    if (!jit.has(m.row)) continue;
    const DType type = m.row.types.front();
    INFO(m.what);
    CHECK(hold(m.row, type, 16, by_llvm(jit, m.row, type, 16), most_turns).fault != "");
  }
}

}  // namespace

TEST_CASE("every instruction is another one, and has a text", "[instructions]") {
  std::set<std::string_view> names;
  for (const Instruction& i : instructions) {
    CHECK(names.insert(name_of(i)).second);
    CHECK((i.llvm != "") != (i.ptx != ""));
    CHECK(!i.types.empty());
  }
}

TEST_CASE("LLVM's code for every instruction is held to its equations", "[instructions]") {
  Jit jit;
  check_by_llvm(jit);
}

TEST_CASE("so is that for machines with less", "[instructions]") {
  for (const compiled::Machine& machine : {compiled::machines::avx2, compiled::machines::scalar}) {
    Jit jit(machine);
    if (jit.machine().lanes_f32 == machine.lanes_f32) check_by_llvm(jit);
  }
}

TEST_CASE("C for every instruction that has any is held to its equations", "[instructions]") {
  if (!has_c_compiler()) {
    WARN("skipped: there is no C compiler");
    return;
  }
  const Jit jit;
  std::vector<InstructionFunction> functions;
  for (const Instruction& i : instructions) {
    if (i.c.empty() || !jit.has(i)) continue;
    for (const DType type : i.types) functions.push_back({&i, type, 16, std::string(name_of(i)) + "_" + std::string(name_of(type))});
  }
  REQUIRE(!functions.empty());
  const auto library = compiled::source::compile_c(instruction_file(functions));
  for (const auto& f : functions) CHECK(hold(*f.instruction, f.type, f.lanes, in_library(library, f.name), 1).fault == "");
}

TEST_CASE("an instruction with a wrong equation is convicted", "[instructions][mutants]") {
  Jit jit;
  check_convicted(jit, {
      {with_meaning(instruction("vadd"), "vadd(a[n], b[n]) -> y[n]\n  y[l] = a[l] - b[l]"), "a sum that should be a difference"},
      {with_meaning(instruction("vfma"), "vfma(a[n], b[n], c[n]) -> y[n]\n  y[l] = a[l] * b[l] - c[l]"), "another sign"},
      {with_meaning(instruction("vfma"), "vfma(a[n], b[n], c[n]) -> y[n]\n  p[l < 16] = a[l] * b[l]\n  y[l] = p[l] + c[l]"), "two roundings"},
      {with_meaning(instruction("vround"), "vround(x[n]) -> y[n]\n  y[l] = floor(x[l] + 0.5)"), "halves upwards"},
      {with_meaning(instruction("vmax"), "vmax(a[n], b[n]) -> y[n]\n  y[l] = if a[l] > b[l] then a[l] else b[l]"), "a maximum without NaN"},
      {with_meaning(instruction("vload"), "vload(x[n] : any) -> y[n]\n  y[l] = x[n - 1 - l]"), "backwards"},
      {with_meaning(instruction("vstore_where"), "vstore_where(x[n] : any, m[n] : bool, old[n] : any) -> y[n]\n  y[l] = if m[l] then old[l] else x[l]"), "the other lanes"},
      {with_meaning(instruction("vscalefps"), "vscalefps(e[16], p[16]) -> y[16]\n  y[l] = e[l] * exp2(floor(p[l]))"), "special values as products have them"},
      {with_meaning(instruction("vdpbf16ps"), "vdpbf16ps(a[32], b[32], c[16]) -> y[16]\n  even[l < 16] = c[l] + a[2*l] * b[2*l]\n  y[l] = even[l] + a[2*l + 1] * b[2*l + 1]"),
       "the even product first"},
      {with_meaning(instruction("vdpbf16ps"), "vdpbf16ps(a[32], b[32], c[16]) -> y[16]\n  y[l] = c[l] + a[2*l] * b[2*l] + a[2*l + 1] * b[2*l + 1]"), "one rounding for both products"},
  });
}

TEST_CASE("an instruction with a wrong text is convicted", "[instructions][mutants]") {
  Jit jit;
  check_convicted(jit, {
      {with_llvm(instruction("vsub"), "%y = fsub <n x T> %b, %a"), "the other difference"},
      {with_llvm(instruction("vdiv"), "%r = fdiv <n x T> splat (float 0x3FF0000000000000), %b\n  %y = fmul <n x T> %a, %r"), "a rounded reciprocal"},
      {with_llvm(instruction("vsqrt"), "%y = call fast <n x T> @llvm.pow(<n x T> %x, <n x T> splat (float 0x3FE0000000000000))"), "an approximate root"},
      {with_llvm(instruction("vceil"), "%y = call <n x T> @llvm.floor(<n x T> %x)"), "downwards"},
      {with_llvm(instruction("vround"), "%y = call <n x T> @llvm.round(<n x T> %x)"), "halves away from 0"},
      {with_llvm(instruction("vmin"), "%y = call <n x T> @llvm.minnum(<n x T> %a, <n x T> %b)"), "a minimum without NaN"},
      {with_llvm(instruction("vfma"), "%p = fmul <n x T> %a, %b\n  %y = fadd <n x T> %p, %c"), "a product that is rounded"},
      {with_llvm(instruction("vnarrow_bf16"), "%b = bitcast <n x T> %x to <n x i32>\n  %s = lshr <n x i32> %b, splat (i32 16)\n  %y = trunc <n x i32> %s to <n x i16>"), "cut off"},
      {with_llvm(instruction("vload_where"), "%z = load <n x T>, ptr %x, align ALIGN\n  %y = select <n x i1> %m, <n x T> %other, <n x T> %z"), "the other lanes"},
      {with_llvm(instruction("vstore_where"), "store <n x T> %x, ptr %y, align ALIGN"), "a store without its mask"},
      {with_llvm(instruction("vprefetch_write"), "store i8 1, ptr %x, align 1"), "a store where nothing is to change"},
      {with_llvm(instruction("vdpbf16ps"), R"(
  %left = bitcast <32 x i16> %b to <32 x bfloat>
  %y = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %c, <32 x bfloat> %left, <32 x bfloat> %left))"), "squares"},
  });
}

TEST_CASE("an instruction that promises more than it keeps is convicted", "[instructions][mutants]") {
  Jit jit;
  check_convicted(jit, {
      {with_contract(instruction("vdpbf16ps"), R"({"flush_results": true})"), "subnormal operands are read"},
      {with_contract(instruction("vdpbf16ps"), R"({"flush_operands": true})"), "subnormal sums are given"},
      {with_contract(instruction("vmax"), R"({"nan_of_extrema": "ignore"})"), "NaN is left out"},
  });
}

TEST_CASE("an instruction with a wrong text in C is convicted", "[instructions][mutants]") {
  if (!has_c_compiler()) {
    WARN("skipped: there is no C compiler");
    return;
  }
  const std::vector<Mutant> mutants{
      {with_c(instruction("vfma"), "a * b + c"), "a product that is rounded"},
      {with_c(instruction("vneg"), "+x"), "another sign"},
      {with_c(instruction("vround"), "round~(x)"), "halves away from 0"},
      {with_c(instruction("vmax"), "fmax~(a, b)"), "a maximum without NaN"},
  };
  for (const Mutant& m : mutants) {
    INFO(m.what);
    CHECK(hold(m.row, DType::f32, 16, by_c(m.row, DType::f32, 16), most_turns).fault != "");
  }
}

TEST_CASE("expressions are found by their form, and by how often they are rounded", "[instructions]") {
  using namespace spec;
  const auto number = [](TensorId t) { return read(t, Kind::real, {}); };
  const Expr a = number(0), b = number(1), c = number(2);
  const auto found = [](const Expr& e, compiled::Rounding r, const compiled::Machine& machine = compiled::machines::avx512) -> std::string_view {
    const auto selected = compiled::select(e, r, machine);
    return selected ? name_of(*selected->instruction) : "";
  };
  using compiled::Rounding;
  CHECK(found(a * b + c, Rounding::each) == "vadd");
  CHECK(found(a * b + c, Rounding::once) == "vfma");
  CHECK(found(a * b + c, Rounding::once, compiled::machines::scalar) == "");
  CHECK(found(a * b * c, Rounding::once) == "");
  CHECK(found(apply(Primitive::sqrt, {a + b}), Rounding::each) == "vsqrt");
  CHECK(found(apply(Primitive::sqrt, {a + b}), Rounding::once) == "");
  CHECK(found(apply(Primitive::exp, {a}), Rounding::each) == "");
  CHECK(found(integer(1) + integer(2), Rounding::each) == "");
  const auto selected = compiled::select(a - b, Rounding::each, compiled::machines::scalar);
  REQUIRE(selected);
  CHECK(selected->operands == std::vector<Expr>{a, b});
  CHECK(name_of(compiled::conversion(DType::f32, DType::bf16)) == "vnarrow_bf16");
  CHECK_THROWS(compiled::conversion(DType::f16, DType::f64));
}
