#include "tests/adequacy/reach.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/adequacy/facts.hpp"
#include "tests/adequacy/folding.hpp"
#include "tests/adequacy/gaps.hpp"
#include "tests/adequacy/only_equation.hpp"

namespace etalon::adequacy {
namespace {

using spec::Binder;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Reduction;

constexpr double infinity = std::numeric_limits<double>::infinity();

double value_of(const spec::Number& n) {
  return n.is_binary ? n.binary : std::strtod(spec::exponential_text(n).c_str(), nullptr);
}

Reach joined(const Reach& a, const Reach& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.whole && b.whole};
}

// 0 times infinity is no number, and so not in the interval.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

bool is_zero(const Reach& a) { return a.low == 0 && a.high == 0; }

Reach product(const Reach& a, const Reach& b) {
  if (is_zero(a) || is_zero(b)) return {0, 0, true};
  const auto ends = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
  return {std::min(ends), std::max(ends), a.whole && b.whole};
}

Reach sum(const Reach& a, const Reach& b) {
  const double low = a.low + b.low, high = a.high + b.high;
  return {std::isnan(low) ? -infinity : low, std::isnan(high) ? infinity : high, a.whole && b.whole};
}

// Library functions are a few last places off; what they give exactly stays.
double outwards(double x, double direction) { return x == 0 ? x : x + direction * std::fabs(x) * 0x1p-40; }

// Of a function that grows. At 0 all of them are whole.
Reach grown(const Reach& a, double (*f)(double)) {
  const double low = a.low == 0 ? f(0) : outwards(f(a.low), -1), high = a.high == 0 ? f(0) : outwards(f(a.high), 1);
  return {low, high, low == high && std::floor(low) == low};
}
Reach logarithm(const Reach& a) {
  const double low = outwards(std::log(a.low), -1), high = outwards(std::log(a.high), 1);
  return {low, high, low == 0 && high == 0};
}
Reach within(const Reach& a, double end) { return {std::max(a.low, -end), std::min(a.high, end), a.whole}; }
bool is_beside_zero(const Reach& a) { return a.low >= -1 && a.high <= 1; }

Reach negated(const Reach& a) { return {-a.high, -a.low, a.whole}; }

}  // namespace

class Reaches::Look {
 public:
  Look(Reaches& reaches, const spec::System& system, const std::vector<Binder>& binders,
       const std::vector<Expr>& conditions, int depth = 0)
      : reaches_(reaches), system_(system), binders_(binders), conditions_(conditions), depth_(depth) {}

  Reach at(const Expr& e) {
    Reach r = plain(e);
    for (const Expr& c : conditions_) assume(c, e, r, true);
    return r;
  }

  bool never(const Expr& c) {
    if (c.is(Primitive::logical_and)) return never(c->args[0]) || never(c->args[1]) || lies_in_gap(c->args[0], c->args[1]);
    if (c.is(Primitive::logical_or)) return never(c->args[0]) && never(c->args[1]);
    if (c.form() != Form::apply || c->args.size() != 2) return false;
    const Reach a = at(c->args[0]), b = at(c->args[1]);
    if (c.is(Primitive::gt)) return a.high <= b.low || is_at_most(c->args[0], c->args[1]);
    if (c.is(Primitive::ge)) return a.high < b.low;
    if (c.is(Primitive::lt)) return a.low >= b.high || is_at_most(c->args[1], c->args[0]);
    if (c.is(Primitive::le)) return a.low > b.high;
    if (c.is(Primitive::eq)) return a.high < b.low || a.low > b.high;
    return false;
  }

 private:
  // x < end and x > 0, where x is 0 or further from it.
  bool lies_in_gap(const Expr& below, const Expr& above) {
    if (!below.is(Primitive::lt) || !above.is(Primitive::gt) || below->args[0] != above->args[0] || !is_zero(plain(above->args[1]))) return false;
    return least_unless_zero(system_, below->args[0]) >= plain(below->args[1]).high;
  }

  // What the condition says of this very expression, or of its opposite; of the other side what is known without conditions.
  void assume(const Expr& c, const Expr& e, Reach& r, bool holds) {
    if (c.is(Primitive::logical_not)) return assume(c->args[0], e, r, !holds);
    if (c.is(Primitive::logical_and) && holds) return assume(c->args[0], e, r, true), assume(c->args[1], e, r, true);
    if (c.is(Primitive::logical_or) && !holds) return assume(c->args[0], e, r, false), assume(c->args[1], e, r, false);
    if (c.form() != Form::apply || c->args.size() != 2) return;
    const bool less = c.is(Primitive::lt) || c.is(Primitive::le), more = c.is(Primitive::gt) || c.is(Primitive::ge);
    if (!less && !more) return;
    for (const std::size_t side : {0U, 1U}) {
      const bool opposite = c->args[side].is(Primitive::neg) && c->args[side]->args[0] == e;
      if (c->args[side] != e && !opposite) continue;
      Reach other = Look(reaches_, system_, binders_, {}).at(c->args[1 - side]);
      if (opposite) other = negated(other);
      if (((less == holds) == (side == 0)) != opposite)
        r.high = std::min(r.high, other.high);
      else
        r.low = std::max(r.low, other.low);
    }
  }

