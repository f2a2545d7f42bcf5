#include "spec/system/by_points.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace etalon::spec {

namespace {

using Values = std::unordered_map<VariableId, std::int64_t>;

std::int64_t wrapped(std::uint64_t v) { return static_cast<std::int64_t>(v); }

/// As the machine computes: sums and products wrap. Nothing for what is no arithmetic of indices.
std::optional<std::int64_t> combined(Primitive p, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (p) {
    case Primitive::add: return wrapped(x + y);
    case Primitive::sub: return wrapped(x - y);
    case Primitive::mul: return wrapped(x * y);
    case Primitive::maximum: return std::max(a, b);
    case Primitive::minimum: return std::min(a, b);
    case Primitive::floor_div: return b > 0 ? std::optional(floor_quotient(a, b)) : std::nullopt;
    case Primitive::modulo: return b > 0 ? std::optional(floor_remainder(a, b)) : std::nullopt;
    case Primitive::eq: return a == b;
    case Primitive::ne: return a != b;
    case Primitive::lt: return a < b;
    case Primitive::le: return a <= b;
    case Primitive::gt: return a > b;
    case Primitive::ge: return a >= b;
    default: return std::nullopt;
  }
}

/// The integer or truth value at a point; nothing where data decides.
std::optional<std::int64_t> value_at(const Expr& e, const Values& at) {
  if (e.form() == Form::number) return e.kind() == Kind::real ? std::nullopt : std::optional(e->number.mantissa);
  if (e.form() == Form::variable) {
    const auto found = at.find(e->variable);
    return found == at.end() ? std::nullopt : std::optional(found->second);
  }
  if (e.form() == Form::detach) return value_at(e->args[0], at);
  if (e.form() != Form::select && e.form() != Form::apply) return std::nullopt;
  if (e->args.empty() || e->args[0].kind() == Kind::real) return std::nullopt;
  const auto first = value_at(e->args[0], at);
  if (!first) return std::nullopt;
  if (e.form() == Form::select) return value_at(e->args[*first != 0 ? 1 : 2], at);
  switch (e->primitive) {
    case Primitive::logical_and: return *first != 0 ? value_at(e->args[1], at) : first;
    case Primitive::logical_or: return *first != 0 ? first : value_at(e->args[1], at);
    case Primitive::logical_not: return *first == 0;
    case Primitive::neg: return wrapped(0 - static_cast<std::uint64_t>(*first));
    case Primitive::abs: return *first < 0 ? wrapped(0 - static_cast<std::uint64_t>(*first)) : *first;
    case Primitive::sign: return *first > 0 ? 1 : *first < 0 ? -1 : 0;
    case Primitive::to_integer: return first;
    default: break;
  }
  if (e->args.size() != 2) return std::nullopt;
  const auto second = value_at(e->args[1], at);
  return second ? combined(e->primitive, *first, *second) : std::nullopt;
}

bool has_data(const Expr& e) {
  bool found = false;
  for_each(e, [&](const Expr& x) { found = found || x.form() == Form::read || x.form() == Form::reduce; });
  return found;
}

/// The index's variables, and what else its conditions relate them to.
class Points {
 public:
  Points(const Expr& index, const Ranges& known) : variables_(free_variables(index)) {
    std::vector<Expr> open;
    for (const Expr& t : known.truths) {
      if (!has_data(t)) open.push_back(t);
    }
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (!relates(open[i])) continue;
        conditions_.push_back(open[i]);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        more = true;
        break;
      }
    }
    for (const VariableId v : variables_) {
      const auto found = known.variables.find(v);
      ranges_.push_back(found == known.variables.end() ? Interval{} : found->second);
    }
  }

  [[nodiscard]] Visit run(const Expr& index, std::int64_t extent) const {
    constexpr std::int64_t enough = std::int64_t{1} << 20;
    std::int64_t left = enough / (1 + size(index));
    Values at;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (ranges_[i].low > ranges_[i].high) return {true, std::nullopt};
      at[variables_[i]] = ranges_[i].low;
    }
    do {
      if (left-- <= 0) return {};
      if (!holds(at)) continue;
      const auto value = value_at(index, at);
      if (!value) return {};
      if (*value < 0 || *value >= extent) return {false, value};
    } while (step(at));
    return {true, std::nullopt};
  }

 private:
  /// Whether the condition has a variable of the index's; its others count from then on.
  bool relates(const Expr& condition) {
    const std::vector<VariableId> own = free_variables(condition);
    const auto known = [&](VariableId v) { return std::find(variables_.begin(), variables_.end(), v) != variables_.end(); };
    if (std::none_of(own.begin(), own.end(), known)) return false;
    for (const VariableId v : own) {
      if (!known(v)) variables_.push_back(v);
    }
    return true;
  }

  [[nodiscard]] std::int64_t size(const Expr& index) const {
    std::int64_t n = 0;
    const auto count = [&](const Expr&) { ++n; };
    for_each(index, count);
    for (const Expr& c : conditions_) for_each(c, count);
    return n;
  }

  [[nodiscard]] bool holds(const Values& at) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const Expr& c) { return value_at(c, at).value_or(1) != 0; });
  }

  [[nodiscard]] bool step(Values& at) const {
    for (std::size_t i = variables_.size(); i-- > 0;) {
      std::int64_t& value = at[variables_[i]];
      if (value < ranges_[i].high) {
        ++value;
        return true;
      }
      value = ranges_[i].low;
    }
    return false;
  }

  std::vector<VariableId> variables_;
  std::vector<Interval> ranges_;
  std::vector<Expr> conditions_;
};

}  // namespace

Visit visit(const Expr& index, std::int64_t extent, const Ranges& known) {
  if (known.contradictory) return {true, std::nullopt};
  if (has_data(index)) return {};
  return Points(index, known).run(index, extent);
}

}  // namespace etalon::spec
