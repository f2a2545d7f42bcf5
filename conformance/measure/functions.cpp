#include "conformance/measure/functions.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include "conformance/values.hpp"
#include "reference/bounds/rounding.hpp"
#include "reference/bounds/wide.hpp"

namespace etalon::conformance {
namespace {

using reference::bounds::power_below;
using reference::bounds::Quad;
using reference::bounds::Rounding;
using reference::bounds::Wide;
using spec::Primitive;

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::array functions{Primitive::exp,  Primitive::exp2, Primitive::expm1, Primitive::log,  Primitive::log2,
                               Primitive::log1p, Primitive::sqrt, Primitive::sin,  Primitive::cos,  Primitive::tan,
                               Primitive::sinh, Primitive::cosh, Primitive::tanh,  Primitive::erf,  Primitive::pow,
                               Primitive::atan2, Primitive::div};

template <class R>
R exact_value(Primitive p, double x, double z) {
  if (p == Primitive::div) return static_cast<R>(x) / static_cast<R>(z);
  return Wide<R>::evaluate(p, static_cast<R>(x), static_cast<R>(z));
}

template <class R>
class Meter {
 public:
  Meter(FunctionMeasure& seen) : seen_(seen), format_(Rounding::of(seen.dtype)), arity_(spec::info(seen.function).arity) {}

  void look(double x, double z, double computed) {
    ++seen_.points;
    const R exact = exact_value<R>(seen_.function, x, z);
    if ((x == 0 || x == 1) && is_known(x, exact) && !(static_cast<R>(computed) == exact)) seen_.exact_points = false;
    if (is_no_worse(exact, computed)) return;
    const double off = distance(static_cast<double>(exact < 0 ? -exact : exact), exact, computed);
    if (off <= seen_.worst) return;
    if (off > 1 && flushed(x, z, exact, computed)) return;
    if (off == infinity) {
      if (seen_.misclassified++ == 0) {
        seen_.misclassified_at = {x, z};
        seen_.misclassified_as = computed;
      }
      return;
    }
    seen_.worst = off;
    seen_.at = {x, z};
    seen_.computed = computed;
  }

 private:
  /// The points that `exact_points` of a contract speaks of.
  bool is_known(double x, const R& exact) const {
    if (arity_ == 2) return false;
    if (seen_.function == Primitive::log || seen_.function == Primitive::log2) return x == 1;
    return x == 0 && (exact == 0 || exact == 1);
  }

  /// What `distance` would say, without a division, of nearly all points.
  bool is_no_worse(const R& exact, double computed) const {
    if (std::fabs(computed) > format_.omega) return false;
    const double below = power_below(static_cast<double>(exact));
    const double off = std::fabs(static_cast<double>(static_cast<R>(computed) - exact));
    return off <= seen_.worst * format_.u * below || off == 0;
  }

  /// In units in the last place of the exact result; infinite for another class of number.
  double distance(double size, const R& exact, double computed) const {
    if (!(exact == exact) || !(computed == computed)) return (exact == exact) == (computed == computed) ? 0 : infinity;
    const double top = 2 * format_.u * power_below(format_.omega);
    const bool same_sign = (exact < 0) == (computed < 0);
    if (std::fabs(computed) == infinity) {
      if (!same_sign) return infinity;
      return size > format_.omega ? 0 : (format_.omega - size) / top;
    }
    const R magnitude = exact < 0 ? -exact : exact;
    // A wider number may lie beyond every double, and close to the largest.
    if (size == infinity || size > format_.overflow) {
      return same_sign ? static_cast<double>((magnitude - static_cast<R>(std::fabs(computed))) / static_cast<R>(top)) : infinity;
    }
    const R off = static_cast<R>(computed) - exact;
    double below = power_below(size);
    // A wider number just under a power of two may have been rounded up to it.
    if (static_cast<R>(below) > magnitude) below /= 2;
    return std::fabs(static_cast<double>(off)) / std::max(2 * format_.u * below, format_.eta);
  }

  bool flushed(double x, double z, const R& exact, double computed) {
    const double size = std::fabs(static_cast<double>(exact));
    if (computed == 0 && size < format_.tau) {
      ++seen_.flushed_results;
      return true;
    }
    const auto tiny = [&](double v) { return v != 0 && std::fabs(v) < format_.tau; };
    if (!tiny(x) && !(arity_ == 2 && tiny(z))) return false;
    const R at_zero = exact_value<R>(seen_.function, tiny(x) ? std::copysign(0.0, x) : x, tiny(z) ? std::copysign(0.0, z) : z);
    const bool both_nan = !(at_zero == at_zero) && !(computed == computed);
    if (!both_nan && !(distance(std::fabs(static_cast<double>(at_zero)), at_zero, computed) <= 1)) return false;
    ++seen_.flushed_operands;
    return true;
  }

