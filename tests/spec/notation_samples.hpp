// One call or more of every operation, with the types its results must have, worked out by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

struct Sample {
  std::string operation;
  std::vector<std::optional<ValueType>> operands;
  Attributes attributes;
  std::vector<ValueType> results;
  std::vector<std::size_t> packs = {};
};

inline ValueType real32(const Dims& d) { return {DType::f32, d}; }
inline ValueType real64(const Dims& d) { return {DType::f64, d}; }
inline ValueType int64(const Dims& d) { return {DType::i64, d}; }
inline ValueType truth(const Dims& d) { return {DType::boolean, d}; }
inline AttributeValue list(std::vector<std::int64_t> v) { return v; }
inline AttributeValue number(std::int64_t v) { return v; }
inline AttributeValue symbol(const char* s) { return std::string(s); }

inline std::vector<Sample> elementwise_samples() {
  std::vector<Sample> all;
  for (const char* name : {"neg", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "abs", "gelu"}) {
    all.push_back({name, {real32({2, 3})}, {}, {real32({2, 3})}});
    all.push_back({name, {real64({})}, {}, {real64({})}});
    all.push_back({name, {real64({0, 2})}, {}, {real64({0, 2})}});
  }
  all.push_back({"gelu", {real32({2})}, {{"approximate", symbol("tanh")}}, {real32({2})}});
  for (const char* name : {"add", "sub", "mul", "div", "maximum"}) {
    all.push_back({name, {real32({2, 1, 4}), real32({3, 1})}, {}, {real32({2, 3, 4})}});
    all.push_back({name, {real32({0, 4}), real32({})}, {}, {real32({0, 4})}});
  }
  all.push_back({"add", {int64({2}), int64({1})}, {}, {int64({2})}});
  all.push_back({"where", {truth({2, 1}), real32({3}), real32({})}, {}, {real32({2, 3})}});
  all.push_back({"where", {truth({2}), truth({2}), truth({2})}, {}, {truth({2})}});
  all.push_back({"cast", {int64({2})}, {{"dtype", symbol("f32")}}, {real32({2})}});
  return all;
}

inline std::vector<Sample> reduction_samples() {
  std::vector<Sample> all;
  for (const char* name : {"sum", "mean", "prod", "max", "min", "logsumexp", "norm"}) {
    all.push_back({name, {real32({2, 3, 4})}, {}, {real32({})}});
    all.push_back({name, {real32({2, 3, 4})}, {{"axes", list({-1, 0})}}, {real32({3})}});
    all.push_back({name, {real32({2, 3, 4})}, {{"axes", list({-1, 0})}, {"keepdims", true}}, {real32({1, 3, 1})}});
    all.push_back({name, {real32({})}, {}, {real32({})}});
    all.push_back({name, {real32({2, 3})}, {{"axes", list({})}}, {real32({2, 3})}});
  }
  all.push_back({"sum", {real32({2, 0})}, {{"axes", list({1})}}, {real32({2})}});
  all.push_back({"logsumexp", {real32({2, 0})}, {{"axes", list({1})}}, {real32({2})}});
  for (const char* name : {"argmax", "argmin"}) {
    all.push_back({name, {real32({2, 3})}, {}, {int64({})}});
    all.push_back({name, {int64({2, 3})}, {{"axes", list({0})}}, {int64({3})}});
    all.push_back({name, {int64({2, 3})}, {{"axes", list({-2})}, {"keepdims", true}}, {int64({1, 3})}});
  }
  for (const char* name : {"var", "std"}) {
    all.push_back({name, {real32({2, 3, 4})}, {{"axes", list({-1, 0})}, {"keepdims", true}}, {real32({1, 3, 1})}});
    all.push_back({name, {real64({})}, {{"correction", number(0)}}, {real64({})}});
  }
  for (const char* name : {"any", "all"}) {
    all.push_back({name, {truth({2, 3})}, {}, {truth({})}});
    all.push_back({name, {truth({2, 0})}, {{"axes", list({1})}, {"keepdims", true}}, {truth({2, 1})}});
  }
  for (const char* name : {"cumsum", "cumprod"}) {
    all.push_back({name, {real32({2, 3})}, {}, {real32({2, 3})}});
    all.push_back({name, {int64({2, 3})}, {{"axis", number(0)}, {"reverse", true}}, {int64({2, 3})}});
    all.push_back({name, {real64({0, 3})}, {{"exclusive", true}}, {real64({0, 3})}});
  }
  all.push_back({"norm", {real64({2, 0})}, {{"axes", list({1})}, {"ord", symbol("infinity")}}, {real64({2})}});
  return all;
}

