#include "tools/log/judge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "conformance/admit_schemas.hpp"
#include "conformance/divided_axes.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/error.hpp"
#include "spec/program/number_text.hpp"
#include "spec/system/ranges.hpp"
#include "tools/log/operands.hpp"
#include "tools/log/outline.hpp"
#include "tools/log/segment.hpp"

namespace etalon::logging {

using reference::Envelopes;
using reference::Verdict;
using spec::TensorId;

namespace {

// An hour, and some gigabytes: more than logs need that somebody reads.
constexpr double most_evaluations = 2e9;
constexpr double most_elements = 3e7;

std::int64_t integer_at(const HostTensor& t, std::size_t i) {
  return t.dtype == DType::i32 ? t.view<std::int32_t>()[i] : t.view<std::int64_t>()[i];
}

double elements_of(const Dims& dims) {
  double count = 1;
  for (const std::int64_t extent : dims) count *= static_cast<double>(extent);
  return count;
}

std::string admitted_text(const reference::Admitted& in) {
  std::string text = (in.flags & reference::admits_finite) != 0 ? fmt::format("[{}, {}]", spec::real_text(in.lower), spec::real_text(in.upper)) : "";
  const auto add = [&](std::uint8_t flag, const char* name) {
    if ((in.flags & flag) != 0) text += (text.empty() ? "" : " or ") + std::string(name);
  };
  add(reference::admits_positive_infinity, "inf");
  add(reference::admits_negative_infinity, "-inf");
  add(reference::admits_nan, "nan");
  return text;
}

/// The same equations, computed in another of the ways that conform.
std::vector<conformance::Schema> other_schemas(const Segment& segment, const std::vector<HostTensor>& sources) {
  std::vector<conformance::Schema> schemas;
  if (auto divided = conformance::with_divided_axes(segment.system)) schemas.push_back({std::move(*divided), sources});
  if (segment.equations.size() > 1) schemas.push_back({reference::with_recomputed_elements(segment.system), sources});
  return schemas;
}

class Judging {
 public:
  explicit Judging(const Log& log) : log_(log), ranges_(spec::value_ranges(log.meaning.system)), broken_(ranges_.size()) {
    result_.backend = log.backend;
    result_.contract = log.contract.name;
  }

  Judged run() {
    for (const Segment& segment : segments(log_.meaning.system, log_.held())) judge(segment);
    return std::move(result_);
  }

 private:
  /// The first integer that its equations cannot give: what reads it may read outside a tensor.
  [[nodiscard]] std::optional<std::size_t> outside_range(TensorId t) const {
    const HostTensor& value = *log_.value(t);
    const spec::Interval range = ranges_[static_cast<std::size_t>(t)];
    if (kind_of(value.dtype) != Kind::integer) return std::nullopt;
    const auto count = static_cast<std::size_t>(value.dims.count());
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t n = integer_at(value, i);
      if ((range.low > -spec::Interval::unbounded && n < range.low) || (range.high < spec::Interval::unbounded && n > range.high)) return i;
    }
    return std::nullopt;
  }

  void judge(const Segment& segment) {
    const auto is_broken = [&](TensorId t) { return broken_[static_cast<std::size_t>(t)]; };
    if (std::any_of(segment.sources.begin(), segment.sources.end(), is_broken)) {
      ++result_.left_out;
      return;
    }
    ++result_.assignments;
    for (const TensorId t : segment.targets) {
      const auto outside = outside_range(t);
      if (!outside) continue;
      broken_[static_cast<std::size_t>(t)] = true;
      ++result_.elements;
      const spec::Interval range = ranges_[static_cast<std::size_t>(t)];
      report(segment, t, *outside, 1, fmt::format("{}..{}", range.low, range.high), fmt::format("an integer in {}..{}", range.low, range.high));
      return;
    }
    hold_to_bounds(segment);
  }