  Reach plain(const Expr& e) {
    switch (e.form()) {
      case Form::number: {
        const double v = e.kind() == Kind::real ? value_of(e->number) : static_cast<double>(e->number.mantissa);
        return {v, v, std::floor(v) == v};
      }
      case Form::variable:
        for (const Binder& b : binders_) {
          if (b.variable == e->variable) return {0, static_cast<double>(b.extent - 1), true};
        }
        return {-infinity, infinity, true};
      case Form::read:
        return read(e);
      case Form::apply:
        return primitive(e);
      case Form::select: {
        Reach then = under(e->args[0], e->args[1]);
        return joined(then, under(spec::apply(Primitive::logical_not, {e->args[0]}), e->args[2]));
      }
      case Form::reduce:
        return reduction(e);
      case Form::detach:
        return at(e->args[0]);
    }
    return {};
  }

  // Of a tensor that is a choice, the arm that the conditions decide for; of a reduction of one term, that.
  Reach read(const Expr& e) {
    constexpr int deepest = 4;
    const Said said = conditions_.empty() || depth_ == deepest || reaches_.given_.contains(e->tensor) ? Said{} : said_of(e);
    const bool chooses = said.equation != nullptr && said.value.form() == Form::select;
    const auto holds = chooses ? Facts(conditions_).holds(put(*said.equation, e, said.value->args[0])) : std::nullopt;
    const Expr term = said.equation != nullptr ? of_single_term(said.value) : said.value;
    if (!holds && term == said.value) return reaches_.of(e->tensor);
    const Expr arm = put(*said.equation, e, holds ? said.value->args[*holds ? 1 : 2] : term);
    bool recurs = false;
    spec::for_each(arm, [&](const Expr& sub) { recurs = recurs || (sub.form() == Form::read && sub->tensor == e->tensor); });
    return recurs ? reaches_.of(e->tensor) : Look(reaches_, system_, binders_, conditions_, depth_ + 1).at(arm);
  }

  Reach under(const Expr& condition, const Expr& e) {
    std::vector<Expr> more = conditions_;
    more.push_back(condition);
    return Look(reaches_, system_, binders_, more, depth_).at(e);
  }

  Reach reduction(const Expr& e) {
    std::vector<Binder> more = binders_;
    more.insert(more.end(), e->binders.begin(), e->binders.end());
    std::vector<Expr> conditions = conditions_;
    conditions.push_back(e->args[0]);
    double terms = 1;
    for (const Binder& b : e->binders) terms *= static_cast<double>(b.extent);
    const Reach body = Look(reaches_, system_, more, conditions, depth_).at(e->args[1]);
    switch (e->reduction) {
      case Reduction::max:
      case Reduction::min:
        return e->args.size() > 2 ? joined(body, at(e->args[2])) : body;
      case Reduction::sum:
        if (e->args[0].form() == Form::number) return {times(terms, body.low), times(terms, body.high), body.whole};
        return {times(terms, std::min(0.0, body.low)), times(terms, std::max(0.0, body.high)), body.whole};
      case Reduction::prod:
        return {body.low >= 0 ? 0 : -infinity, infinity, body.whole};
      case Reduction::argmax:
      case Reduction::argmin:
        return {0, terms, true};
      case Reduction::any:
      case Reduction::all:
        return {0, 1, true};
    }
    return {};
  }

