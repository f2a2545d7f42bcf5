// libxsmm's side of `etalon bench`: products of matrices on one thread, small ones by a kernel for the shape.
#include <libxsmm.h>

#include <iostream>

#include "tools/bench/peers/product_competitor.hpp"
#include "tools/bench/worker.hpp"

namespace {

/// libxsmm is column-major: what it takes for the transposes is b·a.
std::function<void()> product(etalon::bench::Product& p, unsigned threads) {
  if (threads != 1) throw etalon::bench::NotOffered("one thread only");
  const auto m = static_cast<libxsmm_blasint>(p.n), n = static_cast<libxsmm_blasint>(p.m),
             k = static_cast<libxsmm_blasint>(p.k);
  const float one = 1, zero = 0;
  const int flags = LIBXSMM_GEMM_FLAG_NONE;
  const libxsmm_smmfunction kernel = libxsmm_smmdispatch(m, n, k, &m, &k, &m, &one, &zero, &flags, nullptr);
  if (kernel != nullptr) return [&p, kernel] { kernel(p.b.data(), p.a.data(), p.y.data()); };
  throw etalon::bench::NotOffered("no kernel for this shape");
}

}  // namespace

int main() {
  libxsmm_init();
  etalon::bench::ProductCompetitor competitor(
      std::string("libxsmm ") + LIBXSMM_VERSION + ", kernels for " + libxsmm_get_target_arch(), product);
  etalon::bench::serve(competitor, std::cin, std::cout);
}
