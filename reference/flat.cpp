#include "reference/flat.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace etalon::reference {

namespace {

using spec::Expr;
using spec::Form;
using spec::Node;
using spec::Primitive;

/// constant + Σ coefficient · variable.
struct Linear {
  std::int64_t constant = 0;
  std::vector<AffineTerm> terms;
};

/// Indices are products of extents and so far from overflow; wrapping keeps even the others defined.
std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void scale(Linear& a, std::int64_t by) {
  a.constant = wrap_mul(a.constant, by);
  for (AffineTerm& t : a.terms) t.coefficient = wrap_mul(t.coefficient, by);
}

void accumulate(Linear& a, const Linear& b) {
  a.constant = wrap_add(a.constant, b.constant);
  for (const AffineTerm& t : b.terms) {
    const auto same =
        std::find_if(a.terms.begin(), a.terms.end(), [&](const AffineTerm& x) { return x.slot == t.slot; });
    if (same == a.terms.end()) {
      a.terms.push_back(t);
    } else {
      same->coefficient = wrap_add(same->coefficient, t.coefficient);
    }
  }
}

class Flattener {
 public:
  explicit Flattener(const spec::System& system) : system_(system) {}

  Flat run() {
    for (const spec::Equation& e : system_.equations) add(e);
    flat_.slots = slots_.size();
    return std::move(flat_);
  }

 private:
  template <class T>
  static Range append(std::vector<T>& all, const std::vector<T>& more) {
    const Range r{static_cast<std::int32_t>(all.size()), static_cast<std::int32_t>(more.size())};
    all.insert(all.end(), more.begin(), more.end());
    return r;
  }

  std::int32_t slot_of(spec::VariableId id) {
    return slots_.try_emplace(id, static_cast<std::int32_t>(slots_.size())).first->second;
  }

  /// Around a loop that never runs none does: an outer one may be of any length.
  Range loops_of(const std::vector<spec::Binder>& binders) {
    const bool run = std::all_of(binders.begin(), binders.end(), [](const spec::Binder& b) { return b.extent > 0; });
    std::vector<Loop> loops;
    for (const spec::Binder& b : binders) loops.push_back({slot_of(b.variable), run ? b.extent : 0});
    return append(flat_.loops, loops);
  }

  void add(const spec::Equation& e) {
    FlatEquation out;
    out.target = e.target;
    out.loops = loops_of(e.binders);
    std::vector<std::int32_t> place;
    for (const Expr& p : e.place) place.push_back(node(p));
    out.place = append(flat_.args, place);
    out.value = node(e.value);
    flat_.equations.push_back(out);
  }

  std::optional<Linear> linear(const Expr& e) {
    if (e.kind() != Kind::integer) return std::nullopt;
    if (e.form() == Form::number) return Linear{e->number.mantissa, {}};
    if (e.form() == Form::variable) return Linear{0, {{slot_of(e->variable), 1}}};
    if (e.form() != Form::apply) return std::nullopt;
    switch (e->primitive) {
      case Primitive::add:
      case Primitive::sub:
      case Primitive::mul: return linear_binary(e);
      case Primitive::neg: {
        std::optional<Linear> a = linear(e->args[0]);
        if (a) scale(*a, -1);
        return a;
      }
      default: return std::nullopt;
    }
  }

  std::optional<Linear> linear_binary(const Expr& e) {
    std::optional<Linear> a = linear(e->args[0]);
    std::optional<Linear> b = a ? linear(e->args[1]) : std::nullopt;
    if (!b) return std::nullopt;
    if (e->primitive == Primitive::mul) {
      if (!a->terms.empty() && !b->terms.empty()) return std::nullopt;
      if (a->terms.empty()) std::swap(a, b);
      scale(*a, b->constant);
      return a;
    }
    if (e->primitive == Primitive::sub) scale(*b, -1);
    accumulate(*a, *b);
    return a;
  }

  std::int32_t node(const Expr& e) {
    const auto known = seen_.find(&*e);
    if (known != seen_.end()) return known->second;
    FlatNode n = make(e);
    n.kind = e.kind();
    flat_.nodes.push_back(n);
    const auto id = static_cast<std::int32_t>(flat_.nodes.size() - 1);
    seen_.emplace(&*e, id);
    return id;
  }

  FlatNode make(const Expr& e) {
    FlatNode n;
    if (const std::optional<Linear> l = linear(e)) {
      n.step = Step::affine;
      n.constant = l->constant;
      n.terms = append(flat_.terms, l->terms);
      return n;
    }
    switch (e.form()) {
      case Form::number: return make_number(*e);
      case Form::variable: break;  // every variable is linear
      case Form::read:
        n.step = Step::read;
        n.payload = e->tensor;
        break;
      case Form::apply:
        n.step = Step::apply;
        n.primitive = e->primitive;
        break;
      case Form::select: n.step = Step::select; break;
      case Form::reduce: return make_reduction(e);
      case Form::detach: n.step = Step::detach; break;
    }
    n.args = args_of(e->args);
    return n;
  }

  Range args_of(std::span<const Expr> exprs) {
    std::vector<std::int32_t> ids;
    for (const Expr& a : exprs) ids.push_back(node(a));
    return append(flat_.args, ids);
  }

  FlatNode make_number(const Node& e) {
    FlatNode n;
    n.constant = e.number.mantissa;
    if (e.kind == Kind::real) {
      n.payload = static_cast<std::int32_t>(flat_.numbers.size());
      flat_.numbers.push_back(e.number);
    }
    return n;
  }

  FlatNode make_reduction(const Expr& e) {
    FlatNode n;
    n.step = Step::reduce;
    n.reduction = e->reduction;
    n.loops = loops_of(e->binders);
    std::vector<Expr> conjuncts;
    split(e->args[0], conjuncts);
    // A conjunct may rely on those before it (they may keep its reads in range), so depths only grow.
    std::vector<GuardPart> parts;
    std::int32_t depth = 0;
    for (const Expr& c : conjuncts) {
      if (c.form() == Form::number && c->number.mantissa != 0) continue;
      depth = std::max(depth, depth_of(c, e->binders));
      parts.push_back({depth, node(c)});
    }
    n.guards = append(flat_.guards, parts);
    n.args = args_of(std::span(e->args).subspan(1));
    return n;
  }

  static void split(const Expr& guard, std::vector<Expr>& into) {
    if (guard.is(Primitive::logical_and)) {
      split(guard->args[0], into);
      split(guard->args[1], into);
    } else {
      into.push_back(guard);
    }
  }

  /// How many of the binders, from the outermost, must have values before `e` can be evaluated.
  static std::int32_t depth_of(const Expr& e, const std::vector<spec::Binder>& binders) {
    const std::vector<spec::VariableId> free = spec::free_variables(e);
    for (std::size_t d = binders.size(); d > 0; --d) {
      if (std::binary_search(free.begin(), free.end(), binders[d - 1].variable)) return static_cast<std::int32_t>(d);
    }
    return 0;
  }

  const spec::System& system_;
  Flat flat_;
  std::unordered_map<spec::VariableId, std::int32_t> slots_;
  std::unordered_map<const Node*, std::int32_t> seen_;
};

}  // namespace

Flat flatten(const spec::System& system) { return Flattener(system).run(); }

}  // namespace etalon::reference
