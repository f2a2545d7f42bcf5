#include <algorithm>
#include <optional>

#include "spec/system/ranges.hpp"
#include "tests/adequacy/node_changes.hpp"

namespace etalon::adequacy {
namespace {

using spec::Binder;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Reduction;
using spec::System;

Expr call(Primitive p, const Expr& a, const Expr& b) { return spec::apply(p, {a, b}); }

struct Stem {
  std::string name;
  bool of_row = false;
  [[nodiscard]] friend bool operator==(const Stem&, const Stem&) = default;
};

// What an index is made of: the names of its variables without the numbers that tell the axes of a row apart.
Stem stem_of(const Expr& index) {
  Stem stem;
  spec::for_each(index, [&](const Expr& e) {
    if (e.form() != Form::variable) return;
    std::string name = e->name;
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    stem.of_row |= name.size() < e->name.size();
    stem.name += (stem.name.empty() ? "" : "+") + name;
  });
  if (stem.name.empty()) stem.name = "constant";
  return stem;
}

// The axes of a read by what indexes them, so that they have the same names in instances of other ranks: of several
// axes of a row the first, inner ones and the last, which is the only one of a short row.
std::vector<std::string> axes_of(const Expr& read) {
  std::vector<Stem> stems;
  std::vector<std::string> names;
  for (const Expr& index : read->args) stems.push_back(stem_of(index));
  for (std::size_t k = 0; k < stems.size(); ++k) {
    const auto before = std::count(stems.begin(), stems.begin() + static_cast<std::ptrdiff_t>(k), stems[k]);
    const auto all = std::count(stems.begin(), stems.end(), stems[k]);
    const bool alone = all == 1 && !stems[k].of_row;
    names.push_back(stems[k].name + (alone               ? ""
                                     : before + 1 == all ? " (last)"
                                     : before == 0       ? " (first)"
                                                         : " (inner)"));
  }
  return names;
}

class Alternatives {
 public:
  Alternatives(const System& system, const Site& site, bool cotangents)
      : system_(system), site_(site), e_(site.node), cotangents_(cotangents) {}

  std::vector<Alternative> run() {
    if (site_.use == Use::index) return {};
    switch (e_.form()) {
      case Form::read:
        reads();
        break;
      case Form::apply:
        applications();
        break;
      case Form::select:
        choices();
        break;
      case Form::reduce:
        reductions();
        break;
      case Form::number:
        constants();
        break;
      case Form::variable:
        add(Sort::index, "the index + 1", e_ + spec::integer(1));
        break;
      case Form::detach:
        break;
    }
    return std::move(found_);
  }

 private:
  void add(Sort sort, std::string text, Expr node) { found_.push_back({sort, std::move(text), std::move(node)}); }

  void reads() {
    const Dims& dims = system_[e_->tensor].dims;
    const std::string name = system_[e_->tensor].name;
    const std::vector<std::string> axes = axes_of(e_);
    for (std::size_t k = 0; k < dims.rank; ++k) {
      if (dims[k] < 2) continue;
      const std::string axis = "index " + axes[k] + " of " + name;
      std::vector<Expr> more = e_->args, less = e_->args;
      more[k] = call(Primitive::minimum, more[k] + spec::integer(1), spec::integer(dims[k] - 1));
      less[k] = call(Primitive::maximum, less[k] - spec::integer(1), spec::integer(0));
      add(Sort::index, axis + " + 1", spec::with_args(e_, more));
      add(Sort::index, axis + " - 1", spec::with_args(e_, less));
      for (std::size_t l = k + 1; l < dims.rank; ++l) {
        if (dims[l] != dims[k] || e_->args[k] == e_->args[l]) continue;
        std::vector<Expr> exchanged = e_->args;
        std::swap(exchanged[k], exchanged[l]);
        add(Sort::axes, "axes " + axes[k] + " and " + axes[l] + " of " + name + " exchanged",
            spec::with_args(e_, exchanged));
      }
    }
    states();
  }

  // `m1` continues `m`.
  void states() {
    const spec::TensorInfo& info = system_[e_->tensor];
    const spec::TensorId target = system_.equations[site_.equation].target;
    const auto exchange = [&](const std::string& name, const char* text) {
      const spec::TensorId other = system_.find(name);
      if (other < 0 || other == target || system_[other].dims != info.dims || system_[other].dtype != info.dtype)
        return;
      if (!is_known_here(other)) return;
      add(Sort::state, info.name + text, system_.at(other, e_->args));
    };
    exchange(info.name + "1", ": the new state for the old");
    if (info.name.size() > 1 && info.name.back() == '1')
      exchange(info.name.substr(0, info.name.size() - 1), ": the old state for the new");
  }

