// What is measured of a backend is what was done to it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "backends.hpp"
#include "conformance/measure/functions.hpp"
#include "conformance/measure/infer.hpp"
#include "conformance/measure/policies.hpp"
#include "conformance/measure/sums.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"

namespace etalon {
namespace {

using conformance::SumRows;
using spec::Primitive;

/// A backend whose requests are changed on their way in and whose answers on their way out.
class Altered final : public spec::Backend {
 public:
  using In = std::function<void(spec::Request&)>;
  using Out = std::function<void(const spec::Request&, HostTensor&)>;
  Altered(In in, Out out) : in_(std::move(in)), out_(std::move(out)) {}
  [[nodiscard]] spec::Description describe() const override {
    spec::Description d = inner_->describe();
    d.dtypes = {DType::f32, DType::f64};
    return d;
  }
  [[nodiscard]] spec::Answer run(const spec::Request& request) override {
    spec::Request changed = request;
    if (in_) in_(changed);
    return tests::each_tensor(inner_->run(changed), [&](HostTensor& t) {
      if (out_) out_(request, t);
    });
  }

 private:
  std::unique_ptr<spec::Backend> inner_ = reference::make_reference_backend();
  In in_;
  Out out_;
};

void each_element(HostTensor& t, const std::function<double(double)>& change) {
  if (kind_of(t.dtype) != Kind::real) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    conformance::set_element(t, i, change(conformance::element(t, i)));
  }
}

double tau(DType dtype) { return std::ldexp(1.0, spec::format_of(dtype).emin); }

double to_bits(double x, int bits, bool cut) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
  return unit * (cut ? std::trunc(x / unit) : std::nearbyint(x / unit));
}

conformance::Policies policies(Altered::In in, Altered::Out out) {
  Altered backend(std::move(in), std::move(out));
  return conformance::measure_policies(backend, {});
}

/// Rows are summed by a function of one row.
SumRows by_row(std::size_t terms, const std::function<float(std::span<const double>)>& sum) {
  return [=](std::span<const double> rows) -> std::optional<std::vector<double>> {
    std::vector<double> sums;
    for (std::size_t first = 0; first < rows.size(); first += terms) sums.push_back(sum(rows.subspan(first, terms)));
    return sums;
  };
}

float sequence(std::span<const double> x) {
  float s = 0;
  for (const double v : x) s += static_cast<float>(v);
  return s;
}

float halves(std::span<const double> x) {
  if (x.size() == 1) return static_cast<float>(x[0]);
  return halves(x.first(x.size() / 2)) + halves(x.subspan(x.size() / 2));
}

float blocks_of_8(std::span<const double> x) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < x.size(); i += 8) sums.push_back(sequence(x.subspan(i, std::min<std::size_t>(8, x.size() - i))));
  return halves(sums);
}

float four_lanes(std::span<const double> x) {
  float lanes[4] = {};
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % 4] += static_cast<float>(x[i]);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

float exactly(std::span<const double> x) {
  long double s = 0;
  for (const double v : x) s += std::fabs(v) < 0x1p50 ? static_cast<long double>(v) : 0;
  return static_cast<float>(s);
}

/// Four at a time, in one rounding.
float fours(std::span<const double> x) {
  double s = 0;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    double largest = std::fabs(s), part = s;
    for (std::size_t k = i; k < std::min(i + 3, x.size()); ++k) {
      largest = std::max(largest, std::fabs(x[k]));
      part += x[k];
    }
    s = largest > 0x1p50 ? std::nearbyint(part / 0x1p60) * 0x1p60 : part;
  }
  return static_cast<float>(s);
}

}  // namespace

TEST_CASE("every function of a contract has an operation of its own form", "[measure]") {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const Primitive p : conformance::measured_functions()) {
      INFO(spec::info(p).name << " of " << name_of(dtype));
      CHECK(conformance::bare_primitive({}, p, dtype));
    }
    for (const auto r : {spec::Reduction::sum, spec::Reduction::max, spec::Reduction::min}) {
      CHECK(conformance::bare_reduction({}, r, dtype, true));
      CHECK(conformance::bare_reduction({}, r, dtype, false));
    }
    CHECK(conformance::bare_contraction({}, dtype));
  }
  CHECK_FALSE(conformance::bare_primitive({}, Primitive::philox, DType::f32));
}

TEST_CASE("the tree of a sum is found by masking", "[measure]") {
  const auto height = [](std::size_t terms, float (*sum)(std::span<const double>)) {
    const auto seen = conformance::measure_tree(by_row(terms, sum), DType::f32, static_cast<std::int64_t>(terms), 5);
    REQUIRE(seen);
    return seen->is_tree ? seen->height : -1;
  };
  CHECK(height(40, sequence) == 39);
  CHECK(height(40, halves) == 6);
  CHECK(height(64, halves) == 6);
  CHECK(height(64, blocks_of_8) == 7 + 3);
  CHECK(height(100, four_lanes) == 24 + 2);
  CHECK(height(40, exactly) == 0);
  CHECK(height(40, fours) == -1);
  CHECK_FALSE(conformance::measure_tree([](std::span<const double>) { return std::nullopt; }, DType::f32, 4, 1));
}

