// Emitted CUDA C++: which loops are shared among threads, and that NVRTC has nothing to say of the text.
#include <catch2/catch.hpp>

#include <iostream>

#include "cuda/cuda_file.hpp"
#include "cuda/shared_kernels.hpp"
#include "cuda/grid.hpp"
#include "cuda/nvrtc.hpp"
#include "spec/error.hpp"

using namespace etalon;
using Catch::Matchers::Contains;

namespace {

/// A program with all that its text is written from.
struct Written {
  compiled::Task task;
  compiled::Compilation lowered;
  compiled::source::ProgramText text;
  explicit Written(const std::string& program, const compiled::CompileOptions& options = {})
      : task(compiled::task_of(spec::parse_program(program))), lowered(compiled::source::lower_for_text(task, options, cuda::machine)),
        text(task, lowered, "program") {}
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
};

/// Of each kernel.
std::vector<cuda::Grid> grids_of(const std::string& program) {
  const Written w(program);
  std::vector<cuda::Grid> all;
  for (const auto& nest : w.lowered.nests) all.push_back(cuda::grid_of(w.lowered.system, nest));
  return all;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// One program per form of code.
const char* const programs[] = {
    "input x : f32[4, 3]\ny = gelu(x)\ns = sum(y)\ng = vjp(s; x)\noutput y, g\n",
    "input x : f32[4, 3]\ninput w : f32[3, 5]\ny = matmul(x, w)\ns = sum(y)\ng, h = vjp(s; x, w)\noutput y, g, h\n",
    "input x : f64[4, 300]\ny = softmax(x)\nl = logsumexp(x)\ns = sum(l)\ng = vjp(s; x)\noutput y, g\n",
    "input x : f32[1, 2, 6, 6]\ninput k : f32[3, 2, 3, 3]\ny = conv2d(x, k, _)\ns = sum(y)\ng, h = vjp(s; x, k)\noutput y, g, h\n",
    "input x : f32[1, 2, 6, 6]\ny = max_pool2d(x) {kernel = 2, stride = 2}\ns = sum(y)\ng = vjp(s; x)\noutput y, g\n",
    "input x : f32[7, 3]\ninput i : i64[5]\ny = gather(x, i)\ns = sum(y)\ng = vjp(s; x)\noutput y, g\n",
    "input x : f16[4, 3]\ninput b : bf16[4]\ny = tanh(x)\nz = exp(b)\noutput y, z\n",
    "input x : f64[4]\ny = cast(x) {dtype = f16}\nz = cast(x) {dtype = i32}\nb = isnan(x)\noutput y, z, b\n",
    "input a : i32[4]\ninput b : i32[4]\nq = floor_divide(a, b)\nr = remainder(a, b)\nm = maximum(a, b)\nn = neg(a)\noutput q, r, m, n\n",
    "input x : f32[6]\ny = cumsum(x)\nm = argmax(x)\np = prod(x)\nc = isnan(x)\nt = any(c)\noutput y, m, p, t\n",
    "input x : f32[6]\ny = erf(x)\nz = sinh(x)\nu = expm1(x)\nv = log1p(y)\nw = remainder(z, u)\nn = maximum(v, w)\noutput n\n",
    "input s : i64[]\ninput t : i64[]\nx = normal(s, t) {shape = [4, 5]}\noutput x\n",
    "constant c : f32[3] = [1, inf, nan]\nconstant d : f64[2] = [-inf, nan]\ninput x : f32[3]\ny = add(x, c)\nz = neg(d)\noutput y, z\n",
};

}  // namespace

TEST_CASE("threads share the loops whose values write different elements", "[cuda]") {
  // 40 rows and 30 columns are tiles of 32, one for each block; a thread has 4 by 4 numbers.
  const std::vector<cuda::Grid> product = grids_of("input a : f32[40, 7]\ninput b : f32[7, 30]\ny = matmul(a, b)\noutput y\n");
  REQUIRE(product.size() == 1);
  CHECK((product[0].turns == 2 && product[0].blocks == 2 && product[0].threads == 64 && product[0].group == 64));
  // Too few products for a tile: each element has a thread.
  const std::vector<cuda::Grid> small = grids_of("input a : f32[4, 2]\ninput b : f32[2, 3]\ny = matmul(a, b)\noutput y\n");
  REQUIRE(small.size() == 1);
  CHECK((small[0].turns == 12 && small[0].group == 1));
  // Rows are added up by a warp each.
  const std::vector<cuda::Grid> rows = grids_of("input x : f32[40, 70]\ny = sum(x) {axes = [1]}\noutput y\n");
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].turns == 40 && rows[0].group >= 32));
  // Rows are independent where a running product is not.
  const std::vector<cuda::Grid> running = grids_of("input x : f32[40, 7]\ny = cumprod(x)\noutput y\n");
  REQUIRE(running.size() == 1);
  CHECK(running[0].turns == 40);
}

