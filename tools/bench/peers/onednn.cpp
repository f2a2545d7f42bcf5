// oneDNN's side of `etalon bench`: products, convolutions, softmax, layer norm. Tensors are brought into the layout of
// each way before time is taken, and its result back before it is compared.
#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <unordered_map>

#include "tools/bench/worker.hpp"

namespace {

using etalon::Bytes;
using etalon::bench::Job;
using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Arguments = std::unordered_map<int, dnnl::memory>;

/// The threads are OpenMP's; asking the library that is loaded needs no OpenMP of the compiler's.
void set_threads(int threads) {
  using Setter = void (*)(int);
  if (const auto set = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(threads);
}

Desc plain(const Dims& dims) {
  constexpr Tag tags[] = {Tag::undef, Tag::a, Tag::ab, Tag::abc, Tag::abcd};
  return {dims, dnnl::memory::data_type::f32, tags[dims.size()]};
}

Desc with_tag(const Dims& dims, Tag tag) { return {dims, dnnl::memory::data_type::f32, tag}; }

class OneDnn final : public etalon::bench::Competitor {
 public:
  [[nodiscard]] std::string version() const override {
    const dnnl_version_t* v = dnnl::version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }

  [[nodiscard]] etalon::bench::Beginning prepare(const Job& job, const etalon::bench::Give& give) override {
    using Maker = void (OneDnn::*)(const Job&);
    static const std::unordered_map<std::string, Maker> makers{
        {"gemm", &OneDnn::product},          {"conv-forward", &OneDnn::convolution},
        {"conv-data", &OneDnn::convolution}, {"conv-weights", &OneDnn::convolution},
        {"softmax", &OneDnn::softmax},       {"layer-norm", &OneDnn::layer_norm}};
    ways_.clear();
    results_.clear();
    const auto maker = makers.find(job.recipe);
    if (maker == makers.end()) throw etalon::bench::NotOffered("no such recipe");
    set_threads(static_cast<int>(job.threads));
    const auto start = std::chrono::steady_clock::now();
    (this->*maker->second)(job);
    ways_.front().second();
    etalon::bench::Beginning beginning;
    beginning.first_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best_ = etalon::bench::fastest(ways_);
    ways_[best_].second();
    beginning.setting = ways_[best_].first;
    for (const dnnl::memory& result : results_[best_]) give(read(result));
    return beginning;
  }

  void run() override { ways_[best_].second(); }

 private:
  [[nodiscard]] dnnl::memory given(const Dims& dims, const Bytes& bytes) {
    dnnl::memory m(plain(dims), engine_);
    std::memcpy(m.get_data_handle(), bytes.data(), bytes.size());
    return m;
  }

  [[nodiscard]] dnnl::memory in_layout(const dnnl::memory& m, const Desc& desc) {
    if (m.get_desc() == desc) return m;
    dnnl::memory other(desc, engine_);
    dnnl::memory from = m;
    dnnl::reorder(from, other).execute(stream_, from, other);
    stream_.wait();
    return other;
  }

  [[nodiscard]] Bytes read(const dnnl::memory& m) {
    const dnnl::memory dense = in_layout(m, plain(m.get_desc().dims()));
    const auto* first = static_cast<const std::byte*>(dense.get_data_handle());
    return {first, first + dense.get_desc().get_size()};
  }

  void add(std::string name, std::function<void()> run, std::vector<dnnl::memory> results) {
    ways_.emplace_back(std::move(name), std::move(run));
    results_.push_back(std::move(results));
  }

  void add(std::string name, const dnnl::primitive& primitive, const Arguments& arguments,
           std::vector<dnnl::memory> results) {
    add(
        std::move(name),
        [this, primitive, arguments] {
          primitive.execute(stream_, arguments);
          stream_.wait();
        },
        std::move(results));
  }

  void product(const Job& job) {
    const std::int64_t m = job.size("m"), k = job.size("k"), n = job.size("n");
    const dnnl::memory a = given({m, k}, job.inputs[0]), b = given({k, n}, job.inputs[1]);
    const dnnl::memory y(plain({m, n}), engine_), z(plain({m, n}), engine_);
    const dnnl::matmul::primitive_desc how({a.get_desc(), b.get_desc(), y.get_desc()}, engine_);
    add("matmul", dnnl::matmul(how), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}}, {y});
    add("sgemm",
        [=] {
          dnnl::sgemm('N', 'N', m, n, k, 1.0F, static_cast<const float*>(a.get_data_handle()), k,
                      static_cast<const float*>(b.get_data_handle()), n, 0.0F, static_cast<float*>(z.get_data_handle()),
                      n);
        },
        {z});
  }

  void convolution(const Job& job) {
    add_convolution(job, "blocked", Tag::any, Tag::any);
    add_convolution(job, "channels last", Tag::nhwc, Tag::any);
  }

