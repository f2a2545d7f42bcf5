#include "reference/bounds/roundings.hpp"

#include <algorithm>
#include <cmath>

#include "reference/bounds/constants.hpp"
#include "reference/bounds/rounding.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

constexpr std::uint8_t many = 2;

std::uint8_t more(std::uint8_t a, int b) { return static_cast<std::uint8_t>(std::min<int>(a + b, many)); }

bool is_literal(const Expr& e) { return e.form() == Form::number || (e.is(Primitive::to_real) && e->args[0].form() == Form::number); }

bool is_power_of_two(const Expr& e) {
  if (!is_literal(e)) return false;
  const Held held = hold(e);
  const auto x = static_cast<double>(held.value);
  return held.error == 0 && x != 0 && std::isnormal(x) && power_below(x) == std::fabs(x);
}

class Count {
 public:
  explicit Count(const spec::System& system) : system_(system), of_(system.tensors.size(), 0), known_(system.tensors.size(), 0) {}

  std::vector<std::uint8_t> run() {
    for (const spec::TensorId t : system_.inputs) known_[static_cast<std::size_t>(t)] = 1;
    for (const spec::Equation& q : system_.equations) equation(q);
    return std::move(of_);
  }

 private:
  void equation(const spec::Equation& q) {
    const auto t = static_cast<std::size_t>(q.target);
    target_ = system_[q.target].dtype;
    if (kind_of(target_) != Kind::real) return;
    widest_ = spec::format_of(target_).precision;
    const std::uint8_t value = of(q.value);
    const bool narrows = widest_ > spec::format_of(target_).precision;
    of_[t] = std::max(of_[t], more(value, narrows ? 1 : 0));
    known_[t] = 1;
  }

  std::uint8_t of(const Expr& e) {
    if (e.kind() != Kind::real) return 0;
    switch (e.form()) {
      case Form::number: return literal(e);
      case Form::variable: return 0;
      case Form::read: return read(e->tensor);
      case Form::detach: return of(e->args[0]);
      case Form::select: return std::max(of(e->args[1]), of(e->args[2]));
      case Form::reduce: return reduction(e);
      case Form::apply: return applied(e);
    }
    return many;
  }

  [[nodiscard]] std::uint8_t literal(const Expr& e) const {
    const Held held = hold(e);
    const auto x = static_cast<double>(held.value);
    const bool exact = held.error == 0 && Rounding::of(target_).holds(std::fabs(x), lowest_bit(held.value));
    return exact ? 0 : 1;
  }

  /// What is read before it is written grows from step to step.
  std::uint8_t read(spec::TensorId tensor) {
    const auto t = static_cast<std::size_t>(tensor);
    widest_ = std::max(widest_, spec::format_of(system_[tensor].dtype).precision);
    return known_[t] != 0 ? of_[t] : many;
  }

  std::uint8_t reduction(const Expr& e) {
    std::uint8_t each = of(e->args[1]);
    if (e->args.size() > 2) each = std::max(each, of(e->args[2]));
    if (e->reduction != spec::Reduction::sum && e->reduction != spec::Reduction::prod) return each;
    double terms = 1;
    for (const auto& b : e->binders) terms *= static_cast<double>(b.extent);
    return more(each, terms > 2 ? many : terms > 1 ? 1 : 0);
  }

  std::uint8_t applied(const Expr& e) {
    const Primitive p = e->primitive;
    if (is_literal(e)) return literal(e);
    std::uint8_t below = 0;
    for (const Expr& a : e->args) below = more(below, of(a));
    switch (p) {
      case Primitive::neg: case Primitive::abs: case Primitive::sign: case Primitive::floor: case Primitive::ceil:
      case Primitive::trunc: case Primitive::round:
        return below;
      case Primitive::maximum: case Primitive::minimum:
        return std::max(of(e->args[0]), of(e->args[1]));
      case Primitive::mul:
        if (is_power_of_two(e->args[0])) return below;
        [[fallthrough]];
      case Primitive::div:
        if (is_power_of_two(e->args[1])) return below;
        return more(below, 1);
      default:
        return more(below, 1);
    }
  }

  const spec::System& system_;
  std::vector<std::uint8_t> of_;
  std::vector<std::uint8_t> known_;
  DType target_ = DType::f32;
  int widest_ = 0;
};

}  // namespace

std::vector<std::uint8_t> roundings_of_texts(const spec::System& system) { return Count(system).run(); }

Neighbours neighbours(double x, DType dtype) {
  if (dtype == DType::f64 || x == 0) return {x, x};
  const Rounding format = Rounding::of(dtype);
  const int grid = std::max(std::ilogb(x) - format.precision + 1, format.eta_exponent);
  const double units = std::ldexp(x, -grid);
  const auto end = [&](double n) { return std::clamp(std::ldexp(n, grid), -format.omega, format.omega); };
  return {end(std::floor(units)), end(std::ceil(units))};
}

// No number of a narrower format is between two doubles that are next to each other.
Neighbours neighbours(Quad x, DType dtype) {
  const Interval around = Wide<Quad>::around(x);
  return {neighbours(around.lower, dtype).lower, neighbours(around.upper, dtype).upper};
}

}  // namespace etalon::reference::bounds