inline std::vector<Sample> shape_samples() {
  return {
      {"matmul", {real32({2, 1, 4, 3}), real32({5, 3, 7})}, {}, {real32({2, 5, 4, 7})}},
      {"matmul", {real64({4, 0}), real64({0, 7})}, {}, {real64({4, 7})}},
      {"linear", {real32({5, 3}), real32({4, 3}), real32({4})}, {}, {real32({5, 4})}},
      {"linear", {real32({5, 3}), real32({4, 3})}, {}, {real32({5, 4})}},
      {"linear", {real32({3}), real32({4, 3}), std::nullopt}, {}, {real32({4})}},
      {"transpose", {real32({2, 3, 4})}, {{"permutation", list({2, 0, 1})}}, {real32({4, 2, 3})}},
      {"transpose", {truth({2, 3})}, {{"permutation", list({-1, 0})}}, {truth({3, 2})}},
      {"reshape", {real32({2, 6})}, {{"shape", list({3, 4})}}, {real32({3, 4})}},
      {"reshape", {real32({1, 1})}, {{"shape", list({})}}, {real32({})}},
      {"reshape", {real32({0, 6})}, {{"shape", list({3, 0})}}, {real32({3, 0})}},
      {"broadcast_to", {real32({3, 1})}, {{"shape", list({2, 3, 4})}}, {real32({2, 3, 4})}},
      {"concat", {real32({2, 3}), real32({2, 0}), real32({2, 4})}, {{"axis", number(-1)}}, {real32({2, 7})}},
      {"concat", {int64({1})}, {}, {int64({1})}},
      {"stack", {real32({2, 3}), real32({2, 3})}, {{"axis", number(-1)}}, {real32({2, 3, 2})}},
      {"slice", {real32({5, 6})}, {{"start", list({1, 5})}, {"stop", list({5, 0})}, {"step", list({2, -2})}},
       {real32({2, 3})}},
      {"slice", {real32({5})}, {{"stop", list({0})}}, {real32({0})}},
      {"gather", {real32({2, 6, 3}), int64({5, 4})}, {{"axis", number(1)}}, {real32({2, 5, 4, 3})}},
      {"gather", {real32({2, 6, 3}), int64({})}, {}, {real32({6, 3})}},
      {"gather", {int64({2, 6, 3}), int64({2})}, {{"axis", number(-1)}}, {int64({2, 6, 2})}},
  };
}

