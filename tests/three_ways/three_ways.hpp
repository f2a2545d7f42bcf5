// Runs one training of a model in the three ways: reference tensors, a session, a compiled step.
#pragma once

#include <boost/hana/for_each.hpp>
#include <boost/hana/transform.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <boost/hana/zip.hpp>
#include <map>
#include <string>
#include <vector>

#include "reference/host.hpp"
#include "reference/number.hpp"
#include "reference/tensor.hpp"
#include "reference/tensor_world.hpp"
#include "spec/library/optimizers.hpp"
#include "training/model/pack.hpp"
#include "training/programs.hpp"
#include "training/routine.hpp"
#include "training/session/session.hpp"

namespace etalon::test {

using reference::Real50;
using training::Given;
using training::Named;
using training::Outcome;
using training::State;

inline constexpr double rate = 0.125;
inline constexpr const char* group_of_all = "*";

/// What each step left: the loss and the parameters with the optimizer's state.
struct Trajectory {
  std::vector<HostTensor> losses;
  std::vector<Named> states;
  [[nodiscard]] friend bool operator==(const Trajectory&, const Trajectory&) = default;
};

/// SGD with momentum and decay for all parameters of the model.
template <template <template <class> class> class Model>
State state_of(const Model<training::Declared>& declared) {
  const training::Parameters p(declared);
  return {p, training::Optimization(p, {{group_of_all, {"sgd", {{"momentum", 0.5}}, 0.0625}}}), 11};
}

/// The reference tensor of a type with the host's numbers, over Dual numbers too.
template <class Tensor>
Tensor tensor_from(const HostTensor& host) {
  Tensor t;
  if constexpr (reference::is_real_element<typename Tensor::Element>) {
    const auto numbers = reference::from_host<Real50>(host);
    for (std::size_t i = 0; i < t.size(); ++i) t.set(i, typename Tensor::Element(numbers.real[i]));
  } else {
    const auto numbers = reference::from_host<Real50>(host);
    for (std::size_t i = 0; i < t.size(); ++i) t.set(i, static_cast<typename Tensor::Element>(numbers.integer[i]));
  }
  return t;
}

template <class Structure>
Structure tensors_from(const Named& values) {
  Structure s;
  training::for_each_leaf(s, [&](const std::string& path, auto& leaf) { leaf = tensor_from<std::remove_cvref_t<decltype(leaf)>>(values.at(path)); });
  return s;
}

template <class Tensor>
HostTensor rounded(const Tensor& t) {
  return reference::to_host<Real50>(t.array(), DType::f32);
}

/// Derivatives by definition, the optimizer as a call; rounded to f32 after each step, as what a store keeps is.
template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
Trajectory on_tensors(const State& start, const Loss& loss, const Batch<Given>& batch, int steps) {
  using World = reference::TensorWorld<Real50>;
  const Named given = training::named(batch);
  Named state = start.download();
  Trajectory result;
  for (int step = 0; step < steps; ++step) {
    const training::Noise<World::Of> noise{{std::int64_t{11}}, {std::int64_t{step}}};
    // One leaf per parameter: a tied one stands in the model twice, and in what is differentiated once.
    const Named values = state;
    Model<World::Of> model;
    training::for_each_leaf(model, [&](const std::string& path, auto& leaf) {
      leaf = tensor_from<std::remove_cvref_t<decltype(leaf)>>(values.at(start.parameters().owner(path)));
    });
    const auto leaves = training::pack_of(model);
    const auto f = [&](const auto&... leaf) {
      using Number = typename std::tuple_element_t<0, std::tuple<std::remove_cvref_t<decltype(leaf)>...>>::Element;
      using Here = reference::TensorWorld<Number>;
      return loss(training::model_of_pack<Model<Here::template Of>>(boost::hana::make_tuple(leaf...)),
                  tensors_from<Batch<Here::template Of>>(given), noise);
    };
    const auto y = boost::hana::unpack(leaves, f);
    result.losses.push_back(rounded(y));
    const auto gradients = reference::vjp(f, leaves, reference::Tensor<Real50, Shape<>>{Real50(1)});
    std::vector<std::string> paths;
    training::for_each_leaf(model, [&](const std::string& path, const auto&) { paths.push_back(path); });
    // Gradients of leaves that are one parameter add up before the step.
    std::map<std::string, std::vector<Real50>> sums;
    std::size_t n = 0;
    boost::hana::for_each(gradients, [&](const auto& g) {
      std::vector<Real50>& sum = sums[start.parameters().owner(paths[n++])];
      sum.resize(g.size(), Real50(0));
      for (std::size_t i = 0; i < g.size(); ++i) sum[i] += g[i];
    });
    n = 0;
    boost::hana::for_each(leaves, [&](const auto& p) {
      const std::string& path = paths[n++];
      if (start.parameters().owner(path) != path) return;
      using Tensor = std::remove_cvref_t<decltype(p)>;
      const double decay = start.parameters().at(path).decays ? 0.0625 : 0;
      const auto after = ops::sgd.set("lr", rate).set("momentum", 0.5).set("weight_decay", decay)(
          p, Tensor(sums.at(path)), tensor_from<Tensor>(values.at(path + ".m")), reference::Tensor<std::int64_t, Shape<>>{step + 1});
      state.at(path) = rounded(after[boost::hana::size_c<0>]);
      state.at(path + ".m") = rounded(after[boost::hana::size_c<1>]);
    });
    state.at(training::names::count) = HostTensor::of<std::int64_t>({}, {step + 1});
    result.states.push_back(state);
  }
  return result;
}

template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
Trajectory in_a_session(spec::Backend& backend, const State& start, const Loss& loss, const Batch<Given>& batch, int steps) {
  training::Session session(backend, start);
  const auto model = session.model<Model>();
  Trajectory result;
  for (int step = 0; step < steps; ++step) {
    const auto y = loss(model, session.inputs(batch), session.noise());
    session.backward(y);
    const Outcome outcome = session.step(rate);
    if (!outcome.completed()) throw std::runtime_error(outcome.why);
    result.losses.push_back(y.value());
    result.states.push_back(session.state().download());
  }
  return result;
}

template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
spec::Program step_of(const State& state, const Loss& loss) {
  return training::training_program<Model, Batch>(state, loss, [](const Traced& count) {
    return spec::real(count) * 0 + rate;
  });
}

template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
Trajectory compiled_once(const training::Target& target, const State& start, const Loss& loss, const Batch<Given>& batch, int steps) {
  const training::Routine routine(step_of<Model, Batch>(start, loss), target, start.store());
  Trajectory result;
  for (int step = 0; step < steps; ++step) {
    const Outcome outcome = routine.run(training::named(batch));
    if (!outcome.completed()) throw std::runtime_error(outcome.why);
    result.losses.push_back(outcome.output("loss"));
    result.states.push_back(start.download());
  }
  return result;
}

}  // namespace etalon::test
