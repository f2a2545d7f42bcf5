/// \file
/// The freedoms of a sum whose terms are known: any tree, or any of a declared height, with FMA or in higher precision.
/// It knows no equations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/simulator/rounding.hpp"

namespace etalon::bounds_test {

/// A term of a sum: a value, or a product that has not been rounded yet.
template <class T>
struct Term {
  T a = 0;
  T b = 1;
  bool product = false;
};

/// Adds up the terms of sums in trees of one kind.
template <class T>
class Trees {
 public:
  /// Draws the kind; the choices and the rounding stay with the caller.
  Trees(Rounding<T>& rounding, Choices& random);

  /// The sum in a tree in which no term goes through more than `height` additions, as many as any tree needs at least;
  /// without a height in any tree. Reorders the terms.
  [[nodiscard]] T add(std::vector<Term<T>>& terms, std::optional<std::int64_t> height);

 private:
  enum class Kind : std::uint8_t { wide, in_order, tall_at_the_root, tall_at_the_leaves, any, balanced };

  [[nodiscard]] std::size_t left_size(std::size_t n, std::int64_t height);
  [[nodiscard]] Term<T> tree(const Term<T>* terms, std::size_t count, std::int64_t height);
  [[nodiscard]] Term<T> join(const Term<T>& x, const Term<T>& y);
  [[nodiscard]] T rounded(const Term<T>& t) { return t.product ? rounding_.result(t.a * t.b) : t.a; }

  Rounding<T>& rounding_;
  Choices& random_;
  Kind kind_;
};

extern template class Trees<float>;
extern template class Trees<double>;

}  // namespace etalon::bounds_test
