#include <boost/hana/define_struct.hpp>

#include "spec/library/operations.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

namespace {

using namespace etalon::ops;

template <template <class> class V>
struct MoonsMlp {
  using First = V<Shape<16, 2>>;
  using Second = V<Shape<16, 16>>;
  using Third = V<Shape<1, 16>>;
  using Bias = V<Shape<16>>;
  BOOST_HANA_DEFINE_STRUCT(MoonsMlp, (First, w1), (Bias, b1), (Second, w2), (Bias, b2), (Third, w3));
};

Traced forward(const MoonsMlp<Untyped>& m, const Traced& x, const Noise<Untyped>* /*noise*/) {
  const Traced first = relu(linear(x, m.w1, m.b1));
  const Traced second = relu(linear(first, m.w2, m.b2));
  return linear(second, m.w3, spec::absent);
}

}  // namespace

Task moons() {
  const Initialiser xavier{"xavier_uniform"};
  const Initialiser zeros{"zeros"};
  Task task;
  task.name = "moons";
  use_model(task, MoonsMlp<Declared>{{xavier, true}, {zeros, true}, {xavier, true}, {zeros, true}, {xavier, true}}, forward);
  task.loss = [](const Traced& answers, const Traced& targets) { return hinge(answers, targets); };
  task.rate = [](const Traced& step_n, std::int64_t steps) {
    return 0.1 * (2 * steps - step_n) / static_cast<double>(steps);
  };
  task.groups = {{"*", {"sgd", {{"momentum", 0.0}}, 1e-4}}};
  return task;
}

}  // namespace etalon::training
