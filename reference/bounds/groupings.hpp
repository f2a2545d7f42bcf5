/// \file
/// The ways in which sums inside a sum may be told apart from it: each sum of the text is added on its own or with the
/// sum it stands in. It counts terms and additions, and knows no values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace etalon::reference::bounds {

/// So many terms in one tree, the sums among them added before in so many additions, one on top of the other.
struct Grouping {
  std::int64_t terms;
  std::int64_t below;
};

/// The groupings of the terms of a sum of which none has both fewer terms and fewer additions below than another; a few,
/// in place of more of them such as contain them.
class Groupings {
 public:
  /// Of no terms.
  Groupings() : Groupings(0) {}
  /// Of one term, which is no sum.
  [[nodiscard]] static Groupings term() { return Groupings(1); }
  // One is made for each term of each sum: what is not in use is neither set nor copied.
  Groupings(const Groupings& other) { *this = other; }
  Groupings& operator=(const Groupings& other) {
    count_ = other.count_;
    std::copy_n(other.items_.data(), other.count_, items_.data());
    return *this;
  }
  ~Groupings() = default;

  [[nodiscard]] const Grouping* begin() const { return items_.data(); }
  [[nodiscard]] const Grouping* end() const { return items_.data() + count_; }

  /// A place that holds no term, in every tree.
  void leave_out() {
    for (std::size_t i = 0; i < count_; ++i) ++items_[i].terms;
  }

  /// With these terms too, each grouped in any of its ways.
  void join(const Groupings& other) {
    const Groupings own = *this;
    count_ = 0;
    for (const Grouping& a : own) {
      for (const Grouping& b : other) insert({a.terms + b.terms, std::max(a.below, b.below)});
    }
  }

  /// With the terms of the next turn of a reduction, which are grouped as those of the turns before.
  void join_turn(const Groupings& other) {
    if (count_ != other.count_) return join(other);
    for (std::size_t i = 0; i < count_; ++i) {
      items_[i] = {items_[i].terms + other.items_[i].terms, std::max(items_[i].below, other.items_[i].below)};
    }
  }

  /// The terms as one, which took so many additions.
  void or_one_term(std::int64_t height) { insert({1, height}); }

 private:
  explicit Groupings(std::int64_t terms) : count_(1) { items_[0] = {terms, 0}; }

  static constexpr std::size_t most = 4;

  [[nodiscard]] static bool contains(const Grouping& a, const Grouping& b) { return a.terms >= b.terms && a.below >= b.below; }

  void insert(const Grouping& g) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (contains(items_[i], g)) return;
      if (!contains(g, items_[i])) items_[kept++] = items_[i];
    }
    std::size_t at = kept;
    for (; at > 0 && items_[at - 1].terms < g.terms; --at) items_[at] = items_[at - 1];
    items_[at] = g;
    count_ = kept + 1;
    if (count_ <= most) return;
    // No room: the last but one has more terms, and takes in the additions below the last.
    items_[most - 1].below = items_[most].below;
    count_ = most;
  }

  std::array<Grouping, most + 1> items_;  ///< by falling terms and rising additions below; one has room to come
  std::size_t count_;
};

}  // namespace etalon::reference::bounds
