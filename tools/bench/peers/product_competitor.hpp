/// \file
/// A library that multiplies matrices and nothing else, as a competitor. It knows the recipe, not the library.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/competitor.hpp"

namespace etalon::bench {

/// y = a·b, all row-major.
struct Product {
  std::int64_t m = 0, k = 0, n = 0;
  std::vector<float> a, b, y;
};

class ProductCompetitor final : public Competitor {
 public:
  /// Makes what runs the product on so many threads, and may refuse it. \throws NotOffered
  using Maker = std::function<std::function<void()>(Product&, unsigned threads)>;

  ProductCompetitor(std::string version, Maker maker) : version_(std::move(version)), maker_(std::move(maker)) {}

  [[nodiscard]] std::string version() const override { return version_; }

  [[nodiscard]] Beginning prepare(const Job& job, const Give& give) override {
    if (job.recipe != "gemm") throw NotOffered("no such recipe");
    product_ = {job.size("m"), job.size("k"), job.size("n"), numbers(job.inputs.at(0)), numbers(job.inputs.at(1)), {}};
    product_.y.assign(static_cast<std::size_t>(product_.m * product_.n), 0.0F);
    const auto start = std::chrono::steady_clock::now();
    run_ = maker_(product_, job.threads);
    run_();
    Beginning beginning;
    beginning.first_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    give(std::as_bytes(std::span(product_.y)));
    return beginning;
  }

  void run() override { run_(); }

 private:
  [[nodiscard]] static std::vector<float> numbers(const Bytes& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  std::string version_;
  Maker maker_;
  Product product_;
  std::function<void()> run_;
};

}  // namespace etalon::bench
