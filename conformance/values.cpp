#include "conformance/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spec/half.hpp"

namespace etalon::conformance {
namespace {

constexpr std::array family_names{"normal",     "unit",   "positive", "lattice", "odd",   "signs",
                                  "ties",       "zeros",  "large",    "logits",  "tiny",  "subnormal",
                                  "cancelling", "offset", "narrow",   "epsilon", "mixed", "special"};
static_assert(family_names.size() == static_cast<std::size_t>(Family::special) + 1);

double sign_of(Draw& draw) { return draw.chance(0.5) ? -1.0 : 1.0; }

/// Operands of one expression may be evaluated in any order: two draws are two statements, or compilers would draw other cases.
double scaled(Draw& draw, int low, int high) {
  const double digits = 1.0 + draw.uniform();
  return std::ldexp(digits, static_cast<int>(draw.integer(low, high)));
}

double subnormal_number(Draw& draw, DType dtype) {
  switch (dtype) {
    case DType::f64: return scaled(draw, -1060, -1025);
    case DType::f16: return scaled(draw, -24, -16);
    case DType::bf16: return scaled(draw, -133, -128);
    default: return scaled(draw, -145, -128);
  }
}

double signed_subnormal(Draw& draw, DType dtype) {
  const double sign = sign_of(draw);
  return sign * subnormal_number(draw, dtype);
}

double signed_scaled(Draw& draw, int binades) {
  const double sign = sign_of(draw);
  return sign * scaled(draw, -binades, binades);
}

double scaled_normal(Draw& draw, double scale) { return scale * draw.normal(); }

double signed_after(double number, Draw& draw) { return number * sign_of(draw); }

double extreme_value(Draw& draw, DType dtype) {
  const spec::Format f = spec::format_of(dtype);
  const double largest = std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.emax);
  const double smallest = std::ldexp(1.0, f.emin);
  const double inf = std::numeric_limits<double>::infinity();
  // Where integers of 32 and 64 bits end.
  if (draw.chance(0.1)) return draw.pick(std::vector<double>{0x1p31, -0x1p31, 0x1p63, -0x1p63});
  const std::vector<double> values{std::numeric_limits<double>::quiet_NaN(),
                                   inf,
                                   -inf,
                                   0.0,
                                   -0.0,
                                   largest,
                                   -largest,
                                   smallest,
                                   -smallest,
                                   1.0,
                                   -1.0,
                                   signed_subnormal(draw, dtype)};
  return draw.pick(values);
}

/// As long as a vector or a tile, at its beginning, inside, or at the end of a row; nothing of short rows.
struct Stretch {
  std::size_t first = 0, behind = 0;
};
Stretch draw_stretch(Draw& draw, std::size_t row) {
  constexpr std::size_t shortest = 16;
  if (row < shortest || draw.chance(0.4)) return {};
  std::size_t length = std::size_t{8} << draw.integer(0, 4);
  while (2 * length > row) length /= 2;
  const auto tiles = static_cast<std::int64_t>(row / length);
  const std::size_t first = draw.chance(0.4) ? 0 : draw.chance(0.3) ? row - length : length * static_cast<std::size_t>(draw.integer(0, tiles - 1));
  return {first, first + length};
}

double special_value(Draw& draw, DType dtype) { return draw.chance(0.4) ? extreme_value(draw, dtype) : draw.normal(); }

double tie_value(Draw& draw) {
  static const std::vector<double> values{-2, -1, -0.5, -0.0, 0.0, 0.5, 1, 2};
  return draw.pick(values);
}

// The largest integers of which `count` products of two add up inside the significand of the arithmetic and the range
// of the element type.
double lattice_bound(DType dtype, std::int64_t count) {
  const spec::Format f = spec::format_of(dtype);
  const int precision = std::min(dtype == DType::f64 ? 53 : 24, f.emax + 1);
  int log_count = 0;
  while ((std::int64_t{1} << log_count) < count) ++log_count;
  return std::ldexp(1.0, std::clamp((precision - log_count) / 2, 1, std::min(26, f.precision))) - 1;
}

// Odd integers that one bit less of significand would not hold, but no more than 12 bits.
double odd_integer(Draw& draw, DType dtype) {
  const int bits = std::min(12, spec::format_of(dtype).precision);
  return static_cast<double>(2 * draw.integer(std::int64_t{1} << (bits - 2), (std::int64_t{1} << (bits - 1)) - 1) + 1);
}

// How far the families reach in a format: the numbers below f32's range, or f16's where that is all there is.
struct Reach {
  double large, logits, tiny, epsilon;
  int binades;  // of mixed magnitudes, to each side of 1
};

Reach reach_of(DType dtype) {
  if (dtype == DType::f16) return {300, 8, 0x1p-10, 1e-6, 7};
  return {1e4, 80, 1e-20, 1e-8, 15};
}

// Nearly constant numbers: a deviation of a few last places where f32's would be lost.
double offset_number(Draw& draw, DType dtype) {
  if (!spec::is_half(dtype)) return 1000 + 0.01 * draw.normal();
  return 100 + std::ldexp(4.0, 7 - spec::format_of(dtype).precision) * draw.normal();
}

struct Shape {
  DType dtype;
  std::int64_t count;
  std::int64_t row;  // innermost extent: what a reduction most often runs over
  double tiny;
};

// Squares are subnormal, in f32 or in the type itself.
double tiny_of(Draw& draw, Family family, DType dtype) {
  return family == Family::tiny && dtype == DType::f64 && draw.chance(0.5) ? 0x1p-514 : reach_of(dtype).tiny;
}

double one_value(Draw& draw, Family family, const Shape& shape) {
  const Reach reach = reach_of(shape.dtype);
  switch (family) {
    case Family::normal:
      return draw.normal();
    case Family::unit:
      return draw.uniform();
    case Family::positive:
      return scaled(draw, -4, 4);
    case Family::lattice: {
      const auto bound = static_cast<std::int64_t>(lattice_bound(shape.dtype, std::max<std::int64_t>(shape.row, 16)));
      return static_cast<double>(draw.integer(-bound, bound));
    }
    case Family::odd:
      return signed_after(odd_integer(draw, shape.dtype), draw);
    case Family::signs:
      return static_cast<double>(draw.integer(-1, 1));
    case Family::ties:
      return tie_value(draw);
    case Family::zeros:
      if (draw.chance(0.65)) return draw.chance(0.5) ? 0.0 : -0.0;
      return draw.chance(0.4) ? signed_subnormal(draw, shape.dtype) : draw.normal();
    case Family::large:
      return reach.large * draw.normal();
    case Family::logits:
      return signed_after(reach.logits + reach.logits / 4 * draw.uniform(), draw);
    case Family::tiny:
      return shape.tiny * draw.normal();
    case Family::subnormal:
      return signed_subnormal(draw, shape.dtype);
    case Family::cancelling:
    case Family::mixed:
      return signed_scaled(draw, reach.binades);
    case Family::offset:
      return offset_number(draw, shape.dtype);
    case Family::narrow:
      return scaled_normal(draw, draw.chance(0.5) ? 1e-2 : 1e-4);
    case Family::epsilon:
      if (draw.chance(0.25)) return draw.chance(0.5) ? 0.0 : signed_subnormal(draw, shape.dtype);
      return reach.epsilon * draw.normal();
    case Family::special:
      return special_value(draw, shape.dtype);
  }
  return 0;
}

// Rows of equal elements: maxima, norms and quotients of one special number, or of nothing but zeros.
bool fills_rows(Family family) {
  return family == Family::special || family == Family::zeros || family == Family::large || family == Family::logits;
}

}  // namespace

