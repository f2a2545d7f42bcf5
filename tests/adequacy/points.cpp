#include "tests/adequacy/points.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "spec/system/affine.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/simplify.hpp"
#include "tests/adequacy/only_equation.hpp"

namespace etalon::adequacy {
namespace {

using spec::Binder;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using Point = std::map<spec::VariableId, std::int64_t>;

// Indices and conditions without data: truth values are 0 and 1. Nothing where data enters.
std::optional<std::int64_t> value_at(const Expr& e, const Point& point) {
  if (e.form() == Form::number && e.kind() != Kind::real) return e->number.mantissa;
  if (e.form() == Form::variable) {
    const auto found = point.find(e->variable);
    return found == point.end() ? std::nullopt : std::optional(found->second);
  }
  if (e.form() == Form::select) {
    const auto decided = value_at(e->args[0], point);
    return decided ? value_at(e->args[*decided != 0 ? 1 : 2], point) : std::nullopt;
  }
  if (e.form() != Form::apply || e->args.empty() || e->args.size() > 2) return std::nullopt;
  const auto left = value_at(e->args[0], point);
  const auto right = e->args.size() > 1 ? value_at(e->args[1], point) : std::optional<std::int64_t>(0);
  if (e.is(Primitive::logical_and) && (left == 0 || right == 0)) return 0;
  if (e.is(Primitive::logical_or) && (left.value_or(0) != 0 || right.value_or(0) != 0)) return 1;
  if (!left || !right) return std::nullopt;
  const std::int64_t a = *left, b = *right;
  switch (e->primitive) {
    case Primitive::add:
      return a + b;
    case Primitive::sub:
      return a - b;
    case Primitive::mul:
      return a * b;
    case Primitive::neg:
      return -a;
    case Primitive::maximum:
      return std::max(a, b);
    case Primitive::minimum:
      return std::min(a, b);
    case Primitive::floor_div:
      return b <= 0 ? std::nullopt : std::optional(spec::floor_quotient(a, b));
    case Primitive::modulo:
      return b <= 0 ? std::nullopt : std::optional(spec::floor_remainder(a, b));
    case Primitive::eq:
      return a == b;
    case Primitive::ne:
      return a != b;
    case Primitive::lt:
      return a < b;
    case Primitive::le:
      return a <= b;
    case Primitive::gt:
      return a > b;
    case Primitive::ge:
      return a >= b;
    case Primitive::logical_and:
      return a != 0 && b != 0;
    case Primitive::logical_or:
      return a != 0 || b != 0;
    case Primitive::logical_not:
      return a == 0;
    default:
      return std::nullopt;
  }
}

bool equal_at(const Expr& a, const Expr& b, const Point& point) {
  if (a == b) return true;
  const auto x = value_at(a, point), y = value_at(b, point);
  return x && y && *x == *y;
}

bool reads_nothing(const Expr& e) {
  bool reads = false;
  spec::for_each(e, [&](const Expr& sub) { reads = reads || sub.form() == Form::read; });
  return !reads;
}

// With the terms of integer sums over few indices written out, and what tensors say that no data enters in place of their
// elements, in which no loop may be left: how many elements a window has.
Expr written_out(const spec::System& system, const Expr& e, int depth = 0);

Expr sum_written_out(const spec::System& system, const Expr& e, int depth) {
  Expr all = spec::integer(0);
  std::vector<Expr> terms{spec::select(e->args[0], e->args[1], spec::integer(0))};
  for (const Binder& b : e->binders) {
    std::vector<Expr> more;
    if (static_cast<std::int64_t>(terms.size()) * b.extent > 256) return e;
    for (const Expr& t : terms) {
      for (std::int64_t i = 0; i < b.extent; ++i) more.push_back(spec::substitute(t, {{b.variable, spec::integer(i)}}));
    }
    terms = std::move(more);
  }
  for (const Expr& t : terms) all = all + written_out(system, t, depth);
  return all;
}

Expr written_out(const spec::System& system, const Expr& e, int depth) {
  if (e.form() == Form::reduce && e.kind() == Kind::integer && e->reduction == spec::Reduction::sum) return sum_written_out(system, e, depth);
  if (e.form() == Form::read && e.kind() == Kind::integer && depth < 4) {
    const spec::Equation* only = only_equation(system, e->tensor);
    spec::Substitution at;
    for (std::size_t k = 0; only != nullptr && k < only->place.size(); ++k) {
      if (only->place[k].form() != Form::variable) return e;
      at[only->place[k]->variable] = e->args[k];
    }
    const Expr said = only == nullptr ? e : written_out(system, spec::substitute(only->value, at), depth + 1);
    bool is_known = true;
    spec::for_each(said, [&](const Expr& sub) { is_known = is_known && sub.form() != Form::read && sub.form() != Form::reduce; });
    return is_known ? said : e;
  }
  if (e.form() == Form::reduce) return e;
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(written_out(system, a, depth));
  return args.empty() ? e : spec::with_args(e, args);
}

// The reduction that says where an extremum is, with the place of the read in it; nothing where the tensor is another, or its
// guard depends on data.
std::optional<Expr> position_at(const spec::System& system, const Expr& read) {
  if (read.form() != Form::read || !std::all_of(read->args.begin(), read->args.end(), reads_nothing)) return std::nullopt;
  const spec::Equation* only = only_equation(system, read->tensor);
  if (only == nullptr || only->value.form() != Form::reduce || only->value->args.size() < 3) return std::nullopt;
  const Expr& reduction = only->value;
  if (reduction->reduction != spec::Reduction::argmax && reduction->reduction != spec::Reduction::argmin) return std::nullopt;
  if (!reads_nothing(reduction->args[0]) || reduction->args[2].form() != Form::number) return std::nullopt;
  spec::Substitution at;
  for (std::size_t k = 0; k < only->place.size(); ++k) {
    if (only->place[k].form() != Form::variable) return std::nullopt;
    at[only->place[k]->variable] = read->args[k];
  }
  return spec::substitute(reduction, at);
}

// Loops over the binders, and then over what is read of positions.
class Visiting {
 public:
  Visiting(const spec::System& system, const std::vector<Binder>& binders, std::vector<Expr> conditions, std::vector<std::pair<Expr, Expr>> pairs)
      : system_(system), binders_(binders), conditions_(std::move(conditions)), pairs_(std::move(pairs)), next_(system.next_variable) {
    everywhere([&](const Expr& e) { return named(written_out(system_, e)); });
    find_labels();
  }

