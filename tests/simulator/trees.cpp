#include "tests/simulator/trees.hpp"

#include <algorithm>
#include <cmath>

namespace etalon::bounds_test {
namespace {

/// The most terms that a tree of this height holds.
std::size_t most_terms(std::int64_t height) { return std::size_t{1} << std::min<std::int64_t>(height, 62); }

}  // namespace

template <class T>
Trees<T>::Trees(Rounding<T>& rounding, Choices& random)
    : rounding_(rounding), random_(random), kind_(static_cast<Kind>(random() % 6)) {}

template <class T>
T Trees<T>::add(std::vector<Term<T>>& terms, std::optional<std::int64_t> height) {
  if (terms.empty()) return 0;
  if (kind_ == Kind::wide) {
    using Wider = typename Rounding<T>::Wider;
    Wider total = 0;
    for (const Term<T>& t : terms) total += static_cast<Wider>(t.a) * static_cast<Wider>(t.b);
    return rounding_.result(static_cast<T>(total));
  }
  if (kind_ != Kind::in_order) std::shuffle(terms.begin(), terms.end(), random_);
  const auto tallest = static_cast<std::int64_t>(terms.size()) - 1;
  return rounded(tree(terms.data(), terms.size(), std::min(height.value_or(tallest), tallest)));
}

/// How many of the n terms stand on the left, so that both sides have room below the root.
template <class T>
std::size_t Trees<T>::left_size(std::size_t n, std::int64_t height) {
  const std::size_t most = std::min(n - 1, most_terms(height - 1));
  const std::size_t least = n - most;
  switch (kind_) {
    case Kind::any: return least + random_() % (most - least + 1);
    case Kind::balanced: return n / 2;
    // A sequence where the remaining height has room for one.
    case Kind::tall_at_the_leaves: return static_cast<std::int64_t>(n) <= height + 1 ? n - 1 : n / 2;
    default: return most;
  }
}

template <class T>
Term<T> Trees<T>::tree(const Term<T>* terms, std::size_t count, std::int64_t height) {
  // Long sequences would be deep recursions.
  std::size_t core = count;
  std::size_t left = 0;
  while (core > 1 && (left = left_size(core, height)) + 1 == core) {
    --core;
    --height;
  }
  Term<T> sum = terms[0];
  if (core > 1) {
    const Term<T> first = tree(terms, left, height - 1);
    sum = join(first, tree(terms + left, core - left, height - 1));
  }
  for (std::size_t i = core; i < count; ++i) sum = join(sum, terms[i]);
  return sum;
}

template <class T>
Term<T> Trees<T>::join(const Term<T>& x, const Term<T>& y) {
  if (x.product && random_() % 2 == 0) return {rounding_.result(std::fma(x.a, x.b, rounded(y))), 1, false};
  if (y.product) return {rounding_.result(std::fma(y.a, y.b, rounded(x))), 1, false};
  return {rounding_.result(rounded(x) + rounded(y)), 1, false};
}

template class Trees<float>;
template class Trees<double>;

}  // namespace etalon::bounds_test
