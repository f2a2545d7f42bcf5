#include "spec/system/written_once.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "spec/system/ranges.hpp"

namespace etalon::spec {

namespace {

using Bitmap = std::vector<std::uint8_t>;

/// Calls `visit(values)` for every combination of the binders' values, until it says no.
bool for_all(const std::vector<Binder>& binders, const auto& visit) {
  std::map<VariableId, std::int64_t> at;
  for (const Binder& b : binders) {
    if (b.extent <= 0) return true;
    at[b.variable] = 0;
  }
  while (true) {
    if (!visit(at)) return false;
    std::size_t i = binders.size();
    while (i > 0 && ++at[binders[i - 1].variable] == binders[i - 1].extent) at[binders[--i].variable] = 0;
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

std::int64_t value_of(const Affine& form, const std::map<VariableId, std::int64_t>& at) {
  Ranges known;
  for (const auto& [v, value] : at) known.variables[v] = {value, value};
  std::int64_t sum = form.constant;
  for (const Term& t : form.terms) {
    const auto found = t.atom.form() == Form::variable ? at.find(t.atom->variable) : at.end();
    sum += t.coefficient * (found != at.end() ? found->second : interval(t.atom, known).low);
  }
  return sum;
}

std::vector<Affine> places(const Equation& e) {
  Ranges known;
  known.bind(e.binders);
  std::vector<Affine> result;
  for (const Expr& p : e.place) result.push_back(affine(p, known));
  return result;
}

/// The indices that one equation writes on one axis, when the axis has binders of its own and they write each
/// index at most once; nothing otherwise.
std::optional<Bitmap> written_on_axis(const Affine& place, const std::vector<Binder>& binders, std::int64_t extent) {
  std::vector<Binder> own;
  for (const Binder& b : binders) {
    if (place.coefficient_of(b.variable) != 0 || place.hides(b.variable)) own.push_back(b);
  }
  constexpr std::int64_t limit = 1 << 24;
  if (points(own) > limit || extent > limit) return std::nullopt;
  Bitmap written(static_cast<std::size_t>(extent), 0);
  const bool once = for_all(own, [&](const auto& at) {
    const std::int64_t i = value_of(place, at);
    return i >= 0 && i < extent && written[static_cast<std::size_t>(i)]++ == 0;
  });
  return once ? std::optional(std::move(written)) : std::nullopt;
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

using Box = std::vector<Bitmap>;  ///< per axis the indices written; the product is what is written

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
    bool meet = false;
    for (std::size_t i = 0; i < a[axis].size(); ++i) meet = meet || (a[axis][i] != 0 && b[axis][i] != 0);
    if (!meet) return true;
  }
  return false;
}

std::int64_t volume(const Box& box) {
  std::int64_t n = 1;
  for (const Bitmap& b : box) n *= std::count(b.begin(), b.end(), std::uint8_t{1});
  return n;
}

std::optional<bool> once_by_axes(const Dims& dims, std::span<const Equation* const> writers) {
  std::vector<Box> boxes;
  std::int64_t total = 0;
  for (const Equation* e : writers) {
    if (points(e->binders) == 0) continue;
    auto box = box_of(*e, dims);
    if (!box) return std::nullopt;
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

std::optional<std::string> by_enumeration(const System& system, TensorId target,
                                          std::span<const Equation* const> writers, bool cover) {
  const Dims& dims = system[target].dims;
  constexpr std::int64_t limit = 1 << 22;
  std::int64_t total = 0;
  for (const Equation* e : writers) total += std::min(points(e->binders), limit + 1);
  if (total > limit || dims.count() > limit) return "it is not proved that each element is written exactly once";
  Bitmap written(static_cast<std::size_t>(dims.count()), 0);
  for (const Equation* e : writers) {
    const std::vector<Affine> forms = places(*e);
    const bool good = for_all(e->binders, [&](const auto& at) {
      std::int64_t flat = 0;
      for (std::size_t axis = 0; axis < dims.rank; ++axis) {
        const std::int64_t i = value_of(forms[axis], at);
        if (i < 0 || i >= dims[axis]) return false;
        flat = flat * dims[axis] + i;
      }
      return written[static_cast<std::size_t>(flat)]++ == 0;
    });
    if (!good) return "an element is written twice or outside the tensor";
  }
  if (cover && std::find(written.begin(), written.end(), std::uint8_t{0}) != written.end()) return "an element is never written";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_written_once(const System& system, TensorId target,
                                                std::span<const Equation* const> writers) {
  if (once_by_axes(system[target].dims, writers) == std::optional(true)) return std::nullopt;
  return by_enumeration(system, target, writers, true);
}

std::optional<std::string> why_written_twice(const System& system, const Equation& writer) {
  if (points(writer.binders) == 0 || box_of(writer, system[writer.target].dims)) return std::nullopt;
  const Equation* const one = &writer;
  return by_enumeration(system, writer.target, {&one, 1}, false);
}

}  // namespace etalon::spec