  bool run() { return indices(0) && met_ > 0; }

 private:
  struct Position {
    Expr read, reduction;
    spec::VariableId variable;
  };

  // With a variable in place of each position that is read.
  Expr named(const Expr& e) {
    if (const auto reduction = position_at(system_, e)) {
      const auto found = std::find_if(positions_.begin(), positions_.end(), [&](const Position& p) { return p.read == e; });
      const spec::VariableId variable = found == positions_.end() ? next_++ : found->variable;
      if (found == positions_.end()) positions_.push_back({e, *reduction, variable});
      return spec::variable({variable, 1, "position"});
    }
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(named(a));
    return args.empty() ? e : spec::with_args(e, args);
  }

  // An integer that is read and compared, and nothing else, with what is known at each point.
  struct Label {
    Expr read;
    std::vector<Expr> compared_with;
    spec::VariableId variable;
  };

  template <class Change>
  void everywhere(const Change& change) {
    for (Expr& c : conditions_) c = change(c);
    for (auto& [a, b] : pairs_) a = change(a), b = change(b);
  }

  void find_labels() {
    everywhere([&](const Expr& e) { return note_labels(e), e; });
    everywhere([&](const Expr& e) { return labelled(e); });
  }

  void note_labels(const Expr& e) {
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      const Expr& a = e->args[k];
      if (!is_label(a)) note_labels(a);
      else if (is_comparison(e) && reads_nothing(e->args[1 - k])) label_of(a).compared_with.push_back(e->args[1 - k]);
      else others_.push_back(a);
    }
  }
  static bool is_label(const Expr& e) {
    return e.form() == Form::read && e.kind() == Kind::integer && std::all_of(e->args.begin(), e->args.end(), reads_nothing);
  }
  static bool is_comparison(const Expr& e) {
    using enum Primitive;
    return e.form() == Form::apply && e->args.size() == 2 && (e.is(eq) || e.is(ne) || e.is(lt) || e.is(le) || e.is(gt) || e.is(ge));
  }
  Label& label_of(const Expr& read) {
    const auto found = std::find_if(labels_.begin(), labels_.end(), [&](const Label& l) { return l.read == read; });
    return found == labels_.end() ? labels_.emplace_back(Label{read, {}, next_++}) : *found;
  }