TEST_CASE("accumulation at places that data decide is no two threads' at once", "[cuda]") {
  const std::string program = "input x : f32[9, 4]\ninput i : i64[20]\ninput s : f32[20, 4]\ny = gather(x, i)\ng = vjp(y; x; s)\noutput g\n";
  const Written w(program);
  std::size_t scattered = 0;
  for (const auto& nest : w.lowered.nests) {
    if (nest.zeroed.empty()) continue;
    ++scattered;
    // The column is the same in every access, the row is data's.
    const cuda::Grid grid = cuda::grid_of(w.lowered.system, nest);
    CHECK((grid.threads == 1 || grid.turns == 4));
    CHECK_THAT(cuda::cuda_file(w.text), Contains("cudaMemsetAsync(g, 0, 144, stream);"));
  }
  CHECK(scattered == 1);
}

TEST_CASE("NVRTC compiles what is emitted, without a warning", "[cuda]") {
  if (!cuda::has_nvrtc()) {
    std::cout << "cuda: this build has no NVRTC; what is emitted is not compiled\n";
    CHECK_THROWS_AS(cuda::compile_to_ptx(""), Unsupported);
    return;
  }
  std::size_t kernels = 0;
  for (const char* program : programs) {
    INFO(program);
    const Written w(program);
    const std::string text = cuda::cuda_file(w.text);
    INFO(text);
    std::string ptx;
    REQUIRE_NOTHROW(ptx = cuda::compile_to_ptx(text));
    CHECK(count(ptx, ".visible .entry ") == w.lowered.nests.size());
    kernels += w.lowered.nests.size();
  }
  CHECK(kernels > 20);
}

TEST_CASE("the header says how many turns of work each launch has", "[sound]") {
  const std::string layer_norm = "input x : f32[4096, 1024]\ninput s : f32[1024]\ninput b : f32[1024]\ninput d : f32[4096, 1024]\n"
                                 "y = layer_norm(x, s, b)\ng, h, i = vjp(y; x, s, b; d)\noutput y, g, h, i\n";
  const Written w(layer_norm);
  const std::string text = cuda::cuda_file(w.text);
  std::size_t rows_of_a_thread = 0;
  for (std::size_t k = 0; k < w.lowered.nests.size(); ++k) {
    const cuda::Grid grid = cuda::grid_of(w.lowered.system, w.lowered.nests[k]);
    const std::string launch = cuda::SharedKernels(w.text).name_of(k) + "<<<";
    const std::size_t at = text.find(launch);
    REQUIRE(at != std::string::npos);
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::string turns = "turns: " + std::to_string(grid.turns);
    CHECK(line.substr(line.rfind("turns: ")) == turns);
    // Rows whose sums are added up in passing are 64 at a time one thread's.
    if (w.lowered.plan.kernels[k].stretch > 0) {
      CHECK(grid.turns * w.lowered.plan.kernels[k].stretch == 4096);
      ++rows_of_a_thread;
    }
  }
  CHECK(rows_of_a_thread > 0);
}

TEST_CASE("what NVRTC says is an error that quotes it", "[cuda]") {
  if (!cuda::has_nvrtc()) return;
  CHECK_THROWS_WITH(cuda::compile_to_ptx("__global__ void k() { undeclared = 1; }"), Contains("nvrtc: ") && Contains("undeclared"));
  CHECK_THROWS_WITH(cuda::compile_to_ptx("", "compute_1"), Contains("`compute_1`") && Contains("compute_80"));
}
