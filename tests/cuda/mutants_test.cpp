// Broken kernels are convicted: one thing of a text is changed, and its bits are no longer the processor's, or the emulator refuses it.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/runtime/executable.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/module_text.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using cuda::emulator::Emulator;

namespace {

/// The first place of a text and what stands there instead.
struct Mutant {
  const char* what;
  std::string place;
  std::string instead;
};

struct Broken {
  const char* program;
  std::vector<Mutant> mutants;
  bool always = false;  ///< in tiles and strips whatever the size
  const char* decisions = "";
};

const std::string barrier = "__syncthreads();";

/// Where the piece at hand is, of three.
const std::string stages = "float *const left_now = left + (piece) % 3 * 576;\n        float *const right_now = right + (piece) % 3 * 576;\n        ";

const std::vector<Broken> all{
    // Tiles of 32 by 32 with rows, columns and steps left over, in three blocks of terms. Factors go through registers.
    {"input a : f32[40, 150]\ninput b : f32[150, 30]\ny = matmul(a, b)\noutput y\n",
     {
         {"no barrier before a piece is put over the last one", "++piece) {\n        " + barrier, "++piece) {"},
         {"no barrier before a piece is multiplied", barrier + "\n        if (piece < 11)", "if (piece < 11)"},
         {"rows are masked too early", "term < terms && s0 < 40", "term < terms && s0 < 32"},
         {"the last step of a block is left out", "term_3 < terms_2 &&", "term_3 < terms_2 - 1 &&"},
         {"the next block is the one at hand", "(piece + 1) / 4", "piece / 4"},
         {"the next piece is the one at hand", "(piece + 1) % 4 * 16", "piece % 4 * 16"},
         {"a row of a fragment stands twice", "own_left[1] = four0.y", "own_left[1] = four0.x"},
         {"a fragment of rows is that of columns", "step_7 * 36 + down * 4", "step_7 * 36 + across * 4"},
         {"a fragment of columns is that of rows", "step_7 * 36 + across * 4", "step_7 * 36 + down * 4"},
         {"the last step of the rest is left out", "step_8 < steps_left", "step_8 < steps_left - 1"},
         {"products are rounded", "fmaf(own_left[r], own_right[c], sums[r][c])", "own_left[r] * own_right[c] + sums[r][c]"},
         {"one block does not wait", "blocks < 2)", "blocks < 1)"},
         {"another block's sum is joined", "waiting[1][r_6]", "waiting[0][r_6]"},
         {"a block begins with the sum before it", "sums[r_5][c_5] = 0;", ";"},
         {"a row is not stored", "s0_3 < 40 &&", "s0_3 < 39 &&"},
         {"neighbouring columns change places", "across * 4 + c_7", "across * 4 + (c_7 ^ 1)"},
         {"rows are put elsewhere than they were fetched from", "const int step_3 = e_3 % 16, n_3 = e_3 / 16", "const int step_3 = e_3 % 16, n_3 = (e_3 / 16) ^ 1"},
         {"columns are put elsewhere", "right[step_4 * 36 + n_4]", "right[step_4 * 36 + (n_4 ^ 4)]"},
         {"both factors overlap", "(shared + 2304)", "(shared + 2048)"},
         {"a factor is read one step behind", "150 * s0_2 + j_3", "150 * s0_2 + j_3 - 1"},
     },
     false,
     "copy y off"},
    // The same, with factors that are copied, one by sixteen bytes: three pieces in memory.
    {"input a : f32[40, 150]\ninput b : f32[150, 28]\ny = matmul(a, b)\noutput y\n",
     {
         {"nobody waits for copies", "wait_for_copies<1>();", ""},
         {"one group too few is waited for", "wait_for_copies<1>", "wait_for_copies<2>"},
         {"no barrier behind the wait", barrier + "\n        if (piece + 2 < 12)", "if (piece + 2 < 12)"},
         {"the barrier comes before the wait", "wait_for_copies<1>();\n        " + stages + barrier, barrier + "\n        " + stages + "wait_for_copies<1>();"},
         {"the first group is not closed", "close_copies();\n      if (0 + 1", "if (0 + 1"},
         {"the second group is not closed", "close_copies();\n      for (int piece", "for (int piece"},
         {"later groups are not closed", "close_copies();\n        {", "{"},
         {"the piece before is multiplied", "left + (piece) % 3", "left + (piece + 2) % 3"},
         {"columns of the next piece are multiplied", "right + (piece) % 3", "right + (piece + 1) % 3"},
         {"a piece comes where the next one is", "left + (piece + 2) % 3", "left + (piece + 1) % 3"},
         {"a piece comes where one is that is multiplied", "right + (piece + 2) % 3", "right + (piece) % 3"},
         {"two pieces have one memory", "right + (piece) % 3 * 576", "right + (piece) % 3 / 2 * 576"},
         {"pieces overlap", "left + (piece + 2) % 3 * 576", "left + (piece + 2) % 3 * 544"},
         {"the second piece is the first one", "const int first_step_2 = (0 + 1) % 4", "const int first_step_2 = (0) % 4"},
         {"a piece is not asked for", "if (piece + 2 < 12)", "if (piece + 2 < 9)"},
         {"of sixteen bytes twelve are asked for", "inside_2 ? 16 : 0", "inside_2 ? 12 : 0"},
         {"a number is copied where its neighbour goes", "left_later_3 + step_5 * 36 + n_5", "left_later_3 + step_5 * 36 + (n_5 ^ 1)"},
         {"four numbers begin at no multiple of sixteen bytes", "right_later_3 + step_6 * 36 + n_6", "right_later_3 + step_6 * 36 + n_6 + 1"},
         {"rows are masked too early", "term_5 < terms_3 && s0_3 < 40", "term_5 < terms_3 && s0_3 < 32"},
         {"the last step of a block is zero", "term_6 < terms_3 &&", "term_6 < terms_3 - 1 &&"},
         {"both factors overlap", "(shared + 6912)", "(shared + 4608)"},
     },
     false,
     "copy y stages=3"},
    // Products of great depth in three parts, the last of which is shorter.
    {"input a : f32[16, 40, 1300]\ninput b : f32[16, 1300, 30]\ny = matmul(a, b)\noutput y\n",
     {
         {"parts overlap", "part * 8, own_blocks", "part * 7, own_blocks"},
         {"the last part is as long as the others", "part < 2 ? 8 : 5", "part < 2 ? 8 : 8"},
         {"the last part ends early", "part < 2 ? 8 : 5", "part < 2 ? 8 : 4"},
         {"one block of a part does not wait", "blocks < own_blocks - 1)", "blocks < own_blocks - 2)"},
         {"sums of four blocks are not joined", "if (((blocks >> 2) & 1) != 0)", "if (((blocks >> 2) & 1) == 2)"},
         {"two parts have one memory", "[part * 32768 + (turn", "[part / 2 * 32768 + (turn"},
         {"tiles are put elsewhere", "(turn * 32 + s1_3", "((turn ^ 1) * 32 + s1_3"},
         {"a tile's rows are read as another's", "rows * 1 * 32 + element / 32 % 32", "rows * 1 * 32 + (element / 32 ^ 1) % 32"},
         {"the last part is not joined", "0 <= 2 && 2 < 0 + 4", "0 <= 2 && 2 < 0 + 2"},
         {"parts are taken from the end", "et_wait_f32(sums, done, ((float *)partial_results)[part * ", "et_wait_f32(sums, done, ((float *)partial_results)[(2 - part) * "},
     }},
    // Squares with rows and columns left over.
    {"input x : f32[70, 45]\ny = transpose(x)\noutput y\n",
     {
         {"no barrier before a square is read", barrier, ""},
         {"a warp waits for itself alone", barrier, "__syncwarp();"},
         {"a row of a square is put over its neighbour", "down + 8 * i_2) * 33", "down + 7 * i_2) * 33"},
         {"a square is not turned", "held[across * 33 + row_2]", "held[row_2 * 33 + across]"},
         {"a row more is asked for than was fetched", "i0 < 45 && i1 < 70", "i0 < 44 && i1 < 70"},
         {"a column is not stored", "i1_2 < 70 &&", "i1_2 < 69 &&"},
         {"squares follow each other along the other loop", "turn % 3 * 32", "turn % 2 * 32"},
     }},
    // A block for each row: terms by all threads, chains by some.
    {"input x : f32[3, 2100]\ny = softmax(x)\noutput y\n",
     {
         {"the last element has no term", "k_3 < 2100", "k_3 < 2099"},
         {"no barrier before terms are added", "terms[k_3] = term;\n      }\n      " + barrier, "terms[k_3] = term;\n      }"},
         {"chains take other terms", "k_2 += 64", "k_2 += 63"},
         {"a chain is left out", "if (thread < 64) {\n#pragma unroll 8", "if (thread < 63) {\n#pragma unroll 8"},
         {"no barrier before chains are joined", "values[thread] = r10;\n        " + barrier, "values[thread] = r10;"},
         {"no barrier before the sum is read", "*result_2 = r12;\n        }\n        " + barrier, "*result_2 = r12;\n        }"},
         {"a lane takes in another chain", "r12, 16)", "r12, 8)"},
         {"the last chain is not joined", "r12, 1)", "r12, 2)"},
         {"an element is its neighbour", "y_e[j] /", "y_e[j ^ 1] /"},
         {"one thread waits for the others at a barrier that they do not reach", "if (thread == 0) *result = r10;", "if (thread == 0) { *result = r10; " + barrier + " }"},
         {"a lane that is not in the mask is asked", "other_2 = __shfl_down_sync(0xffffffffu, r12, 4)", "other_2 = __shfl_down_sync(0x0000000fu, r12, 4)"},
     }},
    // Four neighbours for each thread, and three elements left over.
    {"input x : f32[1033, 543]\ninput z : f32[1033, 543]\ny = mul(x, z)\noutput y\n",
     {
         {"the rest ends early", "turn < 560919; ++turn", "turn < 560918; ++turn"},
         {"the rest begins late", "turn = first; turn", "turn = first + 1; turn"},
         {"neighbours change places", "put.at[n] = ", "put.at[n ^ 1] = "},
         {"all four are the first one", "got.at[n] *", "got.at[0] *"},
         {"two threads have the same elements", "blockDim.x + threadIdx.x)", "blockDim.x + threadIdx.x / 2)"},
     }},
    // Strips of 32 rows of scores, with rows, columns and tiles left over or left out.
    {"input q : f32[1, 1, 40, 16]\ninput k : f32[1, 1, 200, 16]\ninput v : f32[1, 1, 200, 16]\n"
     "y = scaled_dot_product_attention(q, k, v, _, _) {causal = true}\noutput y\n",
     {
         {"no barrier behind scores", barrier + "\n    {\n      const int lane", "{\n      const int lane"},
         {"no barrier before probabilities are multiplied", barrier + "\n    for (int i0_2", "for (int i0_2"},
         {"a tile that is read is left out", "if (t <= s0)", "if (t < s0 - 31)"},
         {"scores are stored as another strip's", "t_3 - 6400 * strip", "t_3 - 6200 * strip"},
         {"some rows are no warp's", "row < 40 - strip * 32; row += 4", "row < 40 - strip * 32; row += 5"},
         {"two warps have the same rows", "int row = thread / 32", "int row = thread / 64"},
         {"the last row of a strip is left out", "row < 32 && row < 40", "row < 31 && row < 40"},
         {"lanes see another lane's maximum too late", "y_top_max11[row] = r48;\n        }\n        __syncwarp();", "y_top_max11[row] = r48;\n        }"},
         {"what is staged lies over a strip's rows", "left_2 = (float *)(shared + 25856 + 0)", "left_2 = (float *)(shared + 0)"},
     },
     true},
    // One sum in parts.
    {"input x : f32[90001]\ny = sum(x)\noutput y\n",
     {
         {"parts overlap", "result / 64 * 4096", "result / 64 * 4095"},
         {"a chain ends early", "k0 < k0_block + 4096", "k0 < k0_block + 4095"},
         {"parts are looked for elsewhere", "+ 0) * 64)", "+ 0) * 63)"},
         {"parts are taken in twice", "part_2 += 8", "part_2 += 4"},
         {"parts wait as smaller ones", "sums_2 + 3, done_2 / 8", "sums_2 + 2, done_2 / 8"},
         {"parts are joined in another order", "fetched0 + fetched1 + (fetched2", "fetched0 + fetched2 + (fetched1"},
         {"the last part is left out", "part + 2 < 22 ? part + 2 : 22", "part + 2 < 21 ? part + 2 : 21"},
     }},
};

std::string changed(std::string text, const Mutant& mutant) {
  const std::size_t at = text.find(mutant.place);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return text.replace(at, mutant.place.size(), mutant.instead);
}

}  // namespace

