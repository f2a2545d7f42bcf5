/// \file
/// Expressions that are known once extents and attributes are: numbers, truth values, symbols and rows of integers,
/// at compile time and at run time.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "spec/dims.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/expression_parser.hpp"

namespace etalon::spec {

/// What a name of the definition stands for in one call: an extent or a row, per member where it belongs to a pack.
struct Entry {
  std::string_view name;
  std::int16_t member = -1;  ///< of a pack, or -1
  bool is_row = false;
  bool known = false;        ///< otherwise only the rank counts
  std::int8_t rank = -1;     ///< of a row, -1 while unknown
  Dims value;                ///< the row, or the extent as its only element
  std::string_view from;     ///< the operand that fixed it
};

/// The names of a call and their values.
struct Names {
  static constexpr std::size_t capacity = 96;
  Entry entries[capacity] = {};
  std::size_t count = 0;

  [[nodiscard]] constexpr const Entry* find(std::string_view name, int member = -1) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i].name == name && entries[i].member == member) return &entries[i];
    }
    return nullptr;
  }
  [[nodiscard]] constexpr Entry* find(std::string_view name, int member = -1) {
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i].name == name && entries[i].member == member) return &entries[i];
    }
    return nullptr;
  }
  /// The entry of that name, made if needed; nullptr when there are too many.
  [[nodiscard]] constexpr Entry* make(std::string_view name, int member, bool is_row) {
    if (Entry* e = find(name, member)) return e;
    if (count == capacity) return nullptr;
    Entry& e = entries[count++];
    e.name = name;
    e.member = static_cast<std::int16_t>(member);
    e.is_row = is_row;
    return &e;
  }
};

struct StaticValue {
  enum class Form : std::uint8_t { unknown, integer, real, boolean, symbol, row };
  Form form = Form::unknown;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view symbol;
  Dims row;

  [[nodiscard]] static constexpr StaticValue of(std::int64_t v) {
    StaticValue s;
    s.form = Form::integer;
    s.integer = v;
    return s;
  }
  [[nodiscard]] static constexpr StaticValue of_truth(bool v) {
    StaticValue s;
    s.form = Form::boolean;
    s.truth = v;
    return s;
  }
  [[nodiscard]] static constexpr StaticValue of_real(double v) {
    StaticValue s;
    s.form = Form::real;
    s.real = v;
    return s;
  }
  [[nodiscard]] static constexpr StaticValue of_row(const Dims& v) {
    StaticValue s;
    s.form = Form::row;
    s.row = v;
    return s;
  }
};

namespace notation {

/// Rows of p and q aligned at their last axes, each pair equal or one of them 1.
[[nodiscard]] constexpr bool join_rows(const Dims& p, const Dims& q, Dims& joined) {
  const std::size_t rank = p.rank > q.rank ? p.rank : q.rank;
  joined = {};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t a = i + p.rank >= rank ? p[i + p.rank - rank] : 1;
    const std::int64_t b = i + q.rank >= rank ? q[i + q.rank - rank] : 1;
    if (a != b && a != 1 && b != 1) return false;
    joined.push_back(a == 1 ? b : a);
  }
  return true;
}

constexpr Diagnosis& add_row(Diagnosis& d, const Dims& row) {
  d.add("[");
  for (std::size_t i = 0; i < row.rank; ++i) {
    if (i > 0) d.add(", ");
    d.add(row[i]);
  }
  return d.add("]");
}

/// Evaluates static expressions. An `unknown` without a diagnosis means: not static (a read, an index, a value known
/// only at run time).
class StaticEvaluator {
 public:
  using Form = StaticValue::Form;

  constexpr StaticEvaluator(const Definition& d, const Names& names, const Bindings& bindings, Diagnosis& diagnosis)
      : d_(d), names_(names), bindings_(bindings), diagnosis_(diagnosis) {}

  /// Within these, `tag` stands for the member and its number.
  constexpr void set_member(std::string_view tag, int member) {
    tag_ = tag;
    member_ = member;
  }

  [[nodiscard]] constexpr StaticValue evaluate(NodeId n) const {
    if (n < 0 || !diagnosis_.ok()) return {};
    const NodeText& t = d_[n];
    switch (t.form) {
      case NodeForm::number: return number(n);
      case NodeForm::truth: return StaticValue::of_truth(t.op != 0);
      case NodeForm::name:
      case NodeForm::row: return named(n);
      case NodeForm::row_of: return row_of(n);
      case NodeForm::pack_member: return member(n);
      case NodeForm::apply: return apply(n);
      case NodeForm::join: return join(n);
      case NodeForm::builtin: return builtin(n);
      case NodeForm::select: {
        const StaticValue c = evaluate(t.first);
        if (c.form != Form::boolean) return {};
        return evaluate(d_.child(n, c.truth ? 1 : 2));
      }
      default: return {};
    }
  }