  Reach primitive(const Expr& e) {
    if (e.kind() == Kind::boolean) return {0, 1, true};
    if (e.is(Primitive::pi)) return {3.14, 3.15, false};
    if (e.is(Primitive::philox)) return {0, 0x1p32 - 1, true};
    const Reach a = at(e->args[0]), b = e->args.size() > 1 ? at(e->args[1]) : Reach{};
    const bool whole = e.kind() == Kind::integer;
    switch (e->primitive) {
      case Primitive::add:
        return wrapped(e, sum(a, b));
      case Primitive::sub: {
        Reach r = sum(a, negated(b));
        if (is_at_most(e->args[0], e->args[1])) r.high = std::min(r.high, 0.0);
        if (e->args[0] == e->args[1] || is_copy(e->args[0], e->args[1])) r = {0, 0, true};
        return wrapped(e, r);
      }
      case Primitive::mul:
        if (e->args[0] == e->args[1] && !whole) return {0, product(a, a).high, a.whole};
        return wrapped(e, product(a, b));
      case Primitive::neg:
        return wrapped(e, negated(a));
      case Primitive::maximum:
        return {std::max(a.low, b.low), std::max(a.high, b.high), a.whole && b.whole};
      case Primitive::minimum:
        return {std::min(a.low, b.low), std::min(a.high, b.high), a.whole && b.whole};
      case Primitive::div:
        if (is_zero(a) || (b.low == 1 && b.high == 1)) return a;
        if (b.low > 0) return product(a, {1 / b.high, 1 / b.low, false});
        return {a.low >= 0 && b.low >= 0 ? 0 : -infinity, infinity, false};
      case Primitive::exp:
        return grown(a, std::exp);
      case Primitive::exp2:
        return grown(a, std::exp2);
      case Primitive::expm1:
        return grown(a, std::expm1);
      case Primitive::log:
        return a.low >= 0 ? logarithm(a) : Reach{};
      case Primitive::log1p:
        return a.low >= -1 ? grown(a, std::log1p) : Reach{};
      case Primitive::sqrt:
        return {std::sqrt(std::max(0.0, a.low)), std::sqrt(std::max(0.0, a.high)), false};
      case Primitive::abs:
        if (a.low >= 0) return a;
        return {0, std::max(-a.low, a.high), a.whole};
      case Primitive::cosh:
        return {1, is_beside_zero(a) ? 2 : infinity, false};
      case Primitive::sin:
        return is_beside_zero(a) ? grown(a, std::sin) : Reach{-1, 1, false};
      case Primitive::cos:
        return {is_beside_zero(a) ? 0.5 : -1, 1, false};
      case Primitive::sinh:
        return grown(a, std::sinh);
      case Primitive::tan:
        return is_beside_zero(a) ? grown(a, std::tan) : Reach{};
      case Primitive::tanh:
        return within(grown(a, std::tanh), 1);
      case Primitive::erf:
        return within(grown(a, std::erf), 1);
      case Primitive::sign:
        return {a.low >= 0 ? 0.0 : -1.0, a.high <= 0 ? 0.0 : 1.0, true};
      case Primitive::floor:
      case Primitive::ceil:
      case Primitive::trunc:
      case Primitive::round:
        return {std::floor(a.low), std::ceil(a.high), true};
      case Primitive::to_real:
        return a;
      case Primitive::floor_div:
        if (!(b.low > 0)) return {-infinity, infinity, true};
        return {std::floor(a.low / (a.low < 0 ? b.low : b.high)), std::floor(a.high / (a.high < 0 ? b.high : b.low)), true};
      case Primitive::modulo:
        return b.low > 0 ? Reach{0, b.high, a.whole && b.whole} : Reach{-infinity, infinity, whole};
      default:
        return {-infinity, infinity, whole};
    }
  }

  // Integers that may leave 64 bits may be any.
  static Reach wrapped(const Expr& e, const Reach& r) {
    const bool fits = e.kind() != Kind::integer || (r.low >= -0x1p62 && r.high <= 0x1p62);
    return fits ? r : Reach{-infinity, infinity, true};
  }

  // What the only equation of the tensor says that is read; a number that is detached is the same.
  struct Said {
    const spec::Equation* equation = nullptr;
    Expr value;
  };
  [[nodiscard]] Said said_of(const Expr& read) const {
    Said said;
    if (read.form() != Form::read) return said;
    said.equation = only_equation(system_, read->tensor);
    if (said.equation == nullptr || said.equation->place.size() != read->args.size()) return {};
    const Expr& value = said.equation->value;
    said.value = value.form() == Form::detach ? value->args[0] : value;
    return said;
  }

  // What the variables that are maximised over are where that element is met: nothing where it is another tensor's, or not met.
  std::optional<spec::Substitution> met(const Expr& maximised, const Expr& one, const std::vector<Binder>& over) {
    if (maximised.form() != Form::read || one.form() != Form::read || maximised->tensor != one->tensor) return std::nullopt;
    spec::Substitution where;
    for (std::size_t k = 0; k < one->args.size(); ++k) {
      const Expr &a = maximised->args[k], &b = one->args[k];
      const bool any = a.form() == Form::variable && std::any_of(over.begin(), over.end(), [&](const Binder& v) { return v.variable == a->variable; });
      if (any && where.try_emplace(a->variable, b).first->second != b) return std::nullopt;
      if (any || a == b) continue;
      const Reach x = plain(a), y = plain(b);
      if (!(x.low == x.high && x.low == y.low && y.low == y.high)) return std::nullopt;
    }
    return where;
  }
  bool covers(const Expr& maximised, const Expr& one, const std::vector<Binder>& over) { return met(maximised, one, over).has_value(); }

