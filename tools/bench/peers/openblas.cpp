// OpenBLAS' side of `etalon bench`: products of matrices.
#include <cblas.h>

#include <iostream>

#include "tools/bench/peers/product_competitor.hpp"
#include "tools/bench/worker.hpp"

namespace {

std::function<void()> product(etalon::bench::Product& p, unsigned threads) {
  openblas_set_num_threads(static_cast<int>(threads));
  const auto m = static_cast<blasint>(p.m), k = static_cast<blasint>(p.k), n = static_cast<blasint>(p.n);
  return [&p, m, k, n] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, p.a.data(), k, p.b.data(), n, 0.0F,
                p.y.data(), n);
  };
}

}  // namespace

int main() {
  const std::string version = std::string(openblas_get_config()) + ", kernels for " + openblas_get_corename();
  etalon::bench::ProductCompetitor competitor(version, product);
  etalon::bench::serve(competitor, std::cin, std::cout);
}
