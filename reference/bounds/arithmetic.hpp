/// \file
/// The local rules: n-ary sums and products in normal form, functions by contract, extrema, constants. Each gives the
/// box of all conforming results and a tape node for the error. It knows neither tensors nor indices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/bounds/rounding.hpp"
#include "reference/bounds/summation.hpp"
#include "reference/bounds/value.hpp"

namespace etalon::reference::bounds {

/// One factor of a product, or a divisor.
template <class R>
struct Factor {
  Value<R> value;
  bool divides = false;
  bool is_sign = false;  ///< the -1 of a negation, which is no factor that could be multiplied first
  bool is_turned = false;  ///< it stands below a division below a division
  bool is_constant = false;  ///< a number of the text, or what an attribute is
};

/// Terms of a sum as they come.
template <class R>
struct Sum {
  Terms terms;
  R reference = 0;
  double own = 0;    ///< what the reference lost in being added up
  Interval box;
  double local = 0;  ///< of the terms themselves
  double scale = 0;
  std::uint8_t may = 0;           ///< special classes that some term may have
  bool finite = true;             ///< whether every term may be finite
  bool interval = false;
  bool certain_plus = false;      ///< whether some term is +inf for sure, and so on
  bool certain_minus = false;
  bool certain_nan = false;
  std::int64_t height = 0;        ///< of the tallest tree in which they may be added under the contract
  int halvings = 0;               ///< how much larger partial sums may be before a scaling by 2^-k
  std::int64_t count = 0;
  Value<R> single;                ///< the only term, while there is one
  std::vector<Edge> edges;

  void clear();
  void add(const Value<R>& term);
};

template <class R>
struct ProductParts;

template <class R>
class Arithmetic {
 public:
  explicit Arithmetic(const spec::Contract& contract) : contract_(contract) {}

  /// The format that results are rounded to from now on, and the one in which sums are added up.
  void use(const Rounding& rounding, const Rounding& accumulators) {
    rounding_ = rounding;
    accumulators_ = accumulators;
    // A number cut off errs by twice as much as a rounded one.
    if (contract_.accumulation == spec::RoundingMode::toward_zero) accumulators_.u *= 2;
  }
  [[nodiscard]] const Rounding& rounding() const { return rounding_; }
  [[nodiscard]] const spec::Contract& contract() const { return contract_; }

  /// R5, R6: the sum in any order or tree, products fused or not.
  [[nodiscard]] Value<R> total(Sum<R>& sum);
  /// R1, R4, R9: the product of the factors in any association. `contracted`: it is a term of a sum.
  [[nodiscard]] Value<R> product(std::span<const Factor<R>> factors, bool contracted, double roundings);
  /// R3: a function within its ulps.
  [[nodiscard]] Value<R> function(spec::Primitive p, Value<R> x);
  [[nodiscard]] Value<R> power(Value<R> x, Value<R> y);
  /// The angle of the point (x, y), within its ulps.
  [[nodiscard]] Value<R> angle(Value<R> y, Value<R> x);
  /// The remainder with the divisor's sign, rounded once.
  [[nodiscard]] Value<R> remainder(Value<R> x, Value<R> y);
  [[nodiscard]] Value<R> absolute(const Value<R>& x);
  /// The largest (or smallest) of the values: exact, its derivative any of the candidates'.
  [[nodiscard]] Value<R> extremum(std::span<const Value<R>> values, bool largest);
  /// R0: a number that a conforming evaluation holds exactly or rounded once.
  [[nodiscard]] Value<R> constant(R x, double error);
  /// An operand as read: subnormals may be taken as zero under DAZ.
  [[nodiscard]] Value<R> operand(R x);
  /// R8: rounded once more, to a narrower format.
  [[nodiscard]] Value<R> stored(const Value<R>& v, const Rounding& format);
  /// Anything at all.
  [[nodiscard]] Value<R> wild() const;
  /// Gives the value a node of its own, so that its uses share one error.
  void share(Value<R>& v);

  [[nodiscard]] Tape& tape() { return tape_; }

 private:
  void relax_extremum(const Value<R>& v, std::span<const Value<R>> values, bool largest);
  [[nodiscard]] Value<R> plain_product(const Value<R>& a, const Value<R>& b, bool contracted);
  void finish(Value<R>& v, double local, double relative);
  void flush(double& local, const Interval& exact) const;
  [[nodiscard]] double operand_error(const Value<R>& v) const;
  [[nodiscard]] bool may_leave_range(std::span<const Factor<R>> factors) const;
  [[nodiscard]] double function_error(const spec::FunctionBound& bound, double x, double y) const;
  [[nodiscard]] double division_error() const;
  [[nodiscard]] Value<R> added(Sum<R>& sum);
  [[nodiscard]] double product_box(std::span<const Factor<R>> factors, Value<R>& v) const;
  void product_edges(std::span<const Factor<R>> factors);
  [[nodiscard]] double operand_errors(const ProductParts<R>& parts) const;
  [[nodiscard]] double vanishing() const;
  [[nodiscard]] bool may_vanish(const ProductParts<R>& parts) const;
  [[nodiscard]] ProductParts<R> parts_of(std::span<const Factor<R>> all) const;
  [[nodiscard]] Value<R> with_joined_divisors(Value<R> result, const ProductParts<R>& parts);
  [[nodiscard]] Value<R> rescaled(Value<R> result, const ProductParts<R>& parts, bool exact_on_the_way);
  [[nodiscard]] Value<R> scaled_factor(ProductParts<R>& parts, bool contracted);
  [[nodiscard]] Value<R> overflowing(const ProductParts<R>& parts, bool contracted);
  [[nodiscard]] Value<R> special_product(ProductParts<R>& parts, bool contracted);
  [[nodiscard]] bool leaves_range_turned(const ProductParts<R>& parts) const;
  [[nodiscard]] std::optional<Value<R>> at_pole(const ProductParts<R>& parts) const;
  [[nodiscard]] Value<R> ordinary_product(ProductParts<R>& parts, bool contracted);
  void product_specials(std::span<const Factor<R>> factors, Value<R>& v) const;

  const spec::Contract& contract_;
  Rounding rounding_ = Rounding::of(DType::f32);
  Rounding accumulators_ = rounding_;
  Tape tape_;
};

}  // namespace etalon::reference::bounds
