// The trees in which the compiled backend adds are those that its contract declares.
#include <bit>
#include <catch2/catch.hpp>

#include "compiled/runtime/backend.hpp"
#include "conformance/measure/sums.hpp"
#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"

namespace etalon {
namespace {

/// Sums over both axes of [rows, rows of terms, columns of terms] by the operation that reduces several axes.
conformance::SumRows over_two_axes(spec::Backend& backend, std::int64_t rows, std::int64_t m, std::int64_t n) {
  return [=, &backend](std::span<const double> values) -> std::optional<std::vector<double>> {
    auto probe = conformance::bare_reduction({}, spec::Reduction::sum, DType::f32);
    if (!probe) return std::nullopt;
    for (auto& [name, value] : probe->attributes) {
      if (auto* axes = std::get_if<std::vector<std::int64_t>>(&value)) *axes = {1, 2};
    }
    const auto y = conformance::ask(backend, *probe, {conformance::tensor_of(DType::f32, {rows, m, n}, values)});
    return y ? std::optional(conformance::doubles_of(*y)) : std::nullopt;
  };
}

}  // namespace

TEST_CASE("no sum is taller than the contract declares", "[compiled][sums]") {
  const bool in_tiles = GENERATE(false, true);
  compiled::CompileOptions options;
  options.schedule = {in_tiles, in_tiles};
  const auto backend = compiled::make_cpu_backend(options);
  const spec::Contract contract = backend->describe().contract;
  REQUIRE((contract.sums.promises() && contract.contractions.promises()));
  int taller_than_a_block = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto seen = conformance::measure_sums(*backend, {}, dtype, 256);
    CHECK(seen.size() == 39);
    for (const auto& t : seen) {
      INFO(t.layout << " of " << t.terms << " in " << name_of(dtype));
      CHECK(t.is_tree);
      CHECK(t.height <= (t.products ? contract.contractions : contract.sums).height(t.terms));
      // A tile adds every element's terms in one lane: blocks of 64, whose sums join in a tree.
      const auto joins = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(t.terms - 1) / 64));
      if (t.products && in_tiles) CHECK(t.height == std::min<std::int64_t>(t.terms, 64) - 1 + joins);
      taller_than_a_block += t.height > 63 ? 1 : 0;
    }
  }
  CHECK(taller_than_a_block > 0);
}

TEST_CASE("nor is a sum over two axes, whose blocks end with the inner one", "[compiled][sums]") {
  const auto backend = compiled::make_cpu_backend({});
  const spec::SumTree declared = backend->describe().contract.sums;
  for (const auto& [m, n] : {std::pair{5, 65}, std::pair{40, 33}, std::pair{65, 3}, std::pair{3, 130}, std::pair{200, 7}}) {
    const std::int64_t terms = std::int64_t{m} * n;
    const auto seen = conformance::measure_tree(over_two_axes(*backend, 16, m, n), DType::f32, terms, 16);
    REQUIRE(seen);
    INFO(m << " by " << n << ": " << seen->height);
    CHECK(seen->is_tree);
    CHECK(seen->height > 0);
    CHECK(seen->height <= declared.height(terms));
  }
}

}  // namespace etalon