  void add_convolution(const Job& job, const std::string& name, Tag image, Tag kernel) {
    using namespace dnnl;
    const std::int64_t batch = job.size("batch"), in = job.size("in"), out = job.size("out"), side = job.size("side");
    const Dims xs{batch, in, side, side}, ks{out, in, 3, 3}, ys{batch, out, side, side}, one{1, 1};
    const memory x = given(xs, job.inputs[0]), k = given(ks, job.inputs[1]);
    const Desc xd = with_tag(xs, image), kd = with_tag(ks, kernel), yd = with_tag(ys, image);
    const bool forward_only = job.recipe == "conv-forward";
    const convolution_forward::primitive_desc forward(
        {forward_only ? prop_kind::forward_inference : prop_kind::forward_training, algorithm::convolution_direct, xd,
         kd, yd, one, one, one},
        engine_);
    if (forward_only) {
      const memory y(forward.dst_desc(), engine_);
      return add(name, convolution_forward(forward),
                 {{DNNL_ARG_SRC, in_layout(x, forward.src_desc())},
                  {DNNL_ARG_WEIGHTS, in_layout(k, forward.weights_desc())},
                  {DNNL_ARG_DST, y}},
                 {y});
    }
    const memory d = given(ys, job.inputs[2]);
    if (job.recipe == "conv-data") {
      const convolution_backward_data::primitive_desc back({algorithm::convolution_direct, xd, kd, yd, one, one, one},
                                                           engine_, forward);
      const memory gx(back.diff_src_desc(), engine_);
      return add(name, convolution_backward_data(back),
                 {{DNNL_ARG_DIFF_DST, in_layout(d, back.diff_dst_desc())},
                  {DNNL_ARG_WEIGHTS, in_layout(k, back.weights_desc())},
                  {DNNL_ARG_DIFF_SRC, gx}},
                 {gx});
    }
    const convolution_backward_weights::primitive_desc back({algorithm::convolution_direct, xd, kd, yd, one, one, one},
                                                            engine_, forward);
    const memory gk(back.diff_weights_desc(), engine_);
    add(name, convolution_backward_weights(back),
        {{DNNL_ARG_DIFF_DST, in_layout(d, back.diff_dst_desc())},
         {DNNL_ARG_SRC, in_layout(x, back.src_desc())},
         {DNNL_ARG_DIFF_WEIGHTS, gk}},
        {gk});
  }

  void softmax(const Job& job) {
    const dnnl::memory x = given({job.size("rows"), job.size("columns")}, job.inputs[0]), y(x.get_desc(), engine_);
    const dnnl::softmax_forward::primitive_desc how({dnnl::prop_kind::forward_inference, x.get_desc(), 1}, engine_);
    add("softmax", dnnl::softmax_forward(how), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}, {y});
  }

  void layer_norm(const Job& job) {
    using namespace dnnl;
    const std::int64_t rows = job.size("rows"), columns = job.size("columns");
    const auto flags = normalization_flags::use_scale | normalization_flags::use_shift;
    const memory x = given({rows, columns}, job.inputs[0]), d = given({rows, columns}, job.inputs[3]);
    const memory gamma = given({columns}, job.inputs[1]), beta = given({columns}, job.inputs[2]);
    const layer_normalization_forward::primitive_desc forward({prop_kind::forward_training, x.get_desc(), 1e-5F, flags},
                                                              engine_);
    const layer_normalization_backward::primitive_desc back(
        {prop_kind::backward, d.get_desc(), x.get_desc(), 1e-5F, flags}, engine_, forward);
    const memory y(x.get_desc(), engine_), gx(x.get_desc(), engine_), ggamma(gamma.get_desc(), engine_),
        gbeta(beta.get_desc(), engine_);
    const memory mean(forward.mean_desc(), engine_), variance(forward.variance_desc(), engine_);
    const Arguments there{{DNNL_ARG_SRC, x}, {DNNL_ARG_SCALE, gamma}, {DNNL_ARG_SHIFT, beta},
                          {DNNL_ARG_DST, y}, {DNNL_ARG_MEAN, mean},   {DNNL_ARG_VARIANCE, variance}};
    const Arguments return_way{{DNNL_ARG_SRC, x},       {DNNL_ARG_DIFF_DST, d},        {DNNL_ARG_SCALE, gamma},
                               {DNNL_ARG_SHIFT, beta},  {DNNL_ARG_MEAN, mean},         {DNNL_ARG_VARIANCE, variance},
                               {DNNL_ARG_DIFF_SRC, gx}, {DNNL_ARG_DIFF_SCALE, ggamma}, {DNNL_ARG_DIFF_SHIFT, gbeta}};
    const primitive first = layer_normalization_forward(forward), second = layer_normalization_backward(back);
    add("layer_normalization",
        [=, this] {
          first.execute(stream_, there);
          second.execute(stream_, return_way);
          stream_.wait();
        },
        {y, gx, ggamma, gbeta});
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  etalon::bench::Ways ways_;
  std::vector<std::vector<dnnl::memory>> results_;
  std::size_t best_ = 0;
};

}  // namespace

int main() {
  OneDnn competitor;
  etalon::bench::serve(competitor, std::cin, std::cout);
}
