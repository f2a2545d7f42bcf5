#include "training/tasks/perceptron.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"

namespace etalon::training {

namespace {

using namespace etalon::ops;

constexpr std::int64_t embedded = 16, most_units = 65'536;
constexpr std::size_t most_layers = 64;

[[nodiscard]] Parameter weights(const Dims& dims) { return {dims, DType::f32, Initialiser{"kaiming_uniform"}, true}; }
[[nodiscard]] Parameter biases(std::int64_t count) { return {Dims{count}, DType::f32, Initialiser{"zeros"}}; }
/// Measured, not trained.
[[nodiscard]] Parameter measured(std::int64_t count, const char* first) {
  return {Dims{count}, DType::f32, Initialiser{first}, false, true};
}

[[nodiscard]] std::string layer(std::size_t n, const char* part) { return fmt::format("layers.{}.{}", n, part); }

void require_sound(const Perceptron& model) {
  if (model.hidden.size() > most_layers) {
    throw SpecViolation(fmt::format("model: {} hidden layers, expected at most {}", model.hidden.size(), most_layers));
  }
  for (const std::int64_t units : model.hidden) {
    if (units < 1 || units > most_units)
      throw SpecViolation(fmt::format("model: a hidden layer of {} units, expected 1 to {}", units, most_units));
  }
  constexpr std::int64_t most_features = std::int64_t{1} << 31U, most_words = 256;
  if (model.features < 1 || model.features > most_features)
    throw SpecViolation(fmt::format("model: {} features, expected 1 to {}", model.features, most_features));
  if (model.vocabulary < 0 || model.vocabulary > most_words)
    throw SpecViolation(fmt::format("model: a vocabulary of {}, expected 0 to {}", model.vocabulary, most_words));
  if (!(model.rate > 0 && std::isfinite(model.rate)))
    throw SpecViolation(fmt::format("model: a rate of {}, expected one above 0", model.rate));
}

[[nodiscard]] Parameters parameters_of(const Perceptron& model) {
  Parameters all;
  std::int64_t width = model.features;
  if (model.vocabulary > 0) {
    all.add("embedding.weight", weights({model.vocabulary, embedded}));
    width *= embedded;
  } else {
    all.add("input.mean", measured(width, "zeros"));
    all.add("input.scale", measured(width, "ones"));
  }
  std::vector<std::int64_t> sizes = model.hidden;
  sizes.push_back(model.classes > 0 ? model.classes : 1);
  for (std::size_t n = 0; n < sizes.size(); width = sizes[n++]) {
    all.add(layer(n, "weight"), weights({sizes[n], width}));
    all.add(layer(n, "bias"), biases(sizes[n]));
  }
  if (model.classes == 0) {
    all.add("output.mean", measured(1, "zeros"));
    all.add("output.scale", measured(1, "ones"));
  }
  return all;
}

/// What the first layer reads: numbers of one size, or what stands for the bytes, one behind the other.
[[nodiscard]] Traced prepared(const Perceptron& model, const Task::Values& values, const Traced& inputs) {
  if (model.vocabulary == 0) return (inputs - values.at("input.mean")) * values.at("input.scale");
  const Traced positions = cast.set("dtype", "i64")(inputs);
  const std::vector<std::int64_t> shape{inputs.dims()[0], model.features * embedded};
  return reshape.set("shape", shape)(embedding(values.at("embedding.weight"), positions));
}

[[nodiscard]] Traced forward(const Perceptron& model, const Task::Values& values, const Traced& inputs) {
  Traced x = prepared(model, values, inputs);
  for (std::size_t n = 0; n <= model.hidden.size(); ++n) {
    if (n > 0) x = relu(x);
    x = linear(x, values.at(layer(n, "weight")), values.at(layer(n, "bias")));
  }
  return model.classes > 0 ? x : x * values.at("output.scale") + values.at("output.mean");
}

struct Moments {
  double mean = 0, deviation = 0;
};

[[nodiscard]] Moments moments_of(const std::vector<double>& values) {
  Moments found;
  for (const double value : values) found.mean += value;
  found.mean /= static_cast<double>(values.size());
  for (const double value : values) found.deviation += (value - found.mean) * (value - found.mean);
  found.deviation = std::sqrt(found.deviation / static_cast<double>(values.size()));
  return found;
}

/// One over the deviation; 1 where it is nothing, or so little or so much that this is no number of f32.
[[nodiscard]] float scale_of(const Moments& moments) {
  const auto scale = static_cast<float>(1 / moments.deviation);
  return std::isnormal(scale) ? scale : 1.0F;
}

[[nodiscard]] HostTensor one(double value) { return HostTensor::of<float>({1}, {static_cast<float>(value)}); }

}  // namespace

Perceptron perceptron_for(const Examples& examples, const Perceptron& sizes) {
  Perceptron model = sizes;
  model.features = examples.data.features;
  model.classes = examples.data.classes;
  model.vocabulary = examples.vocabulary;
  return model;
}

Task perceptron(const Perceptron& model) {
  require_sound(model);
  Task task;
  task.name = "layers";
  task.parameters = parameters_of(model);
  task.forward = [model](const Task::Values& values, const Traced& inputs, const Noise<Untyped>* /*noise*/) {
    return forward(model, values, inputs);
  };
  const bool classifies = model.classes > 0;
  task.loss = [classifies](const Traced& answers, const Traced& targets) {
    return classifies ? cross_entropy(answers, targets, spec::absent) : mse(answers, targets);
  };
  task.rate = [peak = model.rate](const Traced& step_n, std::int64_t steps) {
    return linear_schedule.set("initial", peak).set("steps", steps)(step_n);
  };
  task.groups = {{"*", {"adamw", {}, 0.01}}};
  return task;
}

Named scaling_of(const Examples& examples, const std::vector<std::int64_t>& rows) {
  const Dataset& data = examples.data;
  const auto features = static_cast<std::size_t>(data.features);
  Named values;
  if (examples.vocabulary == 0) {
    std::vector<float> means(features), scales(features);
    std::vector<double> of_all;
    for (std::size_t feature = 0; feature < features; ++feature) {
      std::vector<double> column;
      for (const std::int64_t row : rows)
        column.push_back(static_cast<double>(data.inputs[static_cast<std::size_t>(row) * features + feature]));
      const Moments moments = moments_of(column);
      means[feature] = static_cast<float>(moments.mean);
      scales[feature] = scale_of(moments);
      if (examples.one_unit) of_all.insert(of_all.end(), column.begin(), column.end());
    }
    if (examples.one_unit) {
      const Moments moments = moments_of(of_all);
      means.assign(features, static_cast<float>(moments.mean));
      scales.assign(features, scale_of(moments));
    }
    values.emplace("input.mean", HostTensor::of({data.features}, means));
    values.emplace("input.scale", HostTensor::of({data.features}, scales));
  }
  if (data.numbers.empty()) return values;
  std::vector<double> numbers;
  for (const std::int64_t row : rows) numbers.push_back(static_cast<double>(data.numbers[static_cast<std::size_t>(row)]));
  const Moments moments = moments_of(numbers);
  values.emplace("output.mean", one(moments.mean));
  values.emplace("output.scale", one(1 / static_cast<double>(scale_of(moments))));
  return values;
}

}  // namespace etalon::training
