#include "conformance/measure/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "conformance/measure/functions.hpp"
#include "conformance/measure/policies.hpp"
#include "conformance/measure/sums.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

using nlohmann::ordered_json;
using spec::Primitive;

std::string function_name(Primitive p) {
  if (p == Primitive::pow) return "pow";
  return p == Primitive::div ? "div" : std::string(spec::info(p).name);
}

/// A measured maximum as a promise: a fact is rounded up to the next thousandth, a sampled one, which creeps upward with
/// more points, to the next half. That a function is correctly rounded is believed of those that IEEE 754 requires to be.
double promised(const FunctionMeasure& seen) {
  const double grid = seen.exhaustive ? 1000 : 2;
  const bool required = seen.function == Primitive::sqrt || seen.function == Primitive::div;
  return std::max(seen.exhaustive || required ? 0.5 : 1.0, std::ceil(seen.worst * grid) / grid);
}

/// The loosest that any shipped profile grants, per function.
double most_granted(DType dtype, Primitive p) {
  double most = 0;
  for (const std::string& name : spec::contract_names()) most = std::max(most, spec::function_bound(spec::contract_named(name), dtype, p).k0);
  return most;
}

ordered_json number(double x) { return fmt::format("{:a}", x); }

class Inference {
 public:
  Inference(spec::Backend& backend, const InferOptions& options) : backend_(backend), options_(options) {}

  Inferred run() {
    const spec::Description self = backend_.describe();
    contract_.name = self.name + ", inferred";
    policies();
    for (const DType dtype : {DType::f32, DType::f64}) {
      if (offers(self, dtype)) functions(dtype);
    }
    for (const DType dtype : {DType::f16, DType::bf16}) {
      if (offers(self, dtype)) halves(dtype);
    }
    sums();
    Inferred result;
    result.contract = contract_;
    result.defects = defects_;
    result.json = text(self);
    return result;
  }

 private:
  static bool offers(const spec::Description& self, DType dtype) {
    return self.dtypes.empty() || std::find(self.dtypes.begin(), self.dtypes.end(), dtype) != self.dtypes.end();
  }

