// What docs/requests.md shows: a value that is kept, one that is not, and a guard.
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"
#include "training/routine.hpp"
using namespace etalon;
using namespace etalon::training;

namespace {

struct Model {
  Traced w, b;
};

spec::Program program_with_requests() {
  Tracer t;
  const Traced x = t.input("x", DType::f32, {2, 3});
  const Model m{t.parameter("w", DType::f32, {4, 3}), t.parameter("b", DType::f32, {4})};
  const auto hidden = named("hidden", ops::tanh(inlined(ops::linear(x, m.w, m.b))));
  t.output("loss", ops::sum(hidden));
  return t.finish();
}

}  // namespace

int main() {
  const spec::Program program = program_with_requests();
  compiled::Store store;
  store.put("w", HostTensor::of<float>({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}));
  store.put("b", HostTensor::of<float>({4}, {0, 0, 0, std::numeric_limits<float>::quiet_NaN()}));
  const std::map<std::string, HostTensor> inputs{{"x", HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}};
  Routine step(program, Target::cpu(), store);
  step.guard({{"hidden", "loss"}, /*updates=*/true});
  const Outcome outcome = step.run(inputs);   // `hidden` is nan at [0, 3]
  std::puts(outcome.why.c_str());
  return outcome.why == "`hidden` is nan at [0, 3]" ? 0 : 1;
}
