#include <algorithm>
#include <set>

#include "reference/bounds/envelope.hpp"
#include "reference/bounds/plan.hpp"
#include "spec/half.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::System;

struct Uses {
  int reads = 0;
  bool injective = true;
  bool converts = false;  ///< a real of another type is made of it, in arithmetic of its own
  bool decides = false;   ///< an integer or a truth value is made of it
};

/// Whether an equation with such a target computes in another type than the tensor's.
bool in_other_type(DType target, DType read) { return kind_of(target) == Kind::real && kind_of(read) == Kind::real && target != read; }

bool plain(const std::vector<Expr>& indices, const std::vector<Binder>& scope) {
  std::set<spec::VariableId> seen;
  for (const Expr& i : indices) {
    if (i.form() == Form::variable) {
      if (!seen.insert(i->variable).second) return false;
    } else if (i.form() != Form::number) {
      return false;
    }
  }
  return std::all_of(scope.begin(), scope.end(), [&](const Binder& b) { return b.extent == 1 || seen.count(b.variable) != 0; });
}

void count(const System& s, DType target, const Expr& e, std::vector<Binder>& scope, std::vector<Uses>& uses) {
  if (e.form() == Form::read) {
    Uses& u = uses[static_cast<std::size_t>(e->tensor)];
    ++u.reads;
    u.injective = u.injective && plain(e->args, scope);
    u.converts = u.converts || in_other_type(target, s[e->tensor].dtype);
    u.decides = u.decides || kind_of(target) != Kind::real;
  }
  const std::size_t depth = scope.size();
  scope.insert(scope.end(), e->binders.begin(), e->binders.end());
  for (const Expr& a : e->args) count(s, target, a, scope, uses);
  scope.resize(depth);
}

/// Whether its arithmetic is that of another type, too: the 16-bit types compute in f32, of which all their numbers are.
bool in_other_arithmetic(DType target, DType read) {
  return in_other_type(spec::is_half(target) ? DType::f32 : target, spec::is_half(read) ? DType::f32 : read);
}

/// Whether it reads a tensor of an element type for which the predicate holds.
template <class Holds>
bool reads_any(const System& s, const Expr& e, const Holds& holds) {
  if (e.form() == Form::read && holds(s[e->tensor].dtype)) return true;
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return reads_any(s, a, holds); });
}

bool reads_reals(const System& s, const Expr& e) {
  return reads_any(s, e, [](DType read) { return kind_of(read) == Kind::real; });
}

/// Whether nothing would say, in the place of the read element, in which type integers became reals.
bool typeless(const System& s, DType target, const Expr& value) { return kind_of(target) != Kind::real && !reads_reals(s, value); }

/// Elements of real targets are made of elements of their own arithmetic alone: others are rounded before they are read.
Expr replace(const System& s, DType target, const Expr& e, const std::vector<const Equation*>& by) {
  if (e->args.empty() && e.form() != Form::read) return e;
  std::vector<Expr> args;
  args.reserve(e->args.size());
  for (const Expr& a : e->args) args.push_back(replace(s, target, a, by));
  if (e.form() == Form::read) {
    if (const Equation* q = by[static_cast<std::size_t>(e->tensor)]; q != nullptr && !in_other_arithmetic(target, s[e->tensor].dtype) && !typeless(s, target, q->value)) {
      spec::Substitution indices;
      for (std::size_t i = 0; i < q->binders.size(); ++i) indices[q->binders[i].variable] = args[i];
      return substitute(q->value, indices);
    }
  }
  return with_args(e, std::move(args));
}

bool is_closed(const Expr& e) {
  if (e.form() == Form::variable || e.form() == Form::read || e.form() == Form::reduce) return false;
  return std::all_of(e->args.begin(), e->args.end(), is_closed);
}

/// Nodes of an expression, where an element that is computed anew counts as what it is computed from.
std::size_t nodes(const Expr& e, const std::vector<std::size_t>& of_elements) {
  if (e.form() == Form::read) return of_elements[static_cast<std::size_t>(e->tensor)];
  std::size_t n = 1;
  for (const Expr& a : e->args) n += nodes(a, of_elements);
  return n;
}

/// Whether every tensor that e reads is finished, and nothing in it ranges over elements.
bool is_elementwise(const Expr& e, const std::vector<std::uint8_t>& finished) {
  if (e.form() == Form::reduce) return false;
  if (e.form() == Form::read && finished[static_cast<std::size_t>(e->tensor)] == 0) return false;
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return is_elementwise(a, finished); });
}

/// Whether a sum around it would take it for terms of its own.
bool opens_into_a_sum(const Expr& e) {
  if (e.form() == Form::select) return opens_into_a_sum(e->args[1]) || opens_into_a_sum(e->args[2]);
  if (e.form() == Form::detach || e.is(spec::Primitive::neg)) return opens_into_a_sum(e->args[0]);
  if (e.is(spec::Primitive::mul) || e.is(spec::Primitive::div)) {
    return std::any_of(e->args.begin(), e->args.end(), opens_into_a_sum);
  }
  return e.is(spec::Primitive::add) || e.is(spec::Primitive::sub);
}