  // Every equation of the tensor stands before this one.
  [[nodiscard]] bool is_known_here(spec::TensorId t) const {
    for (std::size_t i = site_.equation; i < system_.equations.size(); ++i) {
      if (system_.equations[i].target == t) return false;
    }
    return true;
  }

  void comparisons(Primitive p) {
    const auto other = [&](Primitive q, const char* text) { add(Sort::comparison, text, spec::apply(q, e_->args)); };
    switch (p) {
      case Primitive::lt:
        other(Primitive::le, "<= for <"), other(Primitive::gt, "> for <");
        break;
      case Primitive::le:
        other(Primitive::lt, "< for <="), other(Primitive::ge, ">= for <=");
        break;
      case Primitive::gt:
        other(Primitive::ge, ">= for >"), other(Primitive::lt, "< for >");
        break;
      case Primitive::ge:
        other(Primitive::gt, "> for >="), other(Primitive::le, "<= for >=");
        break;
      case Primitive::eq:
        other(Primitive::ne, "!= for ==");
        break;
      case Primitive::ne:
        other(Primitive::eq, "== for !=");
        break;
      default:
        break;
    }
  }

  void parts(Primitive p) {
    const Expr a = e_->args[0], b = e_->args.size() > 1 ? e_->args[1] : Expr{};
    switch (p) {
      case Primitive::add:
        add(Sort::part, "the first term dropped", b), add(Sort::part, "the second term dropped", a);
        add(Sort::part, "- for +", a - b);
        break;
      case Primitive::sub:
        add(Sort::part, "the first term dropped", -b), add(Sort::part, "the second term dropped", a);
        add(Sort::part, "+ for -", a + b);
        break;
      case Primitive::mul:
        add(Sort::part, "the first factor dropped", b), add(Sort::part, "the second factor dropped", a);
        break;
      case Primitive::div:
      case Primitive::floor_div:
      case Primitive::modulo:
        add(Sort::part, "the divisor dropped", a);
        break;
      case Primitive::pow:
        add(Sort::part, "the exponent dropped", a);
        break;
      case Primitive::neg:
        add(Sort::part, "the sign dropped", a);
        break;
      case Primitive::abs:
        add(Sort::part, "the magnitude dropped", a);
        break;
      case Primitive::maximum:
      case Primitive::minimum:
        add(Sort::part, "the first operand dropped", b), add(Sort::part, "the second operand dropped", a);
        add(Sort::part, "the other extremum",
            call(p == Primitive::maximum ? Primitive::minimum : Primitive::maximum, a, b));
        break;
      case Primitive::logical_and:
      case Primitive::logical_or:
        add(Sort::guard, "the first condition dropped", b), add(Sort::guard, "the second condition dropped", a);
        break;
      case Primitive::logical_not:
        add(Sort::guard, "the negation dropped", a);
        break;
      default:
        break;
    }
  }

  void applications() {
    const Primitive p = e_->primitive;
    constexpr Primitive ordered[] = {Primitive::sub,   Primitive::div,       Primitive::pow,
                                     Primitive::atan2, Primitive::floor_div, Primitive::modulo};
    if (std::find(std::begin(ordered), std::end(ordered), p) != std::end(ordered) && e_->args[0] != e_->args[1])
      add(Sort::operands, "operands exchanged", call(p, e_->args[1], e_->args[0]));
    comparisons(p);
    if (!e_->args.empty()) parts(p);
  }

  void choices() {
    const Expr &c = e_->args[0], &a = e_->args[1], &b = e_->args[2];
    if (a == b) return;
    add(Sort::arm, "arms exchanged", spec::select(c, b, a));
    add(Sort::arm, "always the first arm", a);
    add(Sort::arm, "always the second arm", b);
  }

  [[nodiscard]] Expr same_reduction(std::vector<Binder> binders, const Expr& guard, const Expr& body) const {
    return spec::reduce(e_->reduction, std::move(binders), guard, body, e_->args.size() > 2 ? e_->args[2] : Expr{});
  }

  void guards() {
    const auto all = spec::conjuncts(e_->args[0]);
    if (all.empty() || e_->args[0].form() == Form::number) return;
    for (std::size_t k = 0; k < all.size(); ++k) {
      Expr rest = spec::boolean(true);
      for (std::size_t l = 0; l < all.size(); ++l) {
        if (l != k) rest = rest.form() == Form::number ? all[l] : rest && all[l];
      }
      add(Sort::guard, "guard " + std::to_string(k + 1) + " dropped", same_reduction(e_->binders, rest, e_->args[1]));
    }
  }