inline std::vector<Sample> network_samples() {
  std::vector<Sample> all{
      {"conv", {real32({1, 4, 5}), real32({6, 4, 3})}, {}, {real32({1, 6, 3})}},
      {"conv1d", {real32({1, 4, 5}), real32({6, 4, 3}), real32({6})}, {{"padding", number(1)}}, {real32({1, 6, 5})}},
      {"conv2d", {real32({2, 4, 8, 9}), real32({6, 2, 3, 3}), real32({6})},
       {{"stride", list({2, 1})}, {"padding", number(1)}, {"groups", number(2)}}, {real32({2, 6, 4, 9})}},
      {"conv2d", {real32({0, 4, 8, 9}), real32({6, 4, 3, 3})}, {{"dilation", number(2)}}, {real32({0, 6, 4, 5})}},
      {"conv3d", {real64({1, 1, 3, 3, 3}), real64({1, 1, 2, 2, 2})}, {}, {real64({1, 1, 2, 2, 2})}},
      {"max_pool", {real32({1, 2, 6})}, {{"kernel", number(2)}, {"stride", number(2)}}, {real32({1, 2, 3})}},
      {"max_pool1d", {real32({1, 2, 6})}, {{"kernel", number(3)}, {"stride", number(1)}, {"padding", number(1)}}, {real32({1, 2, 6})}},
      {"max_pool2d", {real32({1, 2, 6, 6})}, {{"kernel", number(2)}, {"stride", number(2)}, {"padding", number(1)}},
       {real32({1, 2, 4, 4})}},
      {"max_pool3d", {real32({1, 1, 3, 3, 3})}, {{"kernel", number(2)}, {"dilation", number(2)}},
       {real32({1, 1, 1, 1, 1})}},
      {"layer_norm", {real32({2, 3, 4}), real32({3, 4}), real32({3, 4})}, {{"axes", list({1, 2})}}, {real32({2, 3, 4})}},
      {"dropout", {real32({2, 3}), int64({}), int64({})}, {{"p", 0.25}}, {real32({2, 3})}},
      {"uniform", {int64({}), int64({})}, {{"shape", list({2, 3})}}, {real32({2, 3})}},
      {"uniform", {int64({}), int64({})}, {{"shape", list({})}, {"dtype", symbol("f64")}}, {real64({})}},
      {"normal", {int64({}), int64({})}, {{"shape", list({2, 3})}}, {real32({2, 3})}},
      {"normal", {int64({}), int64({})}, {{"shape", list({2})}, {"dtype", symbol("f64")}}, {real64({2})}},
      {"cross_entropy", {real32({5, 3}), int64({5})}, {}, {real32({})}},
      {"cross_entropy", {real32({5, 3}), int64({5}), real32({3})},
       {{"reduction", symbol("none")}, {"label_smoothing", 0.1}}, {real32({5})}},
      {"sgd", {real32({3}), real32({3}), real32({3}), int64({})}, {{"lr", 0.1}, {"momentum", 0.9}},
       {real32({3}), real32({3})}},
  };
  for (const char* name : {"softmax", "log_softmax"}) {
    all.push_back({name, {real32({2, 3, 4})}, {{"axis", number(1)}}, {real32({2, 3, 4})}});
    all.push_back({name, {real32({2, 0})}, {}, {real32({2, 0})}});
  }
  for (const char* name : {"mse", "hinge"}) {
    all.push_back({name, {real32({2, 3}), real32({2, 3})}, {}, {real32({})}});
    all.push_back({name, {real32({2, 3}), real32({2, 3})}, {{"reduction", symbol("none")}}, {real32({2, 3})}});
    all.push_back({name, {real32({2}), real32({2})}, {{"reduction", symbol("sum")}}, {real32({})}});
  }
  for (const char* name : {"adam", "adamw"}) {
    all.push_back({name, {real32({3}), real32({3}), real32({3}), real32({3}), int64({})},
                   {{"lr", ValueName{"rate"}}}, {real32({3}), real32({3}), real32({3})}});
  }
  return all;
}