  void hold_to_bounds(const Segment& segment) {
    std::vector<HostTensor> sources;
    std::vector<HostTensor> got;
    for (const TensorId t : segment.sources) sources.push_back(*log_.value(t));
    for (const TensorId t : segment.targets) got.push_back(*log_.value(t));
    const spec::System shared = with_shared_reductions(segment.system);
    require_soon(segment, shared);
    Envelopes bounds = reference::envelopes(shared, sources, log_.contract);
    if (!reference::judge(got, bounds).passed()) {
      require_soon(segment, segment.system);
      bounds = reference::envelopes(segment.system, sources, log_.contract);
    }
    if (!reference::judge(got, bounds).passed()) {
      conformance::admit_schemas(bounds, got, other_schemas(segment, sources), {}, log_.contract);
    }
    const Verdict verdict = reference::judge(got, bounds);
    result_.elements += verdict.comparisons;
    result_.undecided += verdict.undecided;
    if (verdict.passed()) {
      result_.worst_ratio = std::max(result_.worst_ratio, verdict.worst_ratio);
      return;
    }
    const bool is_element = verdict.first_offender != Verdict::nothing;
    const std::size_t o = is_element ? verdict.output : 0;
    const std::size_t i = is_element ? verdict.first_offender : 0;
    const reference::Envelope& envelope = bounds.outputs[o];
    const bool real = kind_of(envelope.dtype) == Kind::real;
    const std::string expected = !is_element ? "" : real ? spec::real_text(envelope.reference[i]) : std::to_string(envelope.exact[i]);
    report(segment, segment.targets[o], i, verdict.offenders, expected, real ? admitted_text(verdict.expected) : expected, verdict.message);
  }

  void require_soon(const Segment& segment, const spec::System& system) const {
    const double count = evaluations(system);
    double elements = 0;
    for (const spec::TensorInfo& t : system.tensors) elements += elements_of(t.dims);
    if (count <= most_evaluations && elements <= most_elements) return;
    throw SpecViolation(fmt::format("{} takes too long to judge: {:.0e} evaluations over {:.0e} elements; log fewer or smaller values",
                                    log_.meaning.system[segment.targets.front()].name, count, elements));
  }

  void report(const Segment& segment, TensorId t, std::size_t element, std::size_t offenders, std::string expected, std::string admitted,
              std::string why = {}) {
    const spec::TensorInfo& info = log_.meaning.system[t];
    Fault fault;
    fault.step = log_.meaning.steps[segment.equations.back()];
    fault.element = element_name(info.name, info.dims, element);
    fault.found = element_text(*log_.value(t), element);
    fault.expected = std::move(expected);
    fault.admitted = std::move(admitted);
    fault.offenders = offenders;
    fault.why = std::move(why);
    explain(segment, t, element, fault);
    result_.faults.push_back(std::move(fault));
  }

  /// The equation that writes the element, and what it read.
  void explain(const Segment& segment, TensorId t, std::size_t element, Fault& fault) const {
    std::vector<const HostTensor*> values(segment.system.tensors.size());
    for (std::size_t i = 0; i < segment.sources.size(); ++i) values[static_cast<std::size_t>(segment.system.inputs[i])] = log_.value(segment.sources[i]);
    for (std::size_t i = 0; i < segment.targets.size(); ++i) values[static_cast<std::size_t>(segment.system.outputs[i])] = log_.value(segment.targets[i]);
    Operands operands(segment.system, values);
    for (std::size_t q = 0; q < segment.system.equations.size(); ++q) {
      const spec::Equation& e = segment.system.equations[q];
      if (log_.meaning.system.equations[segment.equations[q]].target != t) continue;
      if (fault.equation.empty()) fault.equation = equation_text(segment.system, q);
      const auto indices = indices_of(operands, e, element);
      if (!indices) continue;
      fault.equation = equation_text(segment.system, q);
      fault.operands = operands.text(e.value, *indices);
      return;
    }
  }

  /// The values of the equation's binders for which it writes the element.
  static std::optional<Indices> indices_of(const Operands& operands, const spec::Equation& e, std::size_t element) {
    Indices indices;
    for (const spec::Binder& b : e.binders) {
      if (b.extent == 0) return std::nullopt;
      indices[b.variable] = 0;
    }
    while (true) {
      if (operands.position(e.target, e.place, indices) == element) return indices;
      std::size_t b = e.binders.size();
      while (b > 0 && ++indices[e.binders[b - 1].variable] == e.binders[b - 1].extent) indices[e.binders[--b].variable] = 0;
      if (b == 0) return std::nullopt;
    }
  }

  const Log& log_;
  std::vector<spec::Interval> ranges_;
  std::vector<bool> broken_;  ///< integer tensors that may name places outside others
  Judged result_;
};

}  // namespace

Judged judge(const Log& log) { return Judging(log).run(); }

}  // namespace etalon::logging
