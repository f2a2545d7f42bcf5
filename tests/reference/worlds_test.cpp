#include <catch2/catch.hpp>

#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/tensor.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"

using namespace etalon;
using reference::Tensor;

namespace {

/// The traced program's first output over doubles, on these inputs in the order of its inputs that are not constants.
[[nodiscard]] std::vector<double> run(const spec::Program& program, const std::vector<std::vector<double>>& given) {
  const spec::System system = lower(program);
  std::vector<reference::Array<double>> inputs;
  std::size_t next = 0;
  for (const spec::Input& input : program.inputs) {
    const HostTensor value = input.value ? *input.value : HostTensor::of<double>(input.dims, given.at(next++));
    inputs.push_back(reference::from_host<double>(value));
  }
  return reference::evaluate<double>(system, inputs).at(0).real;
}

}  // namespace

TEST_CASE("one generic lambda gives the same bits on tensors and as a program", "[worlds]") {
  const auto f = [](auto x, auto w, auto b) {
    auto h = ops::relu(ops::linear(x, w, b));
    auto y = ops::softmax.with<"axis=0">(2 * h - 0.1);
    return ops::sum.with<"axes=[1]">(ops::concat.with<"axis=1">(y, h / 3.0));
  };
  const std::vector<double> x{0.1, -0.7, 1.3, 2.9, 0.3, -1.1}, w{0.3, 0.2, -0.9, 1.7, -0.4, 0.6}, b{0.05, -0.15};
  const auto direct = f(Tensor<double, Shape<2, 3>>(x), Tensor<double, Shape<2, 3>>(w), Tensor<double, Shape<2>>(b));
  const spec::Program program = trace<f64, Shape<2, 3>, Shape<2, 3>, Shape<2>>(f);
  const std::vector<double> traced = run(program, {x, w, b});
  REQUIRE(traced.size() == 2);
  CHECK(types_of(program).at(program.outputs[0]).dims == decltype(direct)::dims);
  CHECK(direct.values() == traced);
  CHECK(spec::parse_program(to_text(program)) == program);
}

TEST_CASE("an absent operand and a sign in both worlds", "[worlds]") {
  const auto f = [](auto x, auto w) { return ops::mean(ops::linear(-x, w, spec::absent)); };
  const std::vector<double> x{1, 2}, w{3, 4, 5, 6};  // -(1·3 + 2·4) = -11, -(1·5 + 2·6) = -17: the mean is -14
  const auto direct = f(Tensor<double, Shape<1, 2>>(x), Tensor<double, Shape<2, 2>>(w));
  CHECK(direct.values() == std::vector<double>{-14});
  CHECK(run(trace<f64, Shape<1, 2>, Shape<2, 2>>(f), {x, w}) == std::vector<double>{-14});
}
