#include "tools/bench/agreement.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"
#include "tools/bench/roundings.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Truth truth(const std::vector<double>& values, double roundings) { return {{values}, {roundings}}; }

double share(const Truth& t, const std::vector<float>& found) {
  const std::vector<Bytes> outputs{bytes_of(found)};
  return share_of_allowed_error(t, outputs);
}

}  // namespace

TEST_CASE("an_error_is_a_share_of_one_roundoff_per_step", "[agreement]") {
  CHECK(share(truth({3, 4}, 1), {3, 4}) == 0);
  // ‖error‖ = 2^-20, ‖truth‖ = 5, eight roundings of 2^-24: 2^-20 / (8·2^-24·5) = 2/5
  const double found = share(truth({3, 4}, 8), {3.0F + 0x1p-20F, 4});
  CHECK(std::abs(found - 0.4) <= 0x1p-50);
  CHECK(share(truth({3, 4}, 1), {3.0F + 0x1p-20F, 4}) > 1);
  CHECK(share(truth({1, 2}, 100), {2, 1}) > 1);
  const std::vector<double> three_four{3, 4}, beside{3 + 0x1p-49, 4};
  CHECK(std::abs(share_of_allowed_error(three_four, beside, 8, 0x1p-53) - 0.4) <= 0x1p-50);
}

TEST_CASE("what_cannot_be_compared_agrees_with_nothing", "[agreement]") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(share(truth({3, 4}, 1), {3}) == infinity);
  CHECK(share(truth({3}, 1), {std::numeric_limits<float>::quiet_NaN()}) == infinity);
  CHECK(share_of_allowed_error(truth({3}, 1), {}) == infinity);
  CHECK(share(truth({infinity, 1}, 10), {std::numeric_limits<float>::infinity(), 2}) == infinity);
  CHECK(share(truth({0, 0}, 10), {0, 0}) == 0);
  CHECK(share(truth({0, 0}, 10), {0, 1e-30F}) == infinity);
}

TEST_CASE("a_chain_counts_the_terms_of_sums_and_the_steps_between", "[agreement]") {
  Tracer tracer;
  const Traced a = tracer.input("a", DType::f32, {4, 100}), b = tracer.input("b", DType::f32, {100, 8});
  const Traced y = ops::matmul(a, b);
  tracer.output("y", y);
  tracer.output("z", ops::exp(ops::add(y, y)));
  const std::vector<double> chains = longest_chains(compiled::compile(tracer.finish()).system());
  REQUIRE(chains.size() == 2);
  CHECK(chains[0] == 101);          // 100 terms and the product
  CHECK(chains[1] == 101 + 1 + 4);  // and a sum, and a function
}