  // The element itself, read on; also as the only one of a line, and divided by 1.
  bool is_copy(const Expr& one, const Expr& copy, int depth = 0) {
    const Said said = said_of(copy);
    if (said.equation == nullptr || depth > 4) return false;
    Expr value = said.value;
    if (value.is(Primitive::div) && is_one(value->args[1])) value = value->args[0];
    const bool line = value.form() == Form::reduce && holds_alone(put(*said.equation, copy, value)) &&
                      (value->reduction == Reduction::max || value->reduction == Reduction::sum);
    if (!line) {
      const Expr read = put(*said.equation, copy, value);
      return covers(read, one, {}) || (read.form() == Form::read && is_copy(one, read, depth + 1));
    }
    return std::all_of(value->binders.begin(), value->binders.end(), [](const Binder& b) { return b.extent == 1; }) &&
           covers(put(*said.equation, copy, value->args[1]), one, value->binders);
  }
  // Whether a reduction's guard is none, or known to hold at its only point.
  bool holds_alone(const Expr& reduction) {
    if (reduction->args[0].form() == Form::number) return true;
    spec::Substitution first;
    for (const Binder& b : reduction->binders) first[b.variable] = spec::integer(0);
    return Facts(conditions_).holds(spec::substitute(reduction->args[0], first)) == true;
  }
  bool is_one(const Expr& e) {
    const Reach r = plain(e);
    return r.whole && r.low == 1 && r.high == 1;
  }

  // An element is at most the maximum over a line that it lies in, where the maximum's guard is known to hold.
  bool is_at_most(const Expr& one, const Expr& most) {
    if (is_copy(one, most)) return true;
    const Said said = said_of(most);
    if (said.equation == nullptr || said.value.form() != Form::reduce || said.value->reduction != Reduction::max) return false;
    const auto where = met(put(*said.equation, most, said.value->args[1]), one, said.value->binders);
    if (!where) return false;
    const Expr guard = put(*said.equation, most, said.value->args[0]);
    return guard.form() == Form::number || Facts(conditions_).holds(spec::substitute(guard, *where)) == true;
  }

  // The part of the equation at the place that is read.
  static Expr put(const spec::Equation& equation, const Expr& read, const Expr& part) {
    spec::Substitution at;
    for (std::size_t k = 0; k < equation.place.size(); ++k) {
      if (equation.place[k].form() == Form::variable) at[equation.place[k]->variable] = read->args[k];
    }
    return spec::substitute(part, at);
  }

  Reaches& reaches_;
  const spec::System& system_;
  const std::vector<Binder>& binders_;
  const std::vector<Expr> conditions_;
  const int depth_;  // of tensors read where these conditions hold: recurrences have no end
};

Reach Reaches::of(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
  return Look(*this, system_, binders, conditions).at(e);
}

bool Reaches::never(const Expr& condition, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
  return Look(*this, system_, binders, conditions).never(condition);
}

Reaches Reaches::where(spec::TensorId tensor, const Reach& reach) {
  for (std::size_t t = 0; t < system_.tensors.size(); ++t) (void)of(static_cast<spec::TensorId>(t));
  Reaches there = *this;
  there.tensors_[tensor] = reach;
  there.given_.insert(tensor);
  return there;
}

Reach Reaches::of(spec::TensorId tensor) {
  const spec::TensorInfo& info = system_[tensor];
  Reach any{-infinity, infinity, kind_of(info.dtype) != Kind::real};
  if (info.dtype == DType::boolean) any = {0, 1, true};
  if (info.dtype == DType::i32) any = {-0x1p31, 0x1p31 - 1, true};
  if (info.range) any = {static_cast<double>(info.range->first), static_cast<double>(info.range->second), true};
  const auto [entry, added] = tensors_.try_emplace(tensor);
  if (!added) return entry->second.value_or(any);  // of a recurrence nothing is known
  if (std::find(system_.inputs.begin(), system_.inputs.end(), tensor) != system_.inputs.end())
    return *(entry->second = any);
  std::optional<Reach> all;
  for (const spec::Equation& e : system_.equations) {
    if (e.target != tensor) continue;
    const Reach one = of(e.value, e.binders, {});
    all = all ? joined(*all, one) : one;
  }
  if (!all || info.dtype == DType::i32) all = any;
  return *(tensors_[tensor] = all);
}

}  // namespace etalon::adequacy
