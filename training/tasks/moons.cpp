#include <boost/hana/define_struct.hpp>

#include "spec/library/operations.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

namespace {

using namespace etalon::ops;

template <class V>
struct MoonsMlp {
  BOOST_HANA_DEFINE_STRUCT(MoonsMlp, (V, w1), (V, b1), (V, w2), (V, b2), (V, w3));
};

Traced forward(const MoonsMlp<Traced>& m, const Traced& x, const Noise* /*noise*/) {
  const Traced first = relu(linear(x, m.w1, m.b1));
  const Traced second = relu(linear(first, m.w2, m.b2));
  return linear(second, m.w3, spec::absent);
}

}  // namespace

Task moons() {
  const auto drawn = [](const Dims& dims, const Initialiser& how) { return Parameter{dims, how, true}; };
  const Initialiser xavier{"xavier_uniform"};
  const Initialiser zeros{"zeros"};
  Task task;
  task.name = "moons";
  use_model(task, MoonsMlp<Parameter>{drawn({16, 2}, xavier), drawn({16}, zeros), drawn({16, 16}, xavier),
                                      drawn({16}, zeros), drawn({1, 16}, xavier)},
            forward);
  task.loss = [](const Traced& answers, const Traced& targets) { return hinge(answers, targets); };
  task.rate = [](const Traced& step_n, std::int64_t steps) {
    return 0.1 * (2 * steps - step_n) / static_cast<double>(steps);
  };
  task.optimizer = {"sgd", {{"momentum", 0.0}}, {"velocity"}, 1e-4};
  return task;
}

}  // namespace etalon::training
