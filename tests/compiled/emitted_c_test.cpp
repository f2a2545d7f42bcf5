// Emitted C through a compiler: what it computes, and that it is C which compilers have nothing to say of.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

#include "compiled/emit/text/c_file.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "compiled/runtime/question.hpp"
#include "spec/error.hpp"
#include "tests/compiled/build_systems.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using namespace etalon::compiled;
using Catch::Matchers::Contains;

namespace {

std::string c_of(const std::string& program, const std::string& name) {
  const Task task = task_of(spec::parse_program(program));
  const Compilation lowered = source::lower_for_text(task);
  return c_file(source::ProgramText(task, lowered, name));
}

bool has_command(const std::string& command) { return std::system((command + " --version > /dev/null 2>&1").c_str()) == 0; }

}  // namespace

TEST_CASE("emitted C sums in the order of code for machines without vectors, bit for bit", "[compiled][emitted]") {
  CompileOptions scalar;
  scalar.device = std::make_shared<Processor>(machines::scalar);
  scalar.off.insert("contractions");
  std::mt19937 draw(1);
  std::uniform_real_distribution<double> reals(-1, 1);
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    // More than two levels of the tree of blocks.
    const Product product{dtype, {}, 2, 1000, 3, false, false, false};
    const System s = system_of(product);
    std::vector<HostTensor> inputs;
    for (const TensorId id : s.inputs) {
      std::vector<double> values(static_cast<std::size_t>(s[id].dims.count()));
      std::generate(values.begin(), values.end(), [&] { return reals(draw); });
      inputs.push_back(real_tensor(dtype, s[id].dims, values));
    }
    const auto once = source::run_as_c(s)(inputs);
    CHECK(once == compiled_values(s, inputs, scalar));
    source::CCompiler optimising;
    optimising.flags = "-std=c99 -O3 -Wall -Wextra -Wconversion -ffp-contract=off";
    CHECK(once == source::run_as_c(s, optimising)(inputs));
  }
}

TEST_CASE("a program with state is one C function that strangers can call", "[compiled][emitted]") {
  const std::string text = c_of(R"(
parameter w : f32[2, 1]
parameter m : f32[2, 1]
input x : f32[4, 2] @ "net\n.cpp\\":7
input y : f32[4, 1]
index t : i64[] in 1..10
constant scale : f32[] = 0.5
p = matmul(x, w) @ "net.cpp":8 section "forward \\"
loss = mse(p, y)
g = vjp(loss; w)
w1, m1 = sgd(w, g, m, t) {lr = 0.5, momentum = 0.5}
half = mul(loss, scale)
output loss, half
update w := w1
update m := m1
)",
                                "step");
  INFO(text);
  CHECK_THAT(text, Contains("net.cpp:8") && Contains("section \"forward") && Contains("static const float scale[1] = {0.5f};"));
  // The struct as a caller declares it: the program's inputs but for constants, outputs, workspace.
  struct Arguments {
    float *w, *m;
    const float *x, *y;
    const std::int64_t* t;
    float *loss, *half;
    void* workspace;
  };
  const auto library = source::compile_c(text);
  const auto step = reinterpret_cast<void (*)(const Arguments*)>(library->symbol("step"));
  std::vector<double> workspace(1 + *static_cast<const std::size_t*>(library->symbol("step_workspace_bytes")) / sizeof(double));
  float w[2] = {1, 0};
  float m[2] = {0, 0};
  const float x[8] = {2, 0, 0, 2, 2, 2, 1, -1};
  const float y[4] = {0, 1, 0, 3};
  std::int64_t t = 1;
  float loss = 0;
  float half = 0;
  const Arguments arguments{w, m, x, y, &t, &loss, &half, workspace.data()};
  step(&arguments);
  // The numbers of programs_test.cpp: residuals r = (2, -1, 2, -2), gradient (3, 2).
  CHECK((loss == 3.25F && half == 1.625F && w[0] == -0.5F && w[1] == -1 && m[0] == 3 && m[1] == 2));
  t = 2;
  step(&arguments);
  CHECK((loss == 6.3125F && m[0] == 1.5F - 5.25F && m[1] == 1 - 4.75F && w[0] == -0.5F + 1.875F && w[1] == -1 + 1.875F));
}

TEST_CASE("names of users that mean something in C do not in the text", "[compiled][emitted]") {
  const std::string program = R"(
input double : f32[3]
input exp.f : f32[3]
input i : f32[3]
input et_sign_f32 : f32[3]
constant sinf : f32[3] = [1, inf, nan]
expf = exp(double)
restrict = mul(exp.f, i)
memcpy = sign(et_sign_f32)
v = add(expf, restrict)
workspace = add(v, memcpy)
isnan = maximum(workspace, sinf)
output isnan, workspace
)";
  for (const char* command : {"cc", "clang"}) {
    if (!has_command(command)) continue;
    source::CCompiler compiler;
    compiler.command = command;
    // Names need not be reserved where the public function has one of them.
    CHECK_NOTHROW(source::compile_c(c_of(program, "main"), compiler));
  }
}

TEST_CASE("expressions with common parts are written in linear size", "[compiled][emitted]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {4});
  const TensorId y = output(s, "y", DType::f32, {4});
  const std::vector<Binder> binders = s.bind_all(y);
  const Expr i = spec::variable(binders[0]);
  Expr e = s.at(x, {i});
  // Both branches of each choice hold what came before; the guarded read must stay behind its guard.
  constexpr int levels = 9;
  for (int n = 0; n < levels; ++n) e = select(apply(Primitive::lt, {e, spec::decimal(n)}), e + e, e * spec::decimal(5, -1));
  s.define(y, binders, select(apply(Primitive::lt, {i, spec::integer(3)}), e + s.at(x, {i + spec::integer(1)}), e));
  const Task task = task_of(s);
  CompileOptions as_written;
  as_written.off = {"all"};
  const Compilation lowered = source::lower_for_text(task, as_written);
  const std::string text = c_file(source::ProgramText(task, lowered, "choices"));
  INFO(text);
  // One name per level; written out, the last would stand there 3^9 times.
  CHECK(std::count(text.begin(), text.end(), '?') < 5 * levels);
  const auto xs = real_tensor(DType::f32, {4}, {0.25, 1, -3, 100});
  const auto values = source::run_as_c(s, {}, as_written)(std::vector<HostTensor>{xs});
  REQUIRE(values.size() == 1);
  CHECK(values[0] == reference_values(s, {xs})[0]);
}

TEST_CASE("what a C compiler says is an error of ours that quotes it", "[compiled][emitted]") {
  CHECK_THROWS_AS(source::compile_c("int f(void) { return x; }"), InternalError);
  CHECK_THROWS_WITH(source::compile_c("int f(void) { return x; }"), Contains("cc says") && Contains("undeclared"));
  CHECK_THROWS_WITH(source::compile_c("int f(double x);\nint f(double x) { return x; }"), Contains("-Wfloat-conversion"));
  source::CCompiler missing;
  missing.command = "no-such-compiler";
  CHECK_THROWS_WITH(source::compile_c("", missing), Contains("there is no C compiler `no-such-compiler`"));
  CHECK_THROWS_AS(source::compile_c("int f(void);\nint f(void) { return 1; }")->symbol("g"), IoError);
}
