// libtorch's side of `etalon bench`: PyTorch without Python, by the calls that its users write.
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/autograd.h>
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/optim/optimizer.h>
#include <torch/types.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "tools/bench/peers/libtorch_models.hpp"
#include "tools/bench/worker.hpp"

namespace {

using namespace etalon::bench::libtorch;
using etalon::Bytes;
using etalon::bench::Job;
using etalon::bench::NotOffered;
using Dims = std::vector<std::int64_t>;

struct Way {
  std::string name;
  std::function<Tensors()> run;
};

/// What was prepared: ways to do it, what of the results is compared, and how state goes back.
struct Work {
  std::vector<Way> ways;
  std::function<Tensors(const Tensors&)> outputs = [](const Tensors& results) { return results; };
  std::function<void()> reset = [] {};
};

at::Tensor given(const Job& job, std::size_t i, const Dims& dims, bool classes = false) {
  at::Tensor t = at::empty(dims, classes ? at::kLong : at::kFloat);
  const Bytes& bytes = job.inputs.at(i);
  if (bytes.size() != t.nbytes()) throw std::runtime_error("input " + std::to_string(i) + ": bytes of another size");
  std::memcpy(t.data_ptr(), bytes.data(), bytes.size());
  return t;
}

void give_dense(const at::Tensor& tensor, const etalon::bench::Give& give) {
  const at::Tensor dense = tensor.detach().contiguous();
  give({static_cast<const std::byte*>(dense.data_ptr()), dense.nbytes()});
}

/// The libraries for linear algebra that were loaded.
std::string blas_in_use() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> names;
  for (std::string line; std::getline(maps, line);) {
    const std::string file = line.substr(line.find_last_of(" /") + 1);
    if (file.find("blas") != std::string::npos) names.insert(file);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

/// Which kernels libtorch chooses on this machine.
std::string vectors() {
  const std::string config = at::show_config(), before = "CPU capability usage: ";
  const std::size_t at = config.find(before);
  if (at == std::string::npos) return "unknown vectors";
  const std::size_t from = at + before.size();
  return config.substr(from, config.find('\n', from) - from);
}

Work product(const Job& job) {
  const at::Tensor a = given(job, 0, {job.size("m"), job.size("k")}), b = given(job, 1, {job.size("k"), job.size("n")});
  at::Tensor out = at::empty({job.size("m"), job.size("n")});
  return {{{"mm", [=] { return Tensors{at::mm(a, b)}; }},
           {"mm_out", [=]() mutable { return Tensors{at::mm_out(out, a, b)}; }}}};
}

Way convolution_way(const std::string& name, const std::string& recipe, const Tensors& in) {
  if (recipe == "conv-forward") return {name, [=] { return Tensors{at::conv2d(in[0], in[1], {}, 1, 1)}; }};
  const bool data = recipe == "conv-data";
  return {name, [=] {
            const auto [gx, gk, none] = at::convolution_backward(in[2], in[0], in[1], c10::nullopt, {1, 1}, {1, 1},
                                                                 {1, 1}, false, {0, 0}, 1, {data, !data, false});
            return Tensors{data ? gx : gk};
          }};
}

Work convolution(const Job& job) {
  const std::int64_t batch = job.size("batch"), in = job.size("in"), out = job.size("out"), side = job.size("side");
  Tensors plain{given(job, 0, {batch, in, side, side}), given(job, 1, {out, in, 3, 3})}, last;
  if (job.recipe != "conv-forward") plain.push_back(given(job, 2, {batch, out, side, side}));
  for (const at::Tensor& t : plain) last.push_back(t.contiguous(at::MemoryFormat::ChannelsLast));
  return {{convolution_way("contiguous", job.recipe, plain), convolution_way("channels_last", job.recipe, last)}};
}

Work gelu_chain(const Job& job) {
  const Dims row{job.size("columns")};
  const at::Tensor x = given(job, 0, {job.size("rows"), row[0]}), w = given(job, 1, row), b = given(job, 2, row);
  return {{{"plain", [=] { return Tensors{at::gelu(x * w + b, "tanh")}; }},
           {"addcmul", [=] { return Tensors{at::gelu(at::addcmul(b, x, w), "tanh")}; }}}};
}

Work softmax(const Job& job) {
  const at::Tensor x = given(job, 0, {job.size("rows"), job.size("columns")});
  return {{{"plain", [=] { return Tensors{at::softmax(x, -1)}; }}}};
}

Work layer_norm(const Job& job) {
  const Dims dims{job.size("rows"), job.size("columns")}, row{dims[1]};
  const at::Tensor x = given(job, 0, dims), gamma = given(job, 1, row), beta = given(job, 2, row),
                   d = given(job, 3, dims);
  return {{{"native", [=] {
              const auto [y, mean, deviation] = at::native_layer_norm(x, row, gamma, beta, 1e-5);
              const auto [gx, ggamma, gbeta] =
                  at::native_layer_norm_backward(d, x, row, mean, deviation, gamma, beta, {true, true, true});
              return Tensors{y, gx, ggamma, gbeta};
            }}}};
}

Work attention(const Job& job) {
  const Dims dims{job.size("batch"), job.size("heads"), job.size("length"), job.size("width")};
  const at::Tensor q = given(job, 0, dims), k = given(job, 1, dims), v = given(job, 2, dims);
  return {{{"plain", [=] { return Tensors{causal_attention(q, k, v)}; }}}};
}

/// A model in training; `last` puts channels last, where there are any.
struct Training {
  const Model& model;
  Tensors first;  ///< values of the parameters before the first step
  at::Tensor data, targets;
  Tensors parameters;
  at::Tensor x;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::optional<bool> last;

  void start(bool channels_last) {
    const auto laid = [&](const at::Tensor& t) {
      return channels_last && t.dim() == 4 ? t.contiguous(at::MemoryFormat::ChannelsLast) : t;
    };
    last = channels_last;
    optimizer.reset();
    parameters.clear();
    for (const at::Tensor& t : first) parameters.push_back(laid(t.clone()).requires_grad_());
    x = laid(data);
    optimizer = model.optimizer(parameters);
  }

  Tensors step(bool channels_last) {
    if (last != channels_last) start(channels_last);
    optimizer->zero_grad();
    at::Tensor loss = model.loss(model.answers(parameters, x), targets);
    loss.backward();
    optimizer->step();
    return {loss};
  }

  Tensors compared(const Tensors& results) {
    Tensors all = results;
    all.insert(all.end(), parameters.begin(), parameters.end());
    for (const at::Tensor& p : parameters) {
      if (model.state) all.push_back(model.state(*optimizer, p));
    }
    return all;
  }
};

Work training(const Job& job) {
  const Model& model = model_named(job.recipe.substr(job.recipe.find('-') + 1));
  const auto t = std::make_shared<Training>(Training{model, {}, {}, {}, {}, {}, {}, {}});
  const std::size_t count = model.shapes.size();
  for (std::size_t i = 0; i < count; ++i) t->first.push_back(given(job, i, model.shapes[i]));
  t->data = given(job, count, model.data, model.reads_classes);
  t->targets = given(job, count + 1, model.targets, model.aims_at_classes);
  Work work{{{"torch::optim", [t] { return t->step(false); }}},
            [t](const Tensors& results) { return t->compared(results); },
            [t] { t->start(*t->last); }};
  if (model.data.size() == 4) work.ways.push_back({"channels_last", [t] { return t->step(true); }});
  return work;
}

/// Answers, alone or with the cotangents of the parameters.
Work derivative(const Job& job) {
  const Model& model = model_named(job.recipe.substr(0, job.recipe.find('-')));
  const std::size_t count = model.shapes.size();
  Tensors p;
  for (std::size_t i = 0; i < count; ++i) p.push_back(given(job, i, model.shapes[i]));
  const at::Tensor x = given(job, count, model.data);
  if (job.recipe.ends_with("-forward"))
    return {{{"plain", [=, &model] {
                const at::NoGradGuard off;
                return Tensors{model.answers(p, x)};
              }}}};
  const at::Tensor shape = model.answers(p, x), seed = given(job, count + 1, shape.sizes().vec());
  for (at::Tensor& t : p) t.requires_grad_();
  return {{{"autograd::grad", [=, &model] {
              Tensors all{model.answers(p, x)};
              const Tensors found = torch::autograd::grad({all[0]}, p, {seed});
              all.insert(all.end(), found.begin(), found.end());
              return all;
            }}}};
}

/// Answers and their tangent, by numbers that carry theirs.
Work tangents(const Job& job) {
  const Model& model = model_named(job.recipe.substr(0, job.recipe.find('-')));
  const std::size_t count = model.shapes.size();
  Tensors p, along;
  for (std::size_t i = 0; i < count; ++i) {
    p.push_back(given(job, i, model.shapes[i]));
    along.push_back(given(job, count + 1 + i, model.shapes[i]));
  }
  const at::Tensor x = given(job, count, model.data);
  return {{{"forward_ad", [=, &model] {
              using Level = torch::autograd::ForwardADLevel;
              const at::NoGradGuard off;
              const std::uint64_t number = Level::get_next_idx();
              const auto level = static_cast<std::int64_t>(number);
              Tensors duals;
              for (std::size_t i = 0; i < count; ++i) duals.push_back(at::_make_dual(p[i], along[i], level));
              const auto [answers, tangent] = at::_unpack_dual(model.answers(duals, x), level);
              Tensors results{answers, tangent};
              Level::release_idx(number);
              return results;
            }}}};
}

Work work_of(const Job& job) {
  static const std::map<std::string, Work (*)(const Job&)> makers{
      {"gemm", product},          {"conv-forward", convolution},
      {"conv-data", convolution}, {"conv-weights", convolution},
      {"gelu-chain", gelu_chain}, {"softmax", softmax},
      {"layer-norm", layer_norm}, {"attention", attention}};
  if (const auto maker = makers.find(job.recipe); maker != makers.end()) return maker->second(job);
  if (job.recipe.starts_with("train-")) return training(job);
  if (job.recipe.ends_with("-jvp")) return tangents(job);
  if (job.recipe.ends_with("-forward") || job.recipe.ends_with("-vjp")) return derivative(job);
  throw NotOffered("no such recipe");
}

class LibTorch final : public etalon::bench::Competitor {
 public:
  [[nodiscard]] std::string version() const override {
    (void)at::mm(at::ones({2, 2}), at::ones({2, 2}));
    return "libtorch " TORCH_VERSION " from C++, " + vectors() + ", " + blas_in_use();
  }

  void load() override { (void)at::mm(at::ones({2, 2}), at::ones({2, 2})); }

  [[nodiscard]] etalon::bench::Beginning prepare(const Job& job, const etalon::bench::Give& give) override {
    work_ = {};
    if (job.wide) throw NotOffered("f32 only");
    at::set_num_threads(static_cast<int>(job.threads));
    work_ = work_of(job);
    best_ = 0;
    const auto start = std::chrono::steady_clock::now();
    Tensors results = work_.ways.front().run();
    etalon::bench::Beginning beginning;
    beginning.first_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const at::Tensor& t : work_.outputs(results)) give_dense(t, give);
    if (job.workload.starts_with("first-call") || job.workload.starts_with("next-call")) return beginning;
    etalon::bench::Ways ways;
    for (const Way& way : work_.ways) ways.emplace_back(way.name, [&way] { (void)way.run(); });
    best_ = ways.size() > 1 ? etalon::bench::fastest(ways) : 0;
    run();
    beginning.setting = work_.ways[best_].name;
    return beginning;
  }

  void reset() override { work_.reset(); }
  void run() override { (void)work_.ways[best_].run(); }

 private:
  Work work_;
  std::size_t best_ = 0;
};

}  // namespace

int main() {
  LibTorch competitor;
  etalon::bench::serve(competitor, std::cin, std::cout);
}