TEST_CASE("kernels with one thing broken are convicted on the emulated device", "[cuda][emulator]") {
  std::size_t convicted = 0;
  for (const Broken& one : all) {
    const spec::System system = spec::lower(spec::parse_program(one.program));
    const auto options = [&](std::shared_ptr<compiled::Device> device, const char* decisions = "") {
      compiled::CompileOptions o = on(std::move(device));
      o.schedule.always = one.always;
      o.decisions = compiled::decisions_in(decisions, "s");
      return o;
    };
    const std::string sound = cuda::module_text(compiled::lower_to_loops(system, {}, options(nullptr, one.decisions), cuda::machine)).text;
    const std::vector<HostTensor> inputs = drawn_inputs(system, 5);
    const std::vector<HostTensor> expected = compiled::compile_system(system, options(nullptr)).run(inputs);
    const auto emulator = std::make_shared<Emulator>(11);
    const compiled::Executable whole = compiled::compile_system(system, options(emulator, one.decisions));
    std::vector<compiled::Executable> mutants;
    for (const Mutant& mutant : one.mutants) {
      INFO(mutant.what);
      emulator->replace(sound, changed(sound, mutant));
      mutants.push_back(compiled::compile_system(system, options(emulator, one.decisions)));
    }
    CHECK(same_bits(whole.run(inputs), expected));
    for (std::size_t m = 0; m < one.mutants.size(); ++m) {
      INFO(one.program << one.mutants[m].what);
      const compiled::Executable& broken = mutants[m];
      bool found = false;
      for (int course = 0; course < 3 && !found; ++course) {
        try {
          found = !same_bits(broken.run(inputs), expected);
        } catch (const DeviceError&) {
          found = true;
        }
      }
      CHECK(found);
      convicted += found ? 1 : 0;
    }
  }
  CHECK(convicted >= 30);
}