std::string_view name_of(Family family) { return family_names[static_cast<std::size_t>(family)]; }

std::vector<Family> draw_families(Draw& draw, std::size_t operands, std::uint64_t index) {
  using enum Family;
  // Four cases share an instance, the last has one for itself: in each but that of the smallest shapes one has ordinary numbers.
  static constexpr std::array<Family, families_in_turn> bases{lattice, subnormal,  normal, zeros,  unit, offset, large, epsilon, odd,      cancelling, ties,
                                         normal,  narrow, mixed,      tiny,   normal, ties, normal, positive, logits,  unit};
  static const std::vector<Family> beside{normal, ties, signs, unit, zeros, narrow, positive};
  const Family base = bases[index % bases.size()];
  std::vector<Family> families(operands, base);
  if (operands == 0) return families;
  // Later rounds, which the longer tiers reach, leave nothing to chance: twice each family stands everywhere (the cases
  // that may hold integers fall on other families the second time), once signs stand beside odd integers.
  const std::uint64_t round = index / bases.size();
  if (round == 1 || round == 4) return families;
  if (round == 2 && base == odd) {
    families[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(operands) - 1))] = signs;
    return families;
  }
  // Products of two subnormal numbers are 0: one operand is, and most of the others are ordinary.
  if (base == subnormal) {
    const auto kept = static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(operands) - 1));
    for (std::size_t i = 0; i < operands; ++i) {
      if (i != kept && draw.chance(0.7)) families[i] = draw.pick(std::vector<Family>{normal, positive, unit, signs});
    }
    return families;
  }
  const bool vary = draw.chance(base == odd ? 0.9 : 0.4);
  for (std::size_t i = 0; i < operands && vary; ++i) {
    if (draw.chance(0.5)) families[i] = base == odd ? (draw.chance(0.7) ? signs : ties) : draw.pick(beside);
  }
  return families;
}