  /// An integer, or false with a diagnosis.
  [[nodiscard]] constexpr bool integer(NodeId n, std::int64_t& value) const {
    const StaticValue v = evaluate(n);
    if (v.form == Form::integer) {
      value = v.integer;
      return true;
    }
    return fail(n, " is not an integer known from extents and attributes");
  }
  /// A truth value, or false with a diagnosis.
  [[nodiscard]] constexpr bool truth(NodeId n, bool& value) const {
    const StaticValue v = evaluate(n);
    if (v.form == Form::boolean) {
      value = v.truth;
      return true;
    }
    return fail(n, " is not a condition on extents and attributes");
  }
  /// A row of integers, or false with a diagnosis.
  [[nodiscard]] constexpr bool row(NodeId n, Dims& value) const {
    const StaticValue v = evaluate(n);
    if (v.form == Form::row) {
      value = v.row;
      return true;
    }
    return fail(n, " is not a row known from extents and attributes");
  }

 private:
  constexpr bool fail(NodeId n, std::string_view rule) const {
    if (diagnosis_.ok()) diagnosis_ = diagnose(d_.name, ": ", d_.at(n), rule).at(d_.text, d_[n].text.begin);
    return false;
  }

  constexpr StaticValue number(NodeId n) const {
    const std::string_view text = d_.at(n);
    if (text.find_first_of(".e") != std::string_view::npos) return StaticValue::of_real(binary64_of(text));
    std::int64_t value = 0;
    if (!integer_of(text, value)) {
      fail(n, " does not fit 64 bits");
      return {};
    }
    return StaticValue::of(value);
  }

  constexpr StaticValue named(NodeId n) const {
    const std::string_view name = d_.at(n);
    if (name == tag_) return StaticValue::of(member_);
    if (const Entry* e = names_.find(name)) {
      if (e->known && !e->is_row) return StaticValue::of(e->value[0]);
      if (e->known) return StaticValue::of_row(e->value);
    }
    const int a = d_.attribute_named(name);
    if (a >= 0) return attribute(a);
    StaticValue v;
    if (d_[n].form == NodeForm::name && is_symbol(name)) {
      v.form = Form::symbol;
      v.symbol = name;
    }
    return v;
  }