/// A sum that stays one number: normal form opens no product of one factor into the terms of a sum.
Expr in_parentheses(System& system, const Expr& e) {
  return spec::reduce(spec::Reduction::prod, {system.bind("only", 1)}, spec::boolean(true), e);
}

}  // namespace

bool covers(const System& s, const Equation& q) {
  const Dims& dims = s[q.target].dims;
  if (q.binders.size() != dims.rank) return false;
  for (std::size_t i = 0; i < dims.rank; ++i) {
    if (q.place[i].form() != Form::variable || q.place[i]->variable != q.binders[i].variable) return false;
    if (q.binders[i].extent != dims[i]) return false;
  }
  return true;
}

System inline_single_uses(const System& system) {
  std::vector<Uses> uses(system.tensors.size());
  std::vector<int> writers(system.tensors.size(), 0);
  for (const Equation& q : system.equations) {
    std::vector<Binder> scope = q.binders;
    count(system, system[q.target].dtype, q.value, scope, uses);
    for (const Expr& p : q.place) count(system, system[q.target].dtype, p, scope, uses);
    ++writers[static_cast<std::size_t>(q.target)];
  }
  for (const auto& ends : {system.inputs, system.outputs}) {
    for (const spec::TensorId t : ends) uses[static_cast<std::size_t>(t)].reads = 2;
  }
  System result = system;
  result.equations.clear();
  result.equations.reserve(system.equations.size());
  std::vector<Equation> held(system.equations.size());
  std::vector<const Equation*> by(system.tensors.size(), nullptr);
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    Equation q = system.equations[i];
    const auto t = static_cast<std::size_t>(q.target);
    const DType dtype = system.tensors[t].dtype;
    q.value = replace(system, dtype, q.value, by);
    const bool narrow = spec::is_half(dtype);
    const bool converts = reads_any(system, q.value, [&](DType read) { return in_other_type(dtype, read); });
    // A constant that is stored is rounded there; inlined, it would pass for a part of the next constant (R0).
    const bool closed = is_closed(q.value);
    const bool loses_type = uses[t].decides && !reads_reals(system, q.value);
    const bool keeps_type = kind_of(dtype) == Kind::real && !narrow && !uses[t].converts && !converts && !loses_type;
    if (uses[t].reads == 1 && uses[t].injective && writers[t] == 1 && keeps_type && !closed && covers(system, q)) {
      held[i] = std::move(q);
      by[t] = &held[i];
    } else {
      result.equations.push_back(std::move(q));
    }
  }
  return result;
}

}  // namespace etalon::reference::bounds

namespace etalon::reference {

spec::System with_recomputed_elements(const spec::System& system) {
  using namespace bounds;
  std::vector<int> writers(system.tensors.size(), 0);
  for (const Equation& q : system.equations) ++writers[static_cast<std::size_t>(q.target)];
  // What is read once stands where it is read in any schema, and needs no parentheses there.
  std::vector<std::uint8_t> stays(system.tensors.size(), 0);
  for (const Equation& q : inline_single_uses(system).equations) stays[static_cast<std::size_t>(q.target)] = 1;
  System result = system;
  std::vector<std::uint8_t> finished(system.tensors.size(), 0);
  for (const spec::TensorId t : system.inputs) finished[static_cast<std::size_t>(t)] = 1;
  std::vector<std::size_t> sizes(system.tensors.size(), 1);
  std::vector<Equation> anew(result.equations.size());
  std::vector<const Equation*> by(system.tensors.size(), nullptr);
  for (std::size_t i = 0; i < result.equations.size(); ++i) {
    Equation& q = result.equations[i];
    const auto t = static_cast<std::size_t>(q.target);
    const DType dtype = system.tensors[t].dtype;
    const std::size_t size = nodes(q.value, sizes);
    const bool converts = reads_any(system, q.value, [&](DType read) { return in_other_arithmetic(dtype, read); });
    const bool elementwise = writers[t] == 1 && kind_of(dtype) == Kind::real && !spec::is_half(dtype) && !is_closed(q.value) &&
                             covers(system, q) && is_elementwise(q.value, finished) && !converts;
    q.value = replace(system, dtype, q.value, by);
    if (elementwise && size <= longest_recomputed) {
      sizes[t] = size;
      anew[i] = q;
      // Who computes a sum anew still adds it up before it is a term of his.
      if (stays[t] != 0 && opens_into_a_sum(q.value)) anew[i].value = in_parentheses(result, q.value);
      by[t] = &anew[i];
    }
    finished[t] = --writers[t] == 0 ? 1 : 0;
  }
  return result;
}

}  // namespace etalon::reference