  Expr labelled(const Expr& e) {
    for (const Label& l : labels_) {
      if (l.read == e && std::find(others_.begin(), others_.end(), e) == others_.end()) return spec::variable({l.variable, 1, "label"});
    }
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(labelled(a));
    return args.empty() ? e : spec::with_args(e, args);
  }

  bool labels(std::size_t k) {
    if (k == labels_.size()) return visit();
    // Between two numbers that it is compared with it makes no difference which one it is.
    std::set<std::int64_t> all{0};
    for (const Expr& e : labels_[k].compared_with) {
      const auto number = value_at(e, point_);
      if (!number) continue;
      if (*number < -far || *number > far) return false;
      for (const std::int64_t beside : {-1, 0, 1}) all.insert(*number + beside);
    }
    return std::all_of(all.begin(), all.end(), [&](std::int64_t label) {
      point_[labels_[k].variable] = label;
      return labels(k + 1);
    });
  }

  bool indices(std::size_t k) {
    if (k == binders_.size()) return positions(0);
    for (std::int64_t i = 0; i < binders_[k].extent; ++i) {
      point_[binders_[k].variable] = i;
      if (!indices(k + 1)) return false;
    }
    return true;
  }

  bool positions(std::size_t k) {
    if (k == positions_.size()) return labels(0);
    const std::vector<std::int64_t> all = allowed(positions_[k].reduction);
    return std::all_of(all.begin(), all.end(), [&](std::int64_t position) {
      point_[positions_[k].variable] = position;
      return positions(k + 1);
    });
  }

  // Row-major; where the guard allows none, what the reduction gives otherwise. What cannot be decided is allowed.
  std::vector<std::int64_t> allowed(const Expr& reduction) {
    std::vector<std::int64_t> all;
    std::int64_t count = 1;
    for (const Binder& b : reduction->binders) count *= b.extent;
    for (std::int64_t position = 0; position < count && steps_++ < most; ++position) {
      Point inside = point_;
      std::int64_t rest = position;
      for (auto b = reduction->binders.rbegin(); b != reduction->binders.rend(); ++b) {
        inside[b->variable] = rest % b->extent;
        rest /= b->extent;
      }
      if (value_at(reduction->args[0], inside).value_or(1) != 0) all.push_back(position);
    }
    if (all.empty()) all.push_back(reduction->args[2]->number.mantissa);
    return all;
  }

  bool visit() {
    if (++steps_ > most) return false;
    const bool reached = std::all_of(conditions_.begin(), conditions_.end(),
                                     [&](const Expr& c) { return value_at(c, point_).value_or(1) != 0; });
    ++met_;
    return !reached || std::all_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return equal_at(p.first, p.second, point_); });
  }

  static constexpr std::int64_t most = 100000, far = std::int64_t{1} << 62;
  const spec::System& system_;
  const std::vector<Binder>& binders_;
  std::vector<Expr> conditions_;
  std::vector<std::pair<Expr, Expr>> pairs_;
  std::vector<Position> positions_;
  std::vector<Label> labels_;
  std::vector<Expr> others_;  ///< integers that are read for something else
  Point point_;
  spec::VariableId next_;
  std::int64_t steps_ = 0, met_ = 0;
};

}  // namespace

bool are_equal_at_all_points(const spec::System& system, const std::vector<Binder>& binders, std::vector<Expr> conditions,
                             std::vector<std::pair<Expr, Expr>> pairs) {
  return Visiting(system, binders, std::move(conditions), std::move(pairs)).run();
}

}  // namespace etalon::adequacy