TEST_CASE("the tightest declaration that holds is chosen", "[measure]") {
  const auto declared = [](float (*sum)(std::span<const double>)) {
    std::vector<conformance::TreeMeasure> seen;
    for (const std::size_t terms : {2U, 3U, 7U, 16U, 33U, 64U, 100U, 256U}) {
      seen.push_back(*conformance::measure_tree(by_row(terms, sum), DType::f32, static_cast<std::int64_t>(terms), 16));
    }
    const spec::SumTree tree = conformance::tree_that_holds(seen, false);
    for (const auto& t : seen) CHECK(t.height <= tree.height(t.terms));
    return tree;
  };
  CHECK_FALSE(declared(sequence).promises());
  CHECK_FALSE(declared(fours).promises());
  CHECK(declared(halves).height(256) <= 9);
  CHECK(declared(blocks_of_8).height(256) <= 8 + 5);
  CHECK(declared(four_lanes).height(256) <= 63 + 2);
}

TEST_CASE("a sound backend has no defect", "[measure]") {
  const conformance::Policies found = policies({}, {});
  CHECK(found.defects.empty());
  CHECK(found.findings.size() >= 10);
  CHECK_FALSE((found.flush_results || found.flush_operands || found.reciprocal_division));
  CHECK(found.product_operand_precision == 0);
  CHECK(found.accumulation == spec::RoundingMode::nearest);
  CHECK(found.ties == spec::TiePolicy::first);
  CHECK_FALSE((found.f16_accumulators || found.bf16_accumulators));
}

TEST_CASE("flushing is found", "[measure]") {
  const auto flush = [](DType dtype) { return [dtype](double x) { return std::fabs(x) < tau(dtype) ? 0.0 : x; }; };
  const auto results = policies({}, [&](const spec::Request&, HostTensor& t) { each_element(t, flush(t.dtype)); });
  CHECK(results.flush_results);
  CHECK_FALSE(results.flush_operands);
  const auto operands = policies([&](spec::Request& r) { for (HostTensor& t : r.inputs) each_element(t, flush(t.dtype)); }, {});
  CHECK(operands.flush_operands);
  CHECK_FALSE(operands.flush_results);
}

TEST_CASE("operands of contractions in fewer bits are found", "[measure]") {
  for (const bool cut : {false, true}) {
    for (const int bits : {8, 11}) {
      const auto found = policies([&](spec::Request& r) {
        if (r.inputs.size() != 2 || r.inputs[0].dims.rank != 2) return;
        for (HostTensor& t : r.inputs) each_element(t, [&](double x) { return to_bits(x, bits, cut); });
      }, {});
      CHECK(found.product_operand_precision == bits);
      CHECK(found.product_operand_rounding == (cut ? spec::RoundingMode::toward_zero : spec::RoundingMode::nearest));
    }
  }
}

TEST_CASE("the last of ties is found", "[measure]") {
  const auto reversed = [](HostTensor& t) {
    std::vector<double> x = conformance::doubles_of(t);
    std::reverse(x.begin(), x.end());
    t = conformance::tensor_of(t.dtype, t.dims, x);
  };
  const auto found = policies([&](spec::Request& r) { if (r.mode == spec::Mode::vjp) reversed(r.inputs[0]); },
                              [&](const spec::Request& r, HostTensor& t) { if (r.mode == spec::Mode::vjp && t.dims.count() == 4) reversed(t); });
  CHECK(found.ties == spec::TiePolicy::last);
  CHECK(found.defects.empty());
  const auto none = policies({}, [&](const spec::Request& r, HostTensor& t) { if (r.mode == spec::Mode::vjp) each_element(t, [](double) { return 1.0; }); });
  CHECK(none.defects.size() == 2);
}

TEST_CASE("what becomes of NaN and how quotients are formed is found", "[measure]") {
  const auto ignoring = policies([](spec::Request& r) {
    for (HostTensor& t : r.inputs) each_element(t, [](double x) { return std::isnan(x) ? 2.0 : x; });
  }, {});
  CHECK(ignoring.nan_of_extrema == spec::NanPolicy::ignore);
  const auto spreading = policies({}, [](const spec::Request& r, HostTensor& t) {
    for (const HostTensor& x : r.inputs) {
      for (const double v : conformance::doubles_of(x)) {
        if (std::isnan(v) && r.program.inputs.size() + t.dims.rank < 4 && t.dims.count() < 3) each_element(t, [](double) { return std::numeric_limits<double>::quiet_NaN(); });
      }
    }
  });
  CHECK(spreading.nan_of_extrema == spec::NanPolicy::propagate);
  const auto quotient = conformance::bare_primitive({}, Primitive::div, DType::f32);
  REQUIRE(quotient);
  const auto by_reciprocal = policies({}, [&](const spec::Request& r, HostTensor& t) {
    const auto& call = std::get<spec::Call>(r.program.steps[0]);
    if (call.operation != quotient->operation || t.dtype != DType::f32) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      t.view<float>()[i] = r.inputs[0].view<float>()[i] * (1 / r.inputs[1].view<float>()[i]);
    }
  });
  CHECK(by_reciprocal.reciprocal_division);
}