  FunctionMeasure& seen_;
  Rounding format_;
  std::size_t arity_;
};

template <class R, class Element>
void look_at_all(FunctionMeasure& seen, std::size_t n, const HostTensor* z, const Element& x, const Element& y) {
  Meter<R> meter(seen);
  for (std::size_t i = 0; i < n; ++i) meter.look(x(i), z == nullptr ? 0 : element(*z, i), y(i));
}

void look_at_all(FunctionMeasure& seen, const HostTensor& x, const HostTensor* z, const HostTensor& y) {
  const auto n = static_cast<std::size_t>(x.dims.count());
  const auto any = [](const HostTensor& t) { return [&t](std::size_t i) { return element(t, i); }; };
  const auto singles = [](const HostTensor& t) {
    return [all = t.view<float>()](std::size_t i) { return static_cast<double>(all[i]); };
  };
  if (seen.dtype == DType::f64) look_at_all<Quad>(seen, n, z, any(x), any(y));
  else if (seen.dtype == DType::f32) look_at_all<double>(seen, n, z, singles(x), singles(y));
  else look_at_all<double>(seen, n, z, any(x), any(y));
}

/// The numbers whose bits are first, first + 1, …
HostTensor numbers_from(DType dtype, std::uint64_t first, std::int64_t count) {
  HostTensor x(dtype, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = first + static_cast<std::uint64_t>(i);
    if (dtype == DType::f32) {
      const auto word = static_cast<std::uint32_t>(bits);
      std::memcpy(x.bytes.data() + i * 4, &word, 4);
    } else {
      const auto half = static_cast<std::uint16_t>(bits);
      std::memcpy(x.bytes.data() + i * 2, &half, 2);
    }
  }
  return x;
}

}  // namespace

void FunctionMeasure::join(const FunctionMeasure& other) {
  points += other.points;
  exact_points = exact_points && other.exact_points;
  flushed_operands += other.flushed_operands;
  flushed_results += other.flushed_results;
  if (misclassified == 0 && other.misclassified > 0) {
    misclassified_at = other.misclassified_at;
    misclassified_as = other.misclassified_as;
  }
  misclassified += other.misclassified;
  if (other.worst > worst) {
    worst = other.worst;
    at = other.at;
    computed = other.computed;
  }
}

std::span<const Primitive> measured_functions() { return functions; }

std::optional<FunctionMeasure> measure_function(spec::Backend& backend, const Probe& probe, Primitive p, DType dtype,
                                                const Columns& points) {
  constexpr std::size_t batch = std::size_t{1} << 16U;
  FunctionMeasure seen;
  seen.function = p;
  seen.dtype = dtype;
  for (std::size_t first = 0; first < points[0].size(); first += batch) {
    // The last batch ends where the points end: every batch has one shape.
    const std::size_t size = std::min(batch, points[0].size());
    const std::size_t from = std::min(first, points[0].size() - size);
    std::vector<HostTensor> operands;
    for (const auto& column : points) {
      operands.push_back(tensor_of(dtype, {static_cast<std::int64_t>(size)}, std::span(column).subspan(from, size)));
    }
    const auto y = ask(backend, probe, operands);
    if (!y || !(y->dims == operands[0].dims)) return std::nullopt;
    look_at_all(seen, operands[0], operands.size() > 1 ? &operands[1] : nullptr, *y);
  }
  return seen;
}

std::optional<FunctionMeasure> measure_everywhere(std::span<spec::Backend* const> backends, const Probe& probe, Primitive p,
                                                  DType dtype, const std::function<void(double)>& progress) {
  const std::uint64_t all = std::uint64_t{1} << (8 * size_of(dtype));
  const std::uint64_t batch = std::min<std::uint64_t>(std::uint64_t{1} << 20U, all);
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> declined = false;
  std::mutex mutex;
  FunctionMeasure total;
  total.function = p;
  total.dtype = dtype;
  total.exhaustive = true;
  const auto work = [&](spec::Backend& backend) {
    FunctionMeasure seen;
    seen.function = p;
    seen.dtype = dtype;
    for (std::uint64_t first = next++ * batch; first < all && !declined; first = next++ * batch) {
      const HostTensor x = numbers_from(dtype, first, static_cast<std::int64_t>(batch));
      const auto y = ask(backend, probe, {x});
      if (!y || !(y->dims == x.dims)) declined = true;
      else look_at_all(seen, x, nullptr, *y);
      progress(static_cast<double>(std::min(first + batch, all)) / static_cast<double>(all));
    }
    const std::lock_guard lock(mutex);
    total.join(seen);
  };
  {
    std::vector<std::jthread> workers;
    for (spec::Backend* backend : backends) workers.emplace_back([&work, backend] { work(*backend); });
  }
  if (declined) return std::nullopt;
  return total;
}

}  // namespace etalon::conformance