  void reductions() {
    const auto kind = [&](Reduction r, const char* text) {
      add(Sort::reduction, text,
          spec::reduce(r, e_->binders, e_->args[0], e_->args[1], e_->args.size() > 2 ? e_->args[2] : Expr{}));
    };
    switch (e_->reduction) {
      case Reduction::max:
        kind(Reduction::min, "min for max");
        break;
      case Reduction::min:
        kind(Reduction::max, "max for min");
        break;
      case Reduction::argmax:
        kind(Reduction::argmin, "argmin for argmax");
        break;
      case Reduction::argmin:
        kind(Reduction::argmax, "argmax for argmin");
        break;
      case Reduction::any:
        kind(Reduction::all, "all for any");
        break;
      case Reduction::all:
        kind(Reduction::any, "any for all");
        break;
      case Reduction::sum:
        kind(Reduction::prod, "prod for sum");
        break;
      case Reduction::prod:
        kind(Reduction::sum, "sum for prod");
        break;
    }
    identities();
    guards();
    for (std::size_t k = 0; k < e_->binders.size(); ++k) ends(k);
    if (e_->reduction == Reduction::sum && cotangents_) summands();
  }

  void identities() {
    const Expr zero = e_.kind() == Kind::real ? spec::decimal(0) : spec::integer(0);
    if (e_->reduction == Reduction::max) add(Sort::reduction, "begins with 0", call(Primitive::maximum, e_, zero));
    if (e_->reduction == Reduction::min) add(Sort::reduction, "begins with 0", call(Primitive::minimum, e_, zero));
  }

  // The last element along one binder left out, the first one, and of positions the last extremum for the first.
  void ends(std::size_t k) {
    const Binder& b = e_->binders[k];
    if (b.extent < 2) return;
    const Expr v = spec::variable(b);
    std::vector<Binder> shorter = e_->binders;
    --shorter[k].extent;
    const bool position = e_->reduction == Reduction::argmax || e_->reduction == Reduction::argmin;
    add(Sort::reduction, "the last of binder " + std::to_string(k + 1) + " left out",
        same_reduction(shorter, e_->args[0], e_->args[1]));
    if (!position) {
      const spec::Substitution next{{b.variable, v + spec::integer(1)}};
      add(Sort::reduction, "the first of binder " + std::to_string(k + 1) + " left out",
          same_reduction(shorter, spec::substitute(e_->args[0], next), spec::substitute(e_->args[1], next)));
    } else if (e_->binders.size() == 1 && e_->args.size() == 2) {
      const Expr mirrored = spec::integer(b.extent - 1) - v;
      const spec::Substitution back{{b.variable, mirrored}};
      add(Sort::reduction, "the last of equal extrema",
          spec::integer(b.extent - 1) -
              same_reduction(e_->binders, spec::substitute(e_->args[0], back), spec::substitute(e_->args[1], back)));
    }
  }

  void summands() {
    for (std::size_t k = 0; k < e_->binders.size(); ++k) {
      if (e_->binders[k].extent < 2) continue;
      std::vector<Binder> others = e_->binders;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      const spec::Substitution first{{e_->binders[k].variable, spec::integer(0)}};
      const Expr guard = spec::substitute(e_->args[0], first), body = spec::substitute(e_->args[1], first);
      const Expr zero = e_.kind() == Kind::real ? spec::decimal(0) : spec::integer(0);
      const Expr one = others.empty() ? (guard.form() == Form::number ? body : spec::select(guard, body, zero))
                                      : spec::reduce(Reduction::sum, others, guard, body);
      add(Sort::broadcast, "binder " + std::to_string(k + 1) + " not summed over", one);
    }
  }

  void constants() {
    if (e_.kind() == Kind::boolean) return;
    if (e_.kind() == Kind::integer) {
      add(Sort::constant, "the constant + 1", spec::integer(e_->number.mantissa) + spec::integer(1));
      add(Sort::constant, "the constant - 1", spec::integer(e_->number.mantissa) - spec::integer(1));
      return;
    }
    add(Sort::constant, "the constant + 1", e_ + spec::decimal(1));
    if (e_->number.is(0)) return;
    add(Sort::constant, "twice the constant", e_ * spec::decimal(2));
    add(Sort::constant, "minus the constant", -e_);
    add(Sort::constant, "0 for the constant", spec::decimal(0));
  }

  const System& system_;
  const Site& site_;
  const Expr e_;
  bool cotangents_;
  std::vector<Alternative> found_;
};

}  // namespace

std::vector<Alternative> equation_alternatives(const System& system, const Site& site, bool cotangents) {
  return Alternatives(system, site, cotangents).run();
}

}  // namespace etalon::adequacy