TEST_CASE("sums in 16 bits are found, and sums in fewer bits than the type are a defect", "[measure]") {
  const auto lossy = [](int bits) {
    return policies({}, [bits](const spec::Request& r, HostTensor& t) {
      // A sum of three among which large ones cancel loses the one.
      bool cancels = false;
      for (const double v : conformance::doubles_of(r.inputs[0])) cancels = cancels || std::fabs(v) >= std::ldexp(1.0, bits);
      if (cancels && t.dims.count() == 1 && conformance::element(t, 0) == 1) each_element(t, [](double) { return 0.0; });
    });
  };
  const auto f16 = lossy(11);
  CHECK(f16.f16_accumulators);
  CHECK_FALSE(f16.defects.empty());
  const auto sound = lossy(60);
  CHECK_FALSE(sound.f16_accumulators);
}

TEST_CASE("the worst error of a function is found where it was put", "[measure]") {
  const auto probe = conformance::bare_primitive({}, Primitive::exp, DType::f32);
  REQUIRE(probe);
  Altered backend({}, [](const spec::Request& r, HostTensor& t) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      const double x = conformance::element(r.inputs[0], i);
      float& y = t.view<float>()[i];
      if (x > 3 && x < 4) y = std::nextafter(std::nextafter(std::nextafter(y, 0.0F), 0.0F), 0.0F);
      if (std::fabs(y) < 0x1p-126F) y = 0;
      if (x > 50 && x < 50.5) y = std::numeric_limits<float>::quiet_NaN();
    }
  });
  const auto points = conformance::sample_points(Primitive::exp, DType::f32, 4000, 1);
  const auto seen = conformance::measure_function(backend, *probe, Primitive::exp, DType::f32, points);
  REQUIRE(seen);
  CHECK(seen->worst > 3);
  CHECK(seen->worst < 4);
  CHECK(seen->at[0] > 3);
  CHECK(seen->at[0] < 4);
  CHECK(seen->points >= points[0].size());
  CHECK(seen->flushed_results > 0);
  CHECK(seen->misclassified > 0);
  CHECK(seen->misclassified_at[0] > 50);
  CHECK(seen->exact_points);
  auto sound = reference::make_reference_backend();
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto exact = conformance::measure_function(*sound, *conformance::bare_primitive({}, Primitive::exp, dtype), Primitive::exp, dtype,
                                                     conformance::sample_points(Primitive::exp, dtype, 1000, 1));
    REQUIRE(exact);
    CHECK(exact->worst <= 0.5 + 0x1p-20);
    CHECK(exact->worst > 0.45);
    CHECK(exact->misclassified == 0);
  }
}

TEST_CASE("every number of a 16-bit type is an operand once", "[measure]") {
  auto backend = reference::make_reference_backend();
  spec::Backend* backends[] = {backend.get()};
  double last = 0;
  const auto probe = conformance::bare_primitive({}, Primitive::sqrt, DType::bf16);
  REQUIRE(probe);
  const auto seen = conformance::measure_everywhere(backends, *probe, Primitive::sqrt, DType::bf16, [&](double share) { last = share; });
  REQUIRE(seen);
  CHECK(seen->points == 65536);
  CHECK(seen->exhaustive);
  CHECK(seen->misclassified == 0);
  CHECK(seen->worst <= 0.5 + 0x1p-12);
  CHECK(last == 1);
}

TEST_CASE("an inferred contract is one, and says what was measured", "[measure]") {
  Altered backend([](spec::Request& r) {
    if (r.inputs.size() == 2 && r.inputs[0].dims.rank == 2) {
      for (HostTensor& t : r.inputs) each_element(t, [](double x) { return to_bits(x, 11, false); });
    }
  }, [](const spec::Request&, HostTensor& t) { each_element(t, [&](double x) { return std::fabs(x) < tau(t.dtype) ? 0.0 : x; }); });
  conformance::InferOptions options;
  options.points = 400;
  options.longest_sum = 16;
  const conformance::Inferred found = conformance::infer_contract(backend, options);
  INFO(found.json);
  CHECK(spec::contract_errors(found.json).empty());
  CHECK(spec::parse_contract(found.json) == found.contract);
  CHECK(found.contract.flush_results);
  CHECK(found.contract.product_operand_precision == 11);
  CHECK(found.contract.functions.at(DType::f32).size() >= 16);
  for (const auto& [function, bound] : found.contract.functions.at(DType::f32)) CHECK(bound.k0 <= 1);
  const auto file = nlohmann::json::parse(found.json);
  CHECK(file.at("measured").at("functions").at("f64").at("exp").at("points").get<int>() >= 50);
  CHECK(file.at("measured").at("sums").size() == 20);
  CHECK(file.at("measured").at("policies").size() >= 10);
}

}  // namespace etalon
