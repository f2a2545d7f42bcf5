#include "spec/system/written_once.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

namespace {

using Bitmap = std::vector<bool>;
using Point = std::vector<std::int64_t>;  ///< a value per binder

/// Calls `visit(values)` for every combination of the binders' values, until it says no.
bool for_all(const std::vector<Binder>& binders, const auto& visit) {
  for (const Binder& b : binders) {
    if (b.extent <= 0) return true;
  }
  Point at(binders.size(), 0);
  while (true) {
    if (!visit(at)) return false;
    std::size_t i = binders.size();
    while (i > 0 && ++at[i - 1] == binders[i - 1].extent) at[--i] = 0;
    if (i == 0) return true;
  }
}

std::int64_t points(const std::vector<Binder>& binders) {
  std::int64_t n = 1;
  for (const Binder& b : binders) {
    if (b.extent <= 0) return 0;
    if (__builtin_mul_overflow(n, b.extent, &n)) return Interval::unbounded;
  }
  return n;
}

/// A form over the values of some binders.
class Place {
 public:
  Place(const Affine& form, const std::vector<Binder>& binders) : binders_(binders), constant_(form.constant), coefficients_(binders.size(), 0) {
    for (const Term& t : form.terms) {
      const auto own = std::find_if(binders.begin(), binders.end(), [&](const Binder& b) {
        return t.atom.form() == Form::variable && t.atom->variable == b.variable;
      });
      if (own == binders.end()) opaque_.push_back(t);
      else coefficients_[static_cast<std::size_t>(own - binders.begin())] += t.coefficient;
    }
  }

  /// The index at this point; -1, which is no index, where it does not fit 64 bits.
  [[nodiscard]] std::int64_t operator()(const Point& at) const {
    std::int64_t sum = constant_;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (!add(sum, coefficients_[k], at[k])) return -1;
    }
    if (opaque_.empty()) return sum;
    Ranges known;
    for (std::size_t k = 0; k < at.size(); ++k) known.variables[binders_[k].variable] = {at[k], at[k]};
    for (const Term& t : opaque_) {
      const Interval value = interval(t.atom, known);
      if (!value.is_point() || !add(sum, t.coefficient, value.low)) return -1;
    }
    return sum;
  }

  [[nodiscard]] bool is_linear() const { return opaque_.empty(); }
  [[nodiscard]] std::int64_t coefficient(std::size_t binder) const { return coefficients_[binder]; }

 private:
  static bool add(std::int64_t& sum, std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
  }

  const std::vector<Binder>& binders_;
  std::int64_t constant_;
  Point coefficients_;
  std::vector<Term> opaque_;
};

/// Indices of one axis: first, first + step, …, or those marked.
class IndexSet {
 public:
  IndexSet(std::int64_t first, std::int64_t step, std::int64_t count) : first_(first), step_(step), count_(count) {}
  explicit IndexSet(Bitmap marked) : count_(std::count(marked.begin(), marked.end(), true)), marked_(std::move(marked)) {}

  [[nodiscard]] std::int64_t size() const { return count_; }
  [[nodiscard]] bool contains(std::int64_t i) const {
    if (!marked_.empty()) return i >= 0 && i < static_cast<std::int64_t>(marked_.size()) && marked_[static_cast<std::size_t>(i)];
    return count_ > 0 && i >= first_ && i <= last() && (i - first_) % step_ == 0;
  }

  /// Whether they share an index; also where that would take too long to find out.
  [[nodiscard]] bool meets(const IndexSet& other) const {
    if (count_ == 0 || other.count_ == 0) return false;
    if (!marked_.empty() && other.marked_.empty()) return other.meets(*this);
    if (!marked_.empty()) return meets_each(0, 1, static_cast<std::int64_t>(marked_.size()), other);
    if (!other.marked_.empty()) return meets_each(first_, step_, count_, other);
    if (step_ < other.step_) return other.meets(*this);
    // Of the larger steps, as many as the smaller one has remainders.
    const std::int64_t low = std::max(first_, other.first_), high = std::min(last(), other.last());
    if (low > high) return false;
    const std::int64_t begin = first_ + (low - first_ + step_ - 1) / step_ * step_;
    const std::int64_t within = begin > high ? 0 : (high - begin) / step_ + 1;
    return meets_each(begin, step_, std::min(within, other.step_), other);
  }

 private:
  [[nodiscard]] std::int64_t last() const { return first_ + step_ * (count_ - 1); }

  [[nodiscard]] bool meets_each(std::int64_t first, std::int64_t step, std::int64_t count, const IndexSet& other) const {
    constexpr std::int64_t limit = 1 << 24;
    if (count > limit) return true;
    for (std::int64_t k = 0; k < count; ++k) {
      if (contains(first + k * step) && other.contains(first + k * step)) return true;
    }
    return false;
  }

  std::int64_t first_ = 0, step_ = 1, count_ = 0;
  Bitmap marked_;  ///< by index; empty for a progression
};

std::vector<Affine> places(const Equation& e) {
  Ranges known;
  known.bind(e.binders);
  std::vector<Affine> result;
  for (const Expr& p : e.place) result.push_back(affine(p, known));
  return result;
}

