#include <cstdio>

#include "reference/backend.hpp"

int main() {
  using namespace etalon;
  spec::Request request;
  request.program = spec::parse_program("input x : f64[2]\ny = exp(x)\noutput y\n");
  request.inputs = {HostTensor::of<double>({2}, {0.0, 1.0})};
  const auto answer = reference::make_reference_backend()->run(request);
  const double e = std::get<spec::Numbers>(answer).outputs[0].view<double>()[1];
  std::printf("%.17g\n", e);
  return e == 2.718281828459045 ? 0 : 1;
}
