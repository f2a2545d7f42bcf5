#include <cstdio>

#include "compiled/executable.hpp"

int main() {
  using namespace etalon;
  const auto square = compiled::compile(spec::parse_program("input x : f32[2]\ny = mul(x, x)\noutput y\n"));
  const std::vector<HostTensor> inputs{HostTensor::of<float>({2}, {3.0F, -4.0F})};
  const float y = square.run(inputs)[0].view<float>()[1];
  std::printf("%g\n", static_cast<double>(y));
  return y == 16.0F ? 0 : 1;
}
