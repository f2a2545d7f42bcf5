/// \file
/// What can be computed exactly over the rationals, found by asking the reference. It lists no function.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "reference/evaluate.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"
#include "spec/notation/definition.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

/// Whether the primitive has a rational value at these arguments; true of one that does not take or give reals.
inline bool has_rational_value(spec::Primitive p, std::vector<spec::Expr> arguments) {
  spec::System s;
  const spec::TensorId y = s.add_tensor("y", DType::f64, {});
  s.outputs = {y};
  try {
    const spec::Expr value = spec::apply(p, std::move(arguments));
    if (value.kind() != Kind::real) return true;
    s.define(y, {}, value);
    (void)reference::evaluate<reference::Rational>(s, std::span<const reference::Array<reference::Rational>>{});
    return true;
  } catch (const InternalError&) {
    return true;  // it takes no reals
  } catch (const Unsupported&) {
    return false;
  }
}

/// 5/2 and then 2s: roots and transcendental functions have no rational value there.
inline std::vector<spec::Expr> probes(spec::Primitive p) {
  std::vector<spec::Expr> all(spec::info(p).arity, spec::decimal(2));
  if (!all.empty()) all[0] = spec::decimal(25, -1);
  return all;
}

/// Whether the primitive takes rationals to rationals.
inline bool keeps_rationals(spec::Primitive p) { return has_rational_value(p, probes(p)); }

/// Whether no clause applies a function that leaves the rationals.
inline bool keeps_rationals(const spec::Definition& d) {
  return std::all_of(d.nodes, d.nodes + d.node_count, [](const spec::NodeText& node) {
    return node.form != spec::NodeForm::apply || keeps_rationals(static_cast<spec::Primitive>(node.op));
  });
}

inline bool is_constant(const spec::Expr& e) {
  bool constant = true;
  spec::for_each(e, [&](const spec::Expr& x) {
    constant = constant && x.form() != spec::Form::read && x.form() != spec::Form::variable;
  });
  return constant;
}

/// Whether no equation applies a function that leaves the rationals, with the constants that it applies it to (a power
/// of 1/3, say), or names an infinity or NaN.
inline bool keeps_rationals(const spec::System& system) {
  bool keeps = true;
  const auto visit = [&](const spec::Expr& x) {
    if (x.form() == spec::Form::number) keeps = keeps && (!x->number.is_binary || std::isfinite(x->number.binary));
    if (x.form() != spec::Form::apply || !keeps) return;
    std::vector<spec::Expr> arguments = probes(x->primitive);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (x->args[i].kind() == Kind::real && is_constant(x->args[i])) arguments[i] = x->args[i];
    }
    keeps = has_rational_value(x->primitive, std::move(arguments));
  };
  for (const spec::Equation& e : system.equations) spec::for_each(e.value, visit);
  return keeps;
}

}  // namespace etalon::test