inline std::vector<Sample> window_samples() {
  return {
      {"conv_transpose1d", {real32({2, 4, 12}), real32({4, 3, 5}), real32({6})},
       {{"stride", number(3)}, {"padding", number(2)}, {"output_padding", number(1)}, {"groups", number(2)}},
       {real32({2, 6, 35})}},
      {"conv_transpose2d", {real32({1, 2, 6, 7}), real32({2, 2, 3, 3})},
       {{"stride", list({2, 1})}, {"dilation", list({1, 2})}}, {real32({1, 2, 13, 11})}},
      {"conv_transpose3d", {real32({1, 1, 3, 3, 3}), real32({1, 1, 2, 2, 2})}, {{"stride", number(2)}},
       {real32({1, 1, 6, 6, 6})}},
      {"max_pool1d", {real32({1, 2, 9})},
       {{"kernel", number(4)}, {"stride", number(1)}, {"padding", number(2)}, {"dilation", number(3)}},
       {real32({1, 2, 4})}},
      {"avg_pool2d", {real32({1, 2, 8, 9})},
       {{"kernel", number(3)}, {"stride", number(2)}, {"padding", number(1)}, {"count_include_pad", false}},
       {real32({1, 2, 4, 5})}},
      {"avg_pool1d", {real32({1, 2, 12})}, {{"kernel", number(5)}, {"stride", number(3)}, {"padding", number(2)}},
       {real32({1, 2, 4})}},
      {"smooth_max_pool2d", {real32({1, 2, 6, 6})}, {{"kernel", number(2)}, {"padding", number(1)}},
       {real32({1, 2, 4, 4})}},
      {"adaptive_avg_pool1d", {real32({1, 2, 20})}, {{"output", number(7)}}, {real32({1, 2, 7})}},
      {"adaptive_avg_pool1d", {real32({1, 2, 7})}, {{"output", number(20)}}, {real32({1, 2, 20})}},
      {"adaptive_avg_pool2d", {real32({1, 2, 9, 8})}, {{"output", list({4, 5})}}, {real32({1, 2, 4, 5})}},
      {"global_avg_pool", {real32({2, 3, 4, 5})}, {}, {real32({2, 3, 1, 1})}},
      {"global_avg_pool2d", {real32({2, 3, 4, 5})}, {{"keepdims", false}}, {real32({2, 3})}},
      {"upsample_nearest2d", {real32({1, 2, 5, 6})}, {{"scale", list({3, 2})}}, {real32({1, 2, 15, 12})}},
  };
}

inline std::vector<Sample> attention_samples() {
  const std::optional<ValueType> none;
  return {
      {"scaled_dot_product_attention", {real32({2, 5, 3}), real32({2, 4, 3}), real32({2, 4, 6}), truth({3, 1, 5, 4})},
       {}, {real32({3, 2, 5, 6})}},
      {"scaled_dot_product_attention", {real32({5, 3}), real32({4, 3}), real32({4, 6}), truth({1, 4}), real32({})},
       {{"causal", true}}, {real32({5, 6})}},
      {"multi_head_attention",
       {real32({2, 5, 4}), real32({6, 4}), real32({6, 4}), real32({6, 4}), real32({4, 6}), real32({6}), none, none,
        real32({4}), truth({5, 5})},
       {{"heads", number(2)}}, {real32({2, 5, 4})}},
      {"rope", {real32({2, 5, 8})}, {}, {real32({2, 5, 8})}},
      {"rope", {real32({5, 8}), int64({5})}, {{"pairing", symbol("half")}}, {real32({5, 8})}},
      {"sinusoidal_encoding", {int64({5})}, {{"width", number(3)}}, {real32({5, 3})}},
      {"rnn_cell", {real32({2, 3}), real32({2, 4}), real32({4, 3}), real32({4, 4}), real32({4})}, {}, {real32({2, 4})}},
      {"lstm_cell",
       {real32({2, 3}), real32({2, 4}), real32({2, 4}), real32({16, 3}), real32({16, 4}), real32({16}), real32({16})}, {},
       {real32({2, 4}), real32({2, 4})}},
      {"gru_cell", {real32({2, 3}), real32({2, 4}), real32({12, 3}), real32({12, 4}), none, real32({12})}, {},
       {real32({2, 4})}},
  };
}

inline std::vector<Sample> samples() {
  std::vector<Sample> all = elementwise_samples();
  for (const auto& more : {reduction_samples(), shape_samples(), network_samples(), window_samples(), attention_samples()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace etalon::spec
