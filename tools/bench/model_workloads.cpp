#include "spec/library/operators.hpp"
#include "tools/bench/model.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

std::vector<Traced> first_of(const std::vector<Traced>& in, std::size_t count) {
  return {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::string state_name(const Model& model, std::size_t parameter, std::size_t state) {
  return model.parameters[parameter].name + "." + model.state[state];
}

/// One parameter's step: what the optimizer gives goes back where it came from.
void update(Tracer& tracer, const Model& model, const Traced& value, const Traced& gradient,
            const std::vector<Traced>& state, const Traced& count) {
  std::vector<spec::TracedOperand> operands{value, gradient};
  operands.insert(operands.end(), state.begin(), state.end());
  operands.emplace_back(count);
  const std::vector<Traced> results = tracer.call(model.optimizer, operands, model.attributes);
  tracer.assign(value, results[0]);
  for (std::size_t s = 0; s < state.size(); ++s) tracer.assign(state[s], results[s + 1]);
}

/// Inputs in order: parameters, data, targets, then the optimizer's state by parameter, then the number of steps done.
void training_step(Tracer& tracer, const Model& model, const std::vector<Traced>& in) {
  const std::size_t count = model.parameters.size();
  const std::vector<Traced> parameters = first_of(in, count);
  const Traced loss = model.loss(model.answers(Reader(parameters), in[count]), in[count + 1]);
  const std::vector<Traced> gradients = spec::gradients(loss, parameters);
  const Traced steps = in.back() + 1;
  auto next = in.begin() + static_cast<std::ptrdiff_t>(count) + 2;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<Traced> state(next, next + static_cast<std::ptrdiff_t>(model.state.size()));
    next += static_cast<std::ptrdiff_t>(model.state.size());
    update(tracer, model, parameters[i], gradients[i], state, steps);
  }
  tracer.assign(in.back(), steps);
  tracer.output("loss", loss);
}

Workload first_call(const Model& model) {
  Workload w = training_workload(model);
  w.name = "first-call-" + model.name;
  w.group = "first-call";
  w.what = "from the program to its first results in a fresh process, and peak memory; " + w.what;
  w.quantity = Quantity::first_call;
  w.flops = 0;
  return w;
}

/// What a user waits for who starts the same work again.
Workload next_call(const Model& model) {
  Workload w = first_call(model);
  w.name = "next-call-" + model.name;
  w.group = "next-call";
  w.what = "the same in a process that finds what an earlier one kept on disk; " + training_workload(model).what;
  w.keeps_code = true;
  return w;
}

/// Answers and their tangent, for a tangent of every parameter.
Workload tangents(const Model& model) {
  Workload w = forward_workload(model);
  w.name = w.recipe = model.name + "-jvp";
  w.what = "JVP in all parameters with the " + w.what;
  for (const InputSpec& p : model.parameters) w.inputs.push_back({p.name + "_tangent", p.dims});
  w.body = [model](Tracer& tracer, const std::vector<Traced>& in) {
    const std::size_t count = model.parameters.size();
    const std::vector<Traced> parameters = first_of(in, count);
    const std::vector<Traced> seeds(in.begin() + static_cast<std::ptrdiff_t>(count) + 1, in.end());
    const Traced answers = model.answers(Reader(parameters), in[count]);
    tracer.output("answers", answers);
    tracer.output("tangent", spec::jvp(std::span(&answers, 1), parameters, seeds)[0]);
  };
  return w;
}

/// Answers and the cotangent of every parameter, for a cotangent of the answers.
Workload cotangents(const Model& model, const Dims& answers_dims) {
  Workload w = forward_workload(model);
  w.name = w.recipe = model.name + "-vjp";
  w.what = "VJP in all parameters with the " + w.what;
  w.inputs.push_back({"seed", answers_dims});
  w.body = [model](Tracer& tracer, const std::vector<Traced>& in) {
    const std::size_t count = model.parameters.size();
    const std::vector<Traced> parameters = first_of(in, count);
    const Traced answers = model.answers(Reader(parameters), in[count]);
    tracer.output("answers", answers);
    const std::vector<Traced> found = spec::vjp(std::span(&answers, 1), std::span(&in.back(), 1), parameters);
    for (std::size_t i = 0; i < count; ++i) tracer.output("g_" + model.parameters[i].name, found[i]);
  };
  return w;
}

}  // namespace

Workload training_workload(const Model& model) {
  Workload w;
  w.name = "train-" + model.name;
  w.group = "training";
  w.what = "training step: " + model.what;
  w.recipe = w.name;
  w.inputs = model.parameters;
  w.inputs.push_back(model.data);
  w.inputs.push_back(model.targets);
  for (const InputSpec& p : model.parameters) w.compared_state.push_back(p.name);
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    for (std::size_t s = 0; s < model.state.size(); ++s) {
      const std::string name = state_name(model, p, s);
      w.inputs.push_back({name, model.parameters[p].dims, 0, 0, Values::zeros, true});
      if (s == 0 && model.compares_first_state) w.compared_state.push_back(name);
    }
  }
  w.inputs.push_back({"steps", {}, 0, 0, Values::zeros, true, DType::i64});
  w.body = [model](Tracer& tracer, const std::vector<Traced>& in) { training_step(tracer, model, in); };
  w.flops = model.flops;
  return w;
}

Workload forward_workload(const Model& model) {
  Workload w;
  w.name = model.name + "-forward";
  w.group = "derivatives";
  w.what = "answers: " + model.what.substr(0, model.what.find(", ", model.what.find("batch")));
  w.recipe = w.name;
  w.inputs = model.parameters;
  w.inputs.push_back(model.data);
  w.body = [model](Tracer& tracer, const std::vector<Traced>& in) {
    tracer.output("answers", model.answers(Reader(first_of(in, model.parameters.size())), in.back()));
  };
  return w;
}

void add_models(std::vector<Workload>& all) {
  const std::vector<Model> models{moons_model(), mlp_model(), cnn_model(), gpt_model()};
  for (const Model& model : models) all.push_back(training_workload(model));
  for (const auto& [model, dims] : {std::pair{moons_model(), Dims{10, 1}}, std::pair{mlp_model(), Dims{128, 10}}}) {
    all.push_back(forward_workload(model));
    all.push_back(tangents(model));
    all.push_back(cotangents(model, dims));
  }
  for (const Model& model : models) all.push_back(first_call(model));
  for (const Model& model : models) all.push_back(next_call(model));
}

}  // namespace etalon::bench