  void tell(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  void policies() {
    tell("policies");
    const Policies found = measure_policies(backend_, library_);
    contract_.flush_results = found.flush_results;
    contract_.flush_operands = found.flush_operands;
    contract_.reciprocal_division = found.reciprocal_division;
    contract_.product_operand_precision = found.product_operand_precision;
    contract_.product_operand_rounding = found.product_operand_rounding;
    contract_.accumulation = found.accumulation;
    contract_.ties = found.ties;
    contract_.nan_of_extrema = found.nan_of_extrema;
    if (found.f16_accumulators) contract_.halves[DType::f16].own_accumulators = true;
    if (found.bf16_accumulators) contract_.halves[DType::bf16].own_accumulators = true;
    for (const Finding& f : found.findings) measured_["policies"].push_back({{"what", f.what}, {"found", f.found}});
    defects_ = found.defects;
  }

  std::optional<FunctionMeasure> everywhere(const Probe& probe, Primitive p, DType dtype, unsigned jobs) const {
    std::vector<std::unique_ptr<spec::Backend>> more;
    std::vector<spec::Backend*> backends{&backend_};
    for (unsigned j = 1; options_.another && j < jobs; ++j) backends.push_back(more.emplace_back(options_.another()).get());
    int told = -1;
    return measure_everywhere(backends, probe, p, dtype, [&](double share) {
      const int percent = static_cast<int>(100 * share);
      if (percent == told || dtype != DType::f32) return;
      told = percent;
      tell(fmt::format("{} of {}: {} %", function_name(p), name_of(dtype), percent));
    });
  }

  void functions(DType dtype) {
    for (const Primitive p : measured_functions()) {
      const auto probe = bare_primitive(library_, p, dtype);
      if (!probe) continue;
      tell(fmt::format("{} of {}", function_name(p), name_of(dtype)));
      const std::size_t points = dtype == DType::f32 ? options_.points : options_.points / 8;
      auto seen = measure_function(backend_, *probe, p, dtype, sample_points(p, dtype, points, 1));
      if (seen && options_.exhaustive && dtype == DType::f32 && spec::info(p).arity == 1) {
        seen = everywhere(*probe, p, dtype, options_.jobs);
      } else if (seen) {
        climb(*probe, points / 8, *seen);
        sample_edges(*probe, points / 4, *seen);
      }
      if (seen) promise(*seen);
    }
  }

  void sample_edges(const Probe& probe, std::size_t points, FunctionMeasure& seen) {
    const Columns edges = points_at_edges(seen.function, seen.dtype, points, 1);
    if (edges[0].empty()) return;
    if (auto there = measure_function(backend_, probe, seen.function, seen.dtype, edges)) {
      climb(probe, points / 2, *there);
      seen.join(*there);
    }
  }

  /// Looks again around the worst point, while that finds a worse one.
  void climb(const Probe& probe, std::size_t points, FunctionMeasure& seen) {
    constexpr std::uint64_t most_rounds = 8;
    for (std::uint64_t round = 2; round < 2 + most_rounds; ++round) {
      const double before = seen.worst;
      const auto place = std::span(seen.at).first(spec::info(seen.function).arity);
      const auto more = measure_function(backend_, probe, seen.function, seen.dtype, points_near(place, seen.dtype, std::max<std::size_t>(points, 1), round));
      if (more) seen.join(*more);
      if (!(seen.worst > before)) return;
    }
  }

  void promise(const FunctionMeasure& seen) {
    record(seen);
    const std::string name = fmt::format("{} in {}", function_name(seen.function), name_of(seen.dtype));
    if (seen.misclassified > 0) {
      defects_.push_back(fmt::format("{}: {} results are NaN, infinite or of the other sign where the exact one is not, or the reverse; at {:a} it is {}",
                                     name, seen.misclassified, seen.misclassified_at[0], seen.misclassified_as));
    }
    if (seen.flushed_operands > 0) contract_.flush_operands = true;
    if (seen.flushed_results > 0) contract_.flush_results = true;
    if (seen.worst > most_granted(seen.dtype, seen.function)) {
      defects_.push_back(fmt::format("{}: {:.6g} ulp at {:a}, more than any shipped contract grants: not promised", name, seen.worst, seen.at[0]));
      return;
    }
    if (seen.function == Primitive::div && (contract_.reciprocal_division || seen.worst <= 0.5)) return;
    const bool exact = seen.exact_points && spec::info(seen.function).arity == 1;
    contract_.functions[seen.dtype][seen.function] = {promised(seen), 0, 0, exact};
  }

  void record(const FunctionMeasure& seen) {
    ordered_json row{{"worst_ulps", std::ceil(seen.worst * 1e6) / 1e6}, {"at", ordered_json::array()}, {"points", seen.points}};
    for (std::size_t i = 0; i < spec::info(seen.function).arity; ++i) row["at"].push_back(number(seen.at[i]));
    if (seen.exhaustive) row["exhaustive"] = true;
    if (seen.flushed_operands > 0) row["flushed_operands"] = seen.flushed_operands;
    if (seen.flushed_results > 0) row["flushed_results"] = seen.flushed_results;
    measured_["functions"][std::string(name_of(seen.dtype))][function_name(seen.function)] = row;
  }

  /// Every number of 16 bits: f32 inside and one rounding at the end err by half a unit and a trace of f32's error.
  void halves(DType dtype) {
    for (const Primitive p : measured_functions()) {
      const auto probe = spec::info(p).arity == 1 ? bare_primitive(library_, p, dtype) : std::nullopt;
      if (!probe) continue;
      tell(fmt::format("{} of {}", function_name(p), name_of(dtype)));
      const auto seen = everywhere(*probe, p, dtype, 1);
      if (!seen) continue;
      record(*seen);
      const double through = spec::function_bound(contract_, DType::f32, p).k0;
      const double trace = 2 * through * std::ldexp(1.0, spec::format_of(dtype).precision - spec::format_of(DType::f32).precision);
      if (seen->worst <= 0.5 + trace) continue;
      contract_.halves[dtype].own_temporaries = true;
      promise(*seen);
    }
  }

  void sums() {
    tell("sums");
    const auto seen = measure_sums(backend_, library_, DType::f32, options_.longest_sum);
    for (const TreeMeasure& t : seen) {
      ordered_json row{{"what", t.layout}, {"terms", t.terms}};
      if (t.is_tree) row["height"] = t.height;
      else row["height"] = nullptr;
      measured_["sums"].push_back(row);
    }
    contract_.sums = tree_that_holds(seen, false);
    contract_.contractions = tree_that_holds(seen, true);
  }

  std::string text(const spec::Description& self) const {
    ordered_json file;
    file["name"] = contract_.name;
    file["about"] = fmt::format("Measured by `etalon contract infer` on {} {}. A starting point for its author: every number is what was seen, not what is promised by reasons, and a defect that was seen may hide among them.",
                                self.name, self.version);
    const ordered_json fields = ordered_json::parse(spec::to_json(contract_));
    for (const auto& [key, value] : fields.items()) {
      if (key != "name") file[key] = value;
    }
    file["measured"] = measured_;
    if (!defects_.empty()) file["measured"]["defects"] = defects_;
    return file.dump(2) + "\n";
  }

  spec::Backend& backend_;
  const InferOptions& options_;
  spec::Library library_;
  spec::Contract contract_;
  std::vector<std::string> defects_;
  ordered_json measured_;
};

}  // namespace

Inferred infer_contract(spec::Backend& backend, const InferOptions& options) { return Inference(backend, options).run(); }

}  // namespace etalon::conformance