/// The indices that one equation writes on one axis, when the axis has binders of its own and they write each
/// index at most once; nothing otherwise.
std::optional<IndexSet> written_on_axis(const Affine& form, const std::vector<Binder>& binders, std::int64_t extent) {
  std::vector<Binder> own;
  for (const Binder& b : binders) {
    if (form.coefficient_of(b.variable) != 0 || form.hides(b.variable)) own.push_back(b);
  }
  const Place place(form, own);
  const auto inside = [&](std::int64_t i) { return i >= 0 && i < extent; };
  if (own.size() <= 1 && place.is_linear()) {
    if (points(own) == 0) return IndexSet(0, 1, 0);
    const std::int64_t first = place(Point(own.size(), 0));
    const std::int64_t last = own.empty() ? first : place(Point{own[0].extent - 1});
    if (!inside(first) || !inside(last)) return std::nullopt;
    const std::int64_t step = points(own) == 1 ? 1 : std::abs(place.coefficient(0));
    return IndexSet(std::min(first, last), step, points(own));
  }
  constexpr std::int64_t limit = 1 << 24;
  if (points(own) > limit || extent > limit) return std::nullopt;
  Bitmap written(static_cast<std::size_t>(extent), false);
  const bool once = for_all(own, [&](const Point& at) {
    const std::int64_t i = place(at);
    if (!inside(i) || written[static_cast<std::size_t>(i)]) return false;
    written[static_cast<std::size_t>(i)] = true;
    return true;
  });
  return once ? std::optional(IndexSet(std::move(written))) : std::nullopt;
}

/// Whether each binder of more than one value is used by exactly one axis.
bool axes_are_independent(const Equation& e, const std::vector<Affine>& forms) {
  return std::all_of(e.binders.begin(), e.binders.end(), [&](const Binder& b) {
    const auto uses = std::count_if(forms.begin(), forms.end(), [&](const Affine& f) {
      return f.coefficient_of(b.variable) != 0 || f.hides(b.variable);
    });
    return b.extent <= 1 || uses == 1;
  });
}

using Box = std::vector<IndexSet>;  ///< per axis the indices written; the product is what is written

std::optional<Box> box_of(const Equation& e, const Dims& dims) {
  const std::vector<Affine> forms = places(e);
  if (!axes_are_independent(e, forms)) return std::nullopt;
  Box box;
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    auto written = written_on_axis(forms[axis], e.binders, dims[axis]);
    if (!written) return std::nullopt;
    box.push_back(std::move(*written));
  }
  return box;
}

bool disjoint(const Box& a, const Box& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (!a[axis].meets(b[axis])) return true;
  }
  return false;
}

std::int64_t volume(const Box& box) {
  std::int64_t n = 1;
  for (const IndexSet& indices : box) n *= indices.size();
  return n;
}

std::optional<bool> once_by_axes(const Dims& dims, std::span<const Equation* const> writers) {
  std::vector<Box> boxes;
  std::int64_t total = 0;
  for (const Equation* e : writers) {
    if (points(e->binders) == 0) continue;
    auto box = box_of(*e, dims);
    if (!box) return std::nullopt;
    if (volume(*box) > dims.count() - total) return false;
    total += volume(*box);
    boxes.push_back(std::move(*box));
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!disjoint(boxes[i], boxes[j])) return false;
    }
  }
  return total == dims.count();
}

/// The indices of the element at a position in row-major order.
Point element_at(const Dims& dims, std::int64_t position) {
  Point element(dims.rank);
  for (std::size_t axis = dims.rank; axis-- > 0; position /= dims[axis]) element[axis] = position % dims[axis];
  return element;
}

std::optional<Miswritten> by_enumeration(const System& system, TensorId target, std::span<const Equation* const> writers,
                                         bool cover) {
  const Dims& dims = system[target].dims;
  constexpr std::int64_t limit = 1 << 22;
  std::int64_t total = 0;
  for (const Equation* e : writers) total += std::min(points(e->binders), limit + 1);
  if (total > limit || dims.count() > limit) return Miswritten{"it is not proved that each element is written exactly once", {}, writers.size()};
  Bitmap written(static_cast<std::size_t>(dims.count()), false);
  for (std::size_t w = 0; w < writers.size(); ++w) {
    const Equation* e = writers[w];
    std::vector<Place> forms;
    for (const Affine& form : places(*e)) forms.emplace_back(form, e->binders);
    Point here(dims.rank);
    bool twice = false;
    const bool good = for_all(e->binders, [&](const Point& at) {
      for (std::size_t axis = 0; axis < dims.rank; ++axis) here[axis] = forms[axis](at);
      std::int64_t flat = 0;
      for (std::size_t axis = 0; axis < dims.rank; ++axis) {
        if (here[axis] < 0 || here[axis] >= dims[axis]) return false;
        flat = flat * dims[axis] + here[axis];
      }
      twice = written[static_cast<std::size_t>(flat)];
      written[static_cast<std::size_t>(flat)] = true;
      return !twice;
    });
    if (!good) return Miswritten{twice ? "an element is written twice" : "an element is written outside the tensor", here, w};
  }
  const auto missing = std::find(written.begin(), written.end(), false);
  if (!cover || missing == written.end()) return std::nullopt;
  return Miswritten{"an element is never written", element_at(dims, missing - written.begin()), writers.size()};
}

}  // namespace

std::optional<Miswritten> why_not_written_once(const System& system, TensorId target,
                                               std::span<const Equation* const> writers) {
  if (once_by_axes(system[target].dims, writers) == std::optional(true)) return std::nullopt;
  return by_enumeration(system, target, writers, true);
}

std::optional<Miswritten> why_written_twice(const System& system, const Equation& writer) {
  if (points(writer.binders) == 0 || box_of(writer, system[writer.target].dims)) return std::nullopt;
  const Equation* const one = &writer;
  return by_enumeration(system, writer.target, {&one, 1}, false);
}

}  // namespace etalon::spec
