// Laws of operations with transcendental functions, at 50 digits. A difference counts as zero below 1e-40 times the
// size of what was added: ten digits are left for the rounding of some hundred operations.
#include <catch2/catch.hpp>

#include "calls.hpp"
#include "conformance/draw.hpp"

using namespace etalon;
using namespace etalon::test;
using reference::Array;
using reference::Real50;

namespace {

const Real50 slack("1e-40");

Array<Real50> draw_array(const Dims& dims, conformance::Draw& draw) {
  Array<Real50> a(Kind::real, dims);
  for (Real50& x : a.real) x = Real50(draw.normal());
  return a;
}

Array<Real50> plus(Array<Real50> a, const Real50& c) {
  for (Real50& x : a.real) x += c;
  return a;
}

bool close(const Real50& a, const Real50& b, const Real50& size) { return abs(a - b) <= slack * size; }

bool close(const Array<Real50>& a, const Array<Real50>& b) {
  bool all = a.dims == b.dims && a.size() > 0;
  for (std::size_t i = 0; all && i < a.real.size(); ++i) all = close(a.real[i], b.real[i], 1 + abs(b.real[i]));
  return all;
}

/// The sums over the last axis.
std::vector<Real50> row_sums(const Array<Real50>& a) {
  const auto n = static_cast<std::size_t>(a.dims[a.dims.rank - 1]);
  std::vector<Real50> sums(a.real.size() / n);
  for (std::size_t i = 0; i < a.real.size(); ++i) sums[i / n] += a.real[i];
  return sums;
}

}  // namespace

TEST_CASE("rows of a softmax are probabilities that a shift does not change", "[laws]") {
  conformance::Draw draw("softmax");
  const auto x = draw_array({4, 7}, draw);
  const auto y = result<Real50>("softmax", "", {x});
  for (const Real50& p : y.real) CHECK(p > 0);
  for (const Real50& total : row_sums(y)) CHECK(close(total, 1, 1));
  CHECK(close(result<Real50>("softmax", "", {plus(x, 3)}), y));
  CHECK(close(result<Real50>("log_softmax", "", {plus(x, 3)}), result<Real50>("log_softmax", "", {x})));
  CHECK(close(result<Real50>("logsumexp", "axes=[1]", {plus(x, 3)}), plus(result<Real50>("logsumexp", "axes=[1]", {x}), 3)));
}

TEST_CASE("derivatives of what a shift does not change have rows that sum to zero", "[laws]") {
  conformance::Draw draw("shift");
  const auto x = draw_array({3, 6}, draw), w = draw_array({3, 6}, draw);
  for (const char* operation : {"softmax", "log_softmax"}) {
    INFO(operation);
    const auto g = cotangent<Real50>(operation, "", {x}, 0, w);
    CHECK(abs(g.real[0]) > slack);
    for (const Real50& total : row_sums(g)) CHECK(close(total, 0, 100));
  }
  const auto gamma = draw_array({6}, draw), beta = draw_array({6}, draw);
  const auto g = cotangent<Real50>("layer_norm", "", {x, gamma, beta}, 0, w);
  CHECK(abs(g.real[0]) > slack);
  for (const Real50& total : row_sums(g)) CHECK(close(total, 0, 100));
}

TEST_CASE("the gradient of cross-entropy is the softmax less the target, over the rows", "[laws]") {
  conformance::Draw draw("cross-entropy");
  const auto x = draw_array({3, 5}, draw);
  const auto t = Array<Real50>::of_integers({3}, {4, 0, 2});
  const auto g = cotangent<Real50>("cross_entropy", "", {x, t}, 0, Array<Real50>::of_reals({}, {Real50(1)}));
  auto expected = result<Real50>("softmax", "", {x});
  for (std::size_t r = 0; r < 3; ++r) expected.real[r * 5 + static_cast<std::size_t>(t.integer[r])] -= 1;
  for (Real50& e : expected.real) e /= 3;
  CHECK(close(g, expected));
}