HostTensor draw_real(Draw& draw, Family family, DType dtype, const Dims& dims) {
  HostTensor tensor(dtype, dims);
  const auto count = static_cast<std::size_t>(dims.count());
  const Shape shape{dtype, dims.count(), dims.rank == 0 ? 1 : dims[dims.rank - 1], tiny_of(draw, family, dtype)};
  const auto row = static_cast<std::size_t>(std::max<std::int64_t>(shape.row, 1));
  double throughout = 0;  // what fills the row, where it is filled
  bool filled = false;
  const int kept = std::min(18, spec::format_of(dtype).precision - 3);  // bits of a pair that cancel
  double previous = 0;
  // Now and then all are one extreme number: windows of nothing but the least one, what pads them beside it.
  const bool everywhere = family == Family::special && draw.chance(0.15);
  const double extreme = everywhere ? extreme_value(draw, dtype) : 0;
  Stretch stretch;  // of a row, which is masked
  for (std::size_t i = 0; i < count; ++i) {
    double value = everywhere ? extreme : one_value(draw, family, shape);
    if (i % row == 0 && !everywhere) {
      filled = fills_rows(family) && draw.chance(0.2);
      if (filled) throughout = family == Family::special ? extreme_value(draw, dtype) : value;
      stretch = family == Family::special || family == Family::logits ? draw_stretch(draw, row) : Stretch{};
    }
    if (filled) value = throughout;
    if (i % row >= stretch.first && i % row < stretch.behind) value = -std::numeric_limits<double>::infinity();
    if (family == Family::cancelling && i % 2 == 1) value = -previous * (1 + std::ldexp(draw.normal(), -kept));
    set_element(tensor, i, value);
    previous = value;
  }
  return tensor;
}

HostTensor draw_boolean(Draw& draw, const Dims& dims) {
  HostTensor tensor(DType::boolean, dims);
  const std::vector<double> densities{0.5, 0.5, 0.5, 0.2, 0.8, 0.0, 1.0};
  const double density = draw.pick(densities);
  const std::int64_t row = dims.rank == 0 ? 1 : std::max<std::int64_t>(dims[dims.rank - 1], 1);
  bool dead = false;
  Stretch stretch;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims.count()); ++i) {
    // Whole rows of `false` on purpose: what a reduction over nothing gives is part of a definition.
    const auto place = static_cast<std::size_t>(static_cast<std::int64_t>(i) % row);
    if (place == 0) dead = draw.chance(0.15), stretch = draw_stretch(draw, static_cast<std::size_t>(row));
    const bool masked = dead || (place >= stretch.first && place < stretch.behind);
    set_element(tensor, i, !masked && draw.chance(density) ? 1 : 0);
  }
  return tensor;
}

double element(const HostTensor& tensor, std::size_t i) {
  switch (tensor.dtype) {
    case DType::f32:
      return static_cast<double>(tensor.view<float>()[i]);
    case DType::f64:
      return tensor.view<double>()[i];
    case DType::i32:
      return static_cast<double>(tensor.view<std::int32_t>()[i]);
    case DType::i64:
      return static_cast<double>(tensor.view<std::int64_t>()[i]);
    case DType::boolean:
      return static_cast<double>(tensor.view<std::uint8_t>()[i]);
    case DType::f16:
    case DType::bf16:
      return spec::half_value(tensor.view<std::uint16_t>()[i], tensor.dtype);
  }  return std::numeric_limits<double>::quiet_NaN();
}

namespace {

/// Toward zero; out of range the nearest end, NaN as 0.
template <class Integer>
Integer saturated(double value) {
  constexpr double end = -static_cast<double>(std::numeric_limits<Integer>::min());  // exact, one beyond the largest
  if (std::isnan(value)) return 0;
  if (value >= end) return std::numeric_limits<Integer>::max();
  return value <= -end ? std::numeric_limits<Integer>::min() : static_cast<Integer>(value);
}

}  // namespace

void set_element(HostTensor& tensor, std::size_t i, double value) {
  switch (tensor.dtype) {
    case DType::f32:
      tensor.view<float>()[i] = static_cast<float>(value);
      break;
    case DType::f64:
      tensor.view<double>()[i] = value;
      break;
    case DType::i32:
      tensor.view<std::int32_t>()[i] = saturated<std::int32_t>(value);
      break;
    case DType::i64:
      tensor.view<std::int64_t>()[i] = saturated<std::int64_t>(value);
      break;
    case DType::boolean:
      tensor.view<std::uint8_t>()[i] = value != 0 ? 1 : 0;
      break;
    case DType::f16:
    case DType::bf16:
      tensor.view<std::uint16_t>()[i] = spec::nearest_half(value, tensor.dtype);
      break;
  }
}

}  // namespace etalon::conformance
