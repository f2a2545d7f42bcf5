#include <algorithm>
#include <charconv>

#include "spec/nearest.hpp"
#include "spec/notation/elaborator.hpp"

namespace etalon::spec::notation {

namespace {

bool is_comparison(Primitive p) { return p >= Primitive::eq && p <= Primitive::ge; }

bool wants_reals(Primitive p) {
  switch (p) {
    case Primitive::div:
    case Primitive::pow:
    case Primitive::atan2:
    case Primitive::exp:
    case Primitive::exp2:
    case Primitive::log:
    case Primitive::log2:
    case Primitive::sqrt:
    case Primitive::sin:
    case Primitive::cos:
    case Primitive::tan:
    case Primitive::sinh:
    case Primitive::cosh:
    case Primitive::tanh:
    case Primitive::erf:
    case Primitive::expm1:
    case Primitive::log1p:
    case Primitive::floor:
    case Primitive::ceil:
    case Primitive::trunc:
    case Primitive::round:
    case Primitive::is_nan:
    case Primitive::is_inf:
    case Primitive::is_finite: return true;
    default: return false;
  }
}

bool rounds(Primitive p) { return p >= Primitive::floor && p <= Primitive::round; }

/// Whether an element of a tensor takes part: such a divisor is not known before the run.
bool has_read(const Expr& e) {
  return e.form() == Form::read || std::any_of(e->args.begin(), e->args.end(), has_read);
}

bool is_arithmetic(Primitive p) {
  switch (p) {
    case Primitive::add:
    case Primitive::sub:
    case Primitive::mul:
    case Primitive::neg:
    case Primitive::maximum:
    case Primitive::minimum:
    case Primitive::abs:
    case Primitive::sign: return true;
    default: return false;
  }
}

std::string_view name_of(Kind k) {
  return k == Kind::real ? "a real" : k == Kind::integer ? "an integer" : "a truth value";
}

}  // namespace

// --- what is known already ---

StaticEvaluator Elaborator::evaluator(Diagnosis& diagnosis) const {
  StaticEvaluator e(d_, typing_.names, typing_.attributes, diagnosis);
  if (!tags_.empty()) e.set_member(tags_.rbegin()->first, tags_.rbegin()->second);
  return e;
}

/// The value of an expression over extents and attributes; nothing where it is not one.
std::optional<StaticValue> Elaborator::known(NodeId n) const {
  Diagnosis diagnosis;
  const StaticValue v = evaluator(diagnosis).evaluate(n);
  if (!diagnosis.ok()) {
    if (vacuous_) return StaticValue::of(0);
    raise(diagnosis);
  }
  if (v.form == StaticValue::Form::unknown) return std::nullopt;
  return v;
}

std::int64_t Elaborator::known_integer(NodeId n) const {
  Diagnosis diagnosis;
  std::int64_t value = 0;
  if (!evaluator(diagnosis).integer(n, value)) raise(diagnosis);
  return value;
}

Dims Elaborator::known_row(NodeId n) const {
  Diagnosis diagnosis;
  Dims value;
  if (!evaluator(diagnosis).row(n, value)) raise(diagnosis);
  return value;
}

// --- expressions ---

Expr Elaborator::expression(NodeId n) {
  const NodeText& t = d_[n];
  const bool index = (t.form == NodeForm::name || t.form == NodeForm::row) && scope_.contains(std::string(d_.at(n)));
  if (!index && t.form != NodeForm::number) {
    if (const std::optional<StaticValue> v = known(n)) {
      if (v->form == StaticValue::Form::integer) return integer(v->integer);
      if (v->form == StaticValue::Form::boolean) return boolean(v->truth);
    }
  }
  switch (t.form) {
    case NodeForm::number: {
      std::int64_t whole = 0;
      return lexer::integer_of(d_.at(n), whole) ? integer(whole) : decimal(decimal_number(d_.at(n)));
    }
    case NodeForm::name: return named(n);
    case NodeForm::apply: return application(n);
    case NodeForm::select: return choice(n);
    case NodeForm::otherwise: return otherwise(n);
    case NodeForm::read: return read(n, -1);
    case NodeForm::reduce: return reduction(n, -1);
    case NodeForm::detach: return detach(expression(t.first));
    case NodeForm::builtin: return builtin(n);
    default: fail_at(n, d_.at(n), " is not a scalar");
  }
}

Expr Elaborator::named(NodeId n) {
  const std::string name(d_.at(n));
  if (const auto index = scope_.find(name); index != scope_.end()) {
    if (index->second.row) fail_at(n, name, " is a row of indices, not one index");
    return variable(index->second.binders[0]);
  }
  if (const int a = d_.attribute_named(name); a >= 0) return attribute(a, n);
  if (tensors_.contains({name, -1})) return read(n, -1);
  if (name == "pi") return apply(Primitive::pi, {});
  std::vector<std::string> candidates;
  for (const auto& [key, value] : scope_) candidates.push_back(key);
  for (const auto& [key, value] : tensors_) candidates.push_back(key.first);
  for (std::size_t i = 0; i < typing_.names.count; ++i) candidates.emplace_back(typing_.names.entries[i].name);
  fail_at(n, unknown_name("name", name, candidates));
}

Expr Elaborator::attribute(int which, NodeId n) {
  const AttributeBinding& b = typing_.attributes.of[which];
  switch (b.form) {
    case AttributeBinding::Form::real: return binary64(b.real);
    case AttributeBinding::Form::runtime: return system_.at(scalars_.at(std::string(d_.at(n))), {});
    default: fail_at(n, "attribute ", d_.at(n), " is not a number");
  }
}

std::pair<Expr, Expr> Elaborator::same_kind(NodeId n, Expr a, Expr b) {
  if (a.kind() == b.kind()) return {std::move(a), std::move(b)};
  if (a.kind() == Kind::boolean || b.kind() == Kind::boolean) {
    fail_at(n, d_.at(n), " mixes ", name_of(a.kind()), " and ", name_of(b.kind()));
  }
  return {real_of(a), real_of(b)};
}

/// Sides of an `if` or `else`: the literals 0 and 1 beside a truth value are false and true, so that one text serves
/// operands of any kind.
std::pair<Expr, Expr> Elaborator::branches(NodeId n, Expr a, Expr b) {
  const auto beside_truth = [](Expr& one, const Expr& other) {
    if (other.kind() != Kind::boolean || one.kind() != Kind::integer) return;
    const std::optional<std::int64_t> literal = integer_constant(one);
    if (literal && (*literal == 0 || *literal == 1)) one = boolean(*literal == 1);
  };
  beside_truth(a, b);
  beside_truth(b, a);
  return same_kind(n, std::move(a), std::move(b));
}

Expr Elaborator::application(NodeId n) {
  const auto p = static_cast<Primitive>(d_[n].op);
  if (is_comparison(p)) {
    for (NodeId c = d_[n].first; c >= 0; c = d_[c].next) {
      if (is_row_item(d_, c)) return row_comparison(n);
    }
  }
  std::vector<Expr> args;
  for (NodeId c = d_[n].first; c >= 0; c = d_[c].next) {
    args.push_back(expression(c));
    if (args.size() > 1 || (p != Primitive::logical_and && p != Primitive::logical_or)) continue;
    if (truth_constant(args[0]) == std::optional(p == Primitive::logical_or)) return args[0];
  }
  return combine(n, p, std::move(args));
}

Expr Elaborator::combine(NodeId n, Primitive p, std::vector<Expr> args) {
  const bool connective = p >= Primitive::logical_and && p <= Primitive::logical_not;
  for (const Expr& a : args) {
    const bool truth = a.kind() == Kind::boolean;
    const bool may = connective || is_comparison(p) || p == Primitive::to_real || p == Primitive::to_integer;
    if (truth ? !may : connective) fail_at(n, info(p).name, " in ", d_.at(n), " is applied to ", name_of(a.kind()));
  }
  if (p == Primitive::to_real) return real_of(args[0]);
  if (p == Primitive::to_integer) {
    return args[0].kind() == Kind::integer ? args[0] : apply(p, std::move(args));
  }
  if (rounds(p) && args[0].kind() == Kind::integer) return args[0];
  if (wants_reals(p)) {
    for (Expr& a : args) a = real_of(a);
    return apply(p, std::move(args));
  }
  if (args.size() == 2 && (is_arithmetic(p) || is_comparison(p))) {
    auto [a, b] = same_kind(n, args[0], args[1]);
    return folded(p, {std::move(a), std::move(b)});
  }
  if ((p == Primitive::floor_div || p == Primitive::modulo) && (args[0].kind() == Kind::real || args[1].kind() == Kind::real)) {
    auto [a, b] = same_kind(n, args[0], args[1]);
    if (p == Primitive::modulo) return apply(p, {std::move(a), std::move(b)});
    return apply(Primitive::floor, {apply(Primitive::div, {std::move(a), std::move(b)})});
  }
  if (!is_arithmetic(p) && !connective) {
    for (const Expr& a : args) {
      if (a.kind() != Kind::integer) fail_at(n, info(p).name, " in ", d_.at(n), " is applied to ", name_of(a.kind()));
    }
    if (p == Primitive::floor_div || p == Primitive::modulo) {
      const std::optional<std::int64_t> by = integer_constant(args[1]);
      if (by ? *by <= 0 : !has_read(args[1])) {
        if (vacuous_) return integer(0);
        fail_at(n, d_.at(n), " divides by something that is not a positive number");
      }
    }
  }
  return folded(p, std::move(args));
}

Expr Elaborator::choice(NodeId n) {
  const Expr c = expression(d_[n].first);
  if (c.kind() != Kind::boolean) fail_at(d_[n].first, d_.at(d_[n].first), " is not a condition");
  if (const std::optional<bool> decided = truth_constant(c)) return expression(d_.child(n, *decided ? 1 : 2));
  auto [a, b] = branches(n, expression(d_.child(n, 1)), expression(d_.child(n, 2)));
  return select(c, std::move(a), std::move(b));
}

Expr Elaborator::otherwise(NodeId n) {
  const NodeId first = d_[n].first;
  const NodeId value = d_.child(n, 1);
  return d_[first].form == NodeForm::read ? read(first, value) : reduction(first, value);
}

Expr Elaborator::builtin(NodeId n) {
  switch (static_cast<Builtin>(d_[n].op)) {
    case Builtin::flat: return flat(n);
    case Builtin::inside: {
      const NodeId r = d_[n].first;
      if (d_[r].form != NodeForm::read) fail_at(n, "inside wants a read");
      const Storage& from = storage(r);
      return from.present ? access(r, from).second : boolean(false);
    }
    default: fail_at(n, d_.at(n), " is not a scalar here");
  }
}

/// Row-major position of an index row within the extents of its second argument, or its own ranges.
Expr Elaborator::flat(NodeId n) {
  const NodeId row_node = d_[n].first;
  const std::vector<Expr> index = row(row_node);
  Dims dims;
  if (const NodeId within = d_.child(n, 1); within >= 0) {
    dims = known_row(within);
  } else {
    const auto found = scope_.find(std::string(d_.at(row_node)));
    if (found == scope_.end()) fail_at(n, "flat of a row that is not an index wants its extents");
    for (const Binder& b : found->second.binders) dims.push_back(b.extent);
  }
  if (dims.rank != index.size()) fail_at(n, d_.at(n), " mixes rows of different rank");
  for (const Expr& i : index) {
    if (i.kind() != Kind::integer) fail_at(n, "flat takes a row of integers");
  }
  Expr position = integer(0);
  for (std::size_t i = 0; i < index.size(); ++i) {
    position = folded(Primitive::add, {folded(Primitive::mul, {position, integer(dims[i])}), index[i]});
  }
  return position;
}

/// The index row at a row-major position within given extents.
std::vector<Expr> Elaborator::unflat(NodeId n) {
  const Expr position = expression(d_[n].first);
  if (position.kind() != Kind::integer) fail_at(n, "unflat takes an integer position");
  const Dims dims = known_row(d_.child(n, 1));
  std::vector<Expr> index(dims.rank, integer(0));
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return index;
  const bool extents = std::none_of(dims.begin(), dims.end(), [](std::int64_t e) { return e < 0; });
  if (!extents || !addressable({DType::boolean, dims})) fail_at(n, "unflat is within extents whose positions fit 64 bits, found ", to_string(dims));
  std::int64_t stride = 1;
  for (std::size_t i = dims.rank; i-- > 0;) {
    Expr e = folded(Primitive::floor_div, {position, integer(stride)});
    if (i > 0) e = folded(Primitive::modulo, {e, integer(dims[i])});
    index[i] = e;
    stride *= dims[i];
  }
  return index;
}

// --- rows ---

/// `..a < ..b`: the comparison of every pair, joined by `and`.
Expr Elaborator::row_comparison(NodeId n) {
  const RowValue a = row_value(d_[n].first);
  const RowValue b = row_value(d_.child(n, 1));
  const std::size_t rank = a.row ? a.items.size() : b.items.size();
  if (a.row && b.row && a.items.size() != b.items.size()) fail_at(n, d_.at(n), " mixes rows of different rank");
  Expr all = boolean(true);
  for (std::size_t i = 0; i < rank; ++i) {
    const Expr& left = a.items[a.row ? i : 0];
    const Expr& right = b.items[b.row ? i : 0];
    all = folded(Primitive::logical_and, {all, combine(n, static_cast<Primitive>(d_[n].op), {left, right})});
  }
  return all;
}

std::vector<Expr> Elaborator::row(NodeId n) {
  RowValue v = row_value(n);
  if (!v.row) fail_at(n, d_.at(n), " is not a row");
  return std::move(v.items);
}

/// Inside a row expression names stand for rows where they name one, for scalars that serve every axis otherwise.
RowValue Elaborator::row_value(NodeId n) {
  const NodeText& t = d_[n];
  if (t.form == NodeForm::name || t.form == NodeForm::row) {
    if (const auto index = scope_.find(std::string(d_.at(n))); index != scope_.end()) {
      return {index->second.row, variables(index->second.binders)};
    }
  }
  if (const std::optional<StaticValue> v = known(n)) {
    if (v->form == StaticValue::Form::integer) return {false, {integer(v->integer)}};
    if (v->form == StaticValue::Form::row) {
      RowValue r{true, {}};
      for (std::size_t i = 0; i < v->row.rank; ++i) r.items.push_back(integer(v->row[i]));
      return r;
    }
  }
  if (t.form == NodeForm::row_of) return row_value(t.first);
  if (t.form == NodeForm::builtin && static_cast<Builtin>(t.op) == Builtin::unflat) return {true, unflat(n)};
  if (t.form != NodeForm::apply) return {false, {expression(n)}};
  std::vector<RowValue> args;
  std::size_t rank = 0;
  bool is_row = false;
  for (NodeId c = t.first; c >= 0; c = d_[c].next) {
    args.push_back(row_value(c));
    if (!args.back().row) continue;
    if (is_row && args.back().items.size() != rank) fail_at(n, d_.at(n), " mixes rows of different rank");
    rank = args.back().items.size();
    is_row = true;
  }
  RowValue out{is_row, {}};
  for (std::size_t i = 0; i < (is_row ? rank : 1); ++i) {
    std::vector<Expr> at;
    for (const RowValue& a : args) at.push_back(a.items[a.row ? i : 0]);
    out.items.push_back(combine(n, static_cast<Primitive>(t.op), std::move(at)));
  }
  return out;
}

}  // namespace etalon::spec::notation
