#include "conformance/flat_steps.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "spec/system/simplify.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

[[nodiscard]] bool is_step(const Expr& e) {
  return e.kind() == Kind::real && (e.is(Primitive::floor) || e.is(Primitive::ceil) || e.is(Primitive::trunc) ||
                                    e.is(Primitive::round) || e.is(Primitive::sign));
}

[[nodiscard]] Expr sloping(const Expr& e, bool& any) {
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(sloping(a, any));
  const Expr same = with_args(e, std::move(args));
  if (!is_step(e)) return same;
  any = true;
  return spec::detach(same) + (same->args[0] - spec::detach(same->args[0]));
}

}  // namespace

std::optional<spec::System> with_sloping_steps(const spec::System& system, std::size_t inputs, std::size_t outputs) {
  spec::System primal = system;
  primal.inputs.resize(inputs);
  primal.outputs.resize(outputs);
  spec::remove_dead(primal);
  bool any = false;
  for (spec::Equation& q : primal.equations) q.value = sloping(q.value, any);
  if (!any) return std::nullopt;
  return primal;
}

}  // namespace etalon::conformance
