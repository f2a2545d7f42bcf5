#include <cstdio>

#include "compiled/runtime/executable.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"
using namespace etalon;

int main() {
  Tracer t;
  const Traced x = t.input("x", DType::f32, {4, 1}), y = t.input("y", DType::f32, {4, 1});
  const Traced w = t.parameter("w", DType::f32, {1, 1});
  const Traced loss = ops::mse(ops::linear(x, w, spec::absent), y);
  t.assign(w, w - 0.1 * gradient(loss, w));
  t.output("loss", loss);
  const compiled::Executable step = compiled::compile(t.finish());  // forward, gradient, update: one function

  compiled::Store store;  // parameters live here between steps
  store.put("w", HostTensor::of<float>({1, 1}, {0}));
  const HostTensor given = HostTensor::of<float>({4, 1}, {1, 2, 3, 4}), wanted = HostTensor::of<float>({4, 1}, {3, 6, 9, 12});
  for (int n = 0; n < 4; ++n) std::printf("%.2f ", step.run(store, {{"x", given}, {"y", wanted}})[0].view<float>()[0]);
  std::printf("w = %.2f\n", store.read("w").view<float>()[0]);
}