TEST_CASE("causal attention does not look ahead", "[laws]") {
  conformance::Draw draw("causal");
  const auto q = draw_array({2, 5, 3}, draw), k = draw_array({2, 5, 3}, draw), v = draw_array({2, 5, 4}, draw);
  const auto mask = Array<Real50>::of_integers({1, 1}, {1}, Kind::boolean);
  const auto y = result<Real50>("scaled_dot_product_attention", "causal=true", {q, k, v, mask, Array<Real50>::of_reals({}, {Real50(1)})});
  auto k2 = k, v2 = v;
  for (std::size_t batch = 0; batch < 2; ++batch) {
    for (std::size_t j = 0; j < 3; ++j) k2.real[(batch * 5 + 3) * 3 + j] += 1;
    for (std::size_t j = 0; j < 4; ++j) v2.real[(batch * 5 + 3) * 4 + j] += 1;
  }
  const auto y2 = result<Real50>("scaled_dot_product_attention", "causal=true", {q, k2, v2, mask, Array<Real50>::of_reals({}, {Real50(1)})});
  bool later_differs = false;
  for (std::size_t i = 0; i < y.real.size(); ++i) {
    const std::size_t row = i / 4 % 5;
    if (row < 3) CHECK(y.real[i] == y2.real[i]);
    if (row >= 3) later_differs = later_differs || y.real[i] != y2.real[i];
  }
  CHECK(later_differs);
}

TEST_CASE("rotary positions keep lengths, and products depend on distances only", "[laws]") {
  conformance::Draw draw("rope");
  for (const char* pairing : {"pairing=interleaved", "pairing=half"}) {
    INFO(pairing);
    const auto q = draw_array({1, 6}, draw), k = draw_array({1, 6}, draw);
    const auto at = [&](const Array<Real50>& x, std::int64_t p) {
      return result<Real50>("rope", pairing, {x, Array<Real50>::of_integers({1}, {p})});
    };
    const auto product = [](const Array<Real50>& a, const Array<Real50>& b) {
      Real50 total = 0;
      for (std::size_t i = 0; i < a.real.size(); ++i) total += a.real[i] * b.real[i];
      return total;
    };
    CHECK(close(product(at(q, 5), at(q, 5)), product(q, q), 100));
    CHECK(close(product(at(q, 7), at(k, 4)), product(at(q, 12), at(k, 9)), 100));
    CHECK_FALSE(close(product(at(q, 7), at(k, 4)), product(at(q, 7), at(k, 5)), 100));
  }
}

TEST_CASE("Adam's first step is the learning rate in the gradient's direction, up to eps", "[laws]") {
  conformance::Draw draw("adam");
  const auto p = draw_array({4}, draw), g = draw_array({4}, draw);
  const Array<Real50> zero(Kind::real, {4});
  const auto t = Array<Real50>::of_integers({}, {1});
  const Real50 lr(0.25), eps(0.5), beta2(0.999);
  const auto torch = result<Real50>("adam", "lr=0.25, eps=0.5", {p, g, zero, zero, t});
  const auto hat = result<Real50>("adam", "lr=0.25, eps=0.5, eps_hat=true", {p, g, zero, zero, t});
  for (std::size_t i = 0; i < 4; ++i) {
    const Real50 sign = g.real[i] > 0 ? 1 : -1, size = abs(g.real[i]);
    CHECK(close(torch.real[i], p.real[i] - lr * sign / (1 + eps / size), 10));
    CHECK(close(hat.real[i], p.real[i] - lr * sign / (1 + eps / (sqrt(1 - beta2) * size)), 10));
  }
}

TEST_CASE("AdamW without gradients only decays", "[laws]") {
  conformance::Draw draw("adamw");
  Values<Real50> state{draw_array({3}, draw), Array<Real50>(Kind::real, {3}), Array<Real50>(Kind::real, {3})};
  const auto p0 = state[0];
  const Real50 factor = 1 - Real50(0.25) * Real50(0.5);
  Real50 power = 1;
  for (std::int64_t t = 1; t <= 5; ++t) {
    state = results<Real50>("adamw", "lr=0.25, weight_decay=0.5",
                            {state[0], Array<Real50>(Kind::real, {3}), state[1], state[2], Array<Real50>::of_integers({}, {t})});
    power *= factor;
    for (std::size_t i = 0; i < 3; ++i) CHECK(close(state[0].real[i], p0.real[i] * power, 10));
  }
}