  /// Whether some attribute may have this symbol as its value.
  constexpr bool is_symbol(std::string_view name) const {
    if (dtype_named(name)) return true;
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      if (d_.attributes[i].kind == AttributeKind::symbol && is_choice(d_.at(d_.attributes[i].choices), name)) return true;
    }
    return false;
  }

  constexpr StaticValue attribute(int which) const {
    const AttributeText& text = d_.attributes[which];
    const AttributeBinding& b = bindings_.of[which];
    switch (b.form) {
      case AttributeBinding::Form::integer:
        if (text.row.length > 0) return broadcast(text, b.integer);
        return StaticValue::of(b.integer);
      case AttributeBinding::Form::real: return StaticValue::of_real(b.real);
      case AttributeBinding::Form::boolean: return StaticValue::of_truth(b.truth);
      case AttributeBinding::Form::symbol: {
        StaticValue v;
        v.form = Form::symbol;
        v.symbol = b.symbol;
        return v;
      }
      case AttributeBinding::Form::list: {
        if (b.size > Dims::max_rank) return {};
        Dims row;
        for (std::size_t i = 0; i < b.size; ++i) row.push_back(b.list[i]);
        return StaticValue::of_row(row);
      }
      default: return {};
    }
  }

  /// One number given for a list stands for every axis of its row.
  constexpr StaticValue broadcast(const AttributeText& text, std::int64_t value) const {
    const Entry* e = names_.find(d_.at(text.row));
    if (e == nullptr || e->rank < 0) return {};
    Dims row;
    for (int i = 0; i < e->rank; ++i) row.push_back(value);
    return StaticValue::of_row(row);
  }

  constexpr StaticValue row_of(NodeId n) const {
    const StaticValue v = evaluate(d_[n].first);
    if (v.form == Form::row || v.form == Form::unknown) return v;
    fail(n, " is not a row");
    return {};
  }

  constexpr int tag_member(NodeId n) const {
    return d_[n].first >= 0 && d_.at(d_[n].first) == tag_ ? member_ : -1;
  }

  constexpr StaticValue member(NodeId n) const {
    const int m = tag_member(n);
    if (m < 0) return {};
    if (const Entry* e = names_.find(d_.at(n), m)) {
      if (!e->known) return {};
      return e->is_row ? StaticValue::of_row(e->value) : StaticValue::of(e->value[0]);
    }
    const int a = d_.attribute_named(d_.at(n));
    if (a < 0 || m >= bindings_.of[a].size) return {};
    return StaticValue::of(bindings_.of[a].list[m]);
  }

  // --- arithmetic ---

  constexpr StaticValue apply(NodeId n) const {
    const NodeText& t = d_[n];
    const auto p = static_cast<Primitive>(t.op);
    const StaticValue a = evaluate(t.first);
    if (p == Primitive::logical_and && a.form == Form::boolean && !a.truth) return a;
    if (p == Primitive::logical_or && a.form == Form::boolean && a.truth) return a;
    if (info(p).arity == 1) return a.form == Form::unknown ? a : elementwise(n, p, a, a);
    if (info(p).arity != 2) return {};
    const StaticValue b = evaluate(d_.child(n, 1));
    if (a.form == Form::unknown || b.form == Form::unknown) return {};
    return elementwise(n, p, a, b);
  }

  constexpr StaticValue elementwise(NodeId n, Primitive p, const StaticValue& a, const StaticValue& b) const {
    if (a.form != Form::row && b.form != Form::row) return scalar(n, p, a, b);
    if ((a.form != Form::row && a.form != Form::integer) || (b.form != Form::row && b.form != Form::integer)) return {};
    const std::size_t rank = a.form == Form::row ? a.row.rank : b.row.rank;
    if (a.form == Form::row && b.form == Form::row && a.row.rank != b.row.rank) {
      rank_mismatch(n, a.row.rank, b.row.rank);
      return {};
    }
    StaticValue out;
    const bool compares = p >= Primitive::eq && p <= Primitive::ge;
    out.form = compares ? Form::boolean : Form::row;
    out.truth = true;
    for (std::size_t i = 0; i < rank; ++i) {
      const StaticValue e = scalar(n, p, a.form == Form::row ? StaticValue::of(a.row[i]) : a,
                                   b.form == Form::row ? StaticValue::of(b.row[i]) : b);
      if (e.form == Form::unknown) return {};
      if (compares) out.truth = out.truth && e.truth;
      else out.row.push_back(e.integer);
    }
    return out;
  }

  constexpr void rank_mismatch(NodeId n, std::size_t a, std::size_t b) const {
    if (!diagnosis_.ok()) return;
    diagnosis_ = diagnose(d_.name, ": ", d_.at(n), " mixes rows of ", static_cast<std::int64_t>(a), " and ",
                          static_cast<std::int64_t>(b), " axes")
                     .at(d_.text, d_[n].text.begin);
  }

  constexpr StaticValue scalar(NodeId n, Primitive p, const StaticValue& a, const StaticValue& b) const {
    if (a.form == Form::boolean && b.form == Form::boolean) return logical(p, a.truth, b.truth);
    if (a.form == Form::symbol && b.form == Form::symbol) {
      if (p == Primitive::eq) return StaticValue::of_truth(a.symbol == b.symbol);
      if (p == Primitive::ne) return StaticValue::of_truth(a.symbol != b.symbol);
      return {};
    }
    if (a.form == Form::integer && b.form == Form::integer) return integers(n, p, a.integer, b.integer);
    const bool numbers = (a.form == Form::integer || a.form == Form::real) &&
                         (b.form == Form::integer || b.form == Form::real);
    if (!numbers) return {};
    return reals(p, a.form == Form::integer ? static_cast<double>(a.integer) : a.real,
                 b.form == Form::integer ? static_cast<double>(b.integer) : b.real);
  }

  static constexpr StaticValue logical(Primitive p, bool a, bool b) {
    switch (p) {
      case Primitive::logical_and: return StaticValue::of_truth(a && b);
      case Primitive::logical_or: return StaticValue::of_truth(a || b);
      case Primitive::logical_not: return StaticValue::of_truth(!a);
      case Primitive::eq: return StaticValue::of_truth(a == b);
      case Primitive::ne: return StaticValue::of_truth(a != b);
      default: return {};
    }
  }

  template <class T>
  static constexpr StaticValue compare(Primitive p, T a, T b) {
    switch (p) {
      case Primitive::eq: return StaticValue::of_truth(a == b);
      case Primitive::ne: return StaticValue::of_truth(a != b);
      case Primitive::lt: return StaticValue::of_truth(a < b);
      case Primitive::le: return StaticValue::of_truth(a <= b);
      case Primitive::gt: return StaticValue::of_truth(a > b);
      case Primitive::ge: return StaticValue::of_truth(a >= b);
      default: return {};
    }
  }

  constexpr StaticValue integers(NodeId n, Primitive p, std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    bool overflow = false;
    switch (p) {
      case Primitive::add: overflow = __builtin_add_overflow(a, b, &out); break;
      case Primitive::sub: overflow = __builtin_sub_overflow(a, b, &out); break;
      case Primitive::mul: overflow = __builtin_mul_overflow(a, b, &out); break;
      case Primitive::neg: overflow = __builtin_sub_overflow(std::int64_t{0}, a, &out); break;
      case Primitive::maximum: out = a > b ? a : b; break;
      case Primitive::minimum: out = a < b ? a : b; break;
      case Primitive::abs: out = a < 0 ? -a : a; break;
      case Primitive::sign: out = a > 0 ? 1 : a < 0 ? -1 : 0; break;
      case Primitive::floor_div:
      case Primitive::modulo:
        if (b <= 0) return not_positive(n, b);
        out = a / b;
        if (a % b < 0) --out;
        if (p == Primitive::modulo) out = a - out * b;
        break;
      default: return compare(p, a, b);
    }
    if (overflow) {
      fail(n, " does not fit 64 bits");
      return {};
    }
    return StaticValue::of(out);
  }

  constexpr StaticValue not_positive(NodeId n, std::int64_t b) const {
    if (diagnosis_.ok()) {
      diagnosis_ = diagnose(d_.name, ": ", d_.at(d_.child(n, 1)), " is ", b, " in ", d_.at(n), ", want a positive number")
                       .at(d_.text, d_[n].text.begin);
    }
    return {};
  }

  static constexpr StaticValue reals(Primitive p, double a, double b) {
    switch (p) {
      case Primitive::add: return StaticValue::of_real(a + b);
      case Primitive::sub: return StaticValue::of_real(a - b);
      case Primitive::mul: return StaticValue::of_real(a * b);
      case Primitive::neg: return StaticValue::of_real(-a);
      default: return compare(p, a, b);
    }
  }

  // --- rows and packs ---

  constexpr StaticValue join(NodeId n) const {
    const NodeId left = d_[n].first;
    const NodeId right = d_.child(n, 1);
    const StaticValue p = evaluate(left);
    const StaticValue q = evaluate(right);
    if (p.form == Form::unknown || q.form == Form::unknown) return {};
    Dims joined;
    if (p.form != Form::row || q.form != Form::row || !join_rows(p.row, q.row, joined)) {
      if (!diagnosis_.ok()) return {};
      diagnosis_ = diagnose(d_.name, ": ", d_.at(left), " is ");
      add_row(diagnosis_, p.row).add(" and ").add(d_.at(right)).add(" is ");
      add_row(diagnosis_, q.row).add(", which do not join").at(d_.text, d_[n].text.begin);
      return {};
    }
    return StaticValue::of_row(joined);
  }

  constexpr StaticValue builtin(NodeId n) const {
    const NodeId arg = d_[n].first;
    switch (static_cast<Builtin>(d_[n].op)) {
      case Builtin::size: {
        const StaticValue v = evaluate(arg);
        if (v.form != Form::row) return {};
        return size(n, v.row);
      }
      case Builtin::rank: {
        const StaticValue v = evaluate(arg);
        if (v.form != Form::row) return {};
        return StaticValue::of(static_cast<std::int64_t>(v.row.rank));
      }
      case Builtin::part: return part(n, arg);
      case Builtin::completed: return completed(n, arg);
      case Builtin::keep:
      case Builtin::only: return chosen(n, arg, static_cast<Builtin>(d_[n].op) == Builtin::keep);
      case Builtin::before: return pack_sum(arg, tag_member(arg));
      case Builtin::total: return pack_sum(arg, static_cast<int>(Names::capacity));
      case Builtin::count: return pack_count(arg);
      default: return {};
    }
  }

  constexpr StaticValue size(NodeId n, const Dims& row) const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < row.rank; ++i) {
      if (__builtin_mul_overflow(product, row[i], &product)) {
        fail(n, " does not fit 64 bits");
        return {};
      }
    }
    return StaticValue::of(product);
  }

  /// `part(..r, a, b)`: the axes a to b - 1 that the row has.
  constexpr StaticValue part(NodeId n, NodeId arg) const {
    const StaticValue r = evaluate(arg);
    const StaticValue a = evaluate(d_.child(n, 1));
    const StaticValue b = evaluate(d_.child(n, 2));
    if (r.form != Form::row || a.form != Form::integer || b.form != Form::integer) return {};
    Dims row;
    for (std::size_t i = 0; i < r.row.rank; ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      if (axis >= a.integer && axis < b.integer) row.push_back(r.row[i]);
    }
    return StaticValue::of_row(row);
  }

  /// `completed(..r, n)`: the row, its -1 replaced by the extent that makes its size n.
  constexpr StaticValue completed(NodeId n, NodeId arg) const {
    StaticValue r = evaluate(arg);
    const StaticValue wanted = evaluate(d_.child(n, 1));
    if (r.form != Form::row || wanted.form != Form::integer) return {};
    std::size_t open = r.row.rank;
    Dims others;
    for (std::size_t i = 0; i < r.row.rank; ++i) {
      if (r.row[i] != -1) {
        others.push_back(r.row[i]);
      } else if (open == r.row.rank) {
        open = i;
      } else {
        return incomplete(arg, r.row, ", at most one of them may be -1");
      }
    }
    if (open == r.row.rank) return r;
    const StaticValue known = size(n, others);
    if (known.form != Form::integer) return {};
    if (known.integer <= 0 || wanted.integer % known.integer != 0) {
      return incomplete(arg, r.row, ", which has no one extent for its -1 where the size is ", wanted.integer);
    }
    r.row[open] = wanted.integer / known.integer;
    return r;
  }

  template <class... Parts>
  constexpr StaticValue incomplete(NodeId arg, const Dims& row, const Parts&... why) const {
    if (!diagnosis_.ok()) return {};
    diagnosis_ = diagnose(d_.name, ": ", d_.at(arg), " is ");
    add_row(diagnosis_, row);
    (diagnosis_.add(why), ...);
    diagnosis_.at(d_.text, d_[arg].text.begin);
    return {};
  }

  /// `keep(..r, c)`: ones for r where c, otherwise no axes. `only(..r, c)`: r where c, otherwise no axes.
  constexpr StaticValue chosen(NodeId n, NodeId arg, bool ones) const {
    const StaticValue c = evaluate(d_.child(n, 1));
    if (c.form != Form::boolean) return {};
    if (!c.truth) return StaticValue::of_row({});
    StaticValue r = evaluate(arg);
    if (r.form == Form::integer) r = StaticValue::of_row(Dims{r.integer});
    if (r.form != Form::row) return {};
    if (ones) {
      for (std::size_t i = 0; i < r.row.rank; ++i) r.row[i] = 1;
    }
    return r;
  }

  constexpr StaticValue pack_sum(NodeId arg, int end) const {
    if (end < 0 || arg < 0) return {};
    std::int64_t sum = 0;
    for (int m = 0; m < end; ++m) {
      const Entry* e = names_.find(d_.at(arg), m);
      if (e == nullptr || !e->known) {
        const int a = d_.attribute_named(d_.at(arg));
        if (a < 0) break;
        if (m >= bindings_.of[a].size) break;
      }
      const std::int64_t one = e != nullptr && e->known ? e->value[0] : bindings_.of[d_.attribute_named(d_.at(arg))].list[m];
      if (__builtin_add_overflow(sum, one, &sum)) {
        fail(arg, ", summed, does not fit 64 bits");
        return {};
      }
    }
    return StaticValue::of(sum);
  }

  constexpr StaticValue pack_count(NodeId arg) const {
    const Entry* e = names_.find(d_.at(arg), -2);
    if (e != nullptr) return StaticValue::of(e->value[0]);
    const int a = d_.attribute_named(d_.at(arg));
    return a < 0 ? StaticValue{} : StaticValue::of(bindings_.of[a].size);
  }

  const Definition& d_;
  const Names& names_;
  const Bindings& bindings_;
  Diagnosis& diagnosis_;
  std::string_view tag_;
  int member_ = -1;
};

}  // namespace notation

}  // namespace etalon::spec
