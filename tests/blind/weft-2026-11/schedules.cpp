/// \file
/// Learning rates as functions of the number of steps made so far.
#include "call.hpp"
#include "defect.hpp"

namespace weft {
namespace {

constexpr Wide pi = 3.14159265358979323846264338327950288L;

Type type_of(const Call& c) { return type_named(c.word("dtype")); }
V wide(V x) { return cast(x, Type::f64); }
V number(const Call& c, const char* name) { return c.scalar(name, constant(c.g, Type::f64, 0)); }
V started(V step) { return binary(Op::maximum, wide(step), constant(*step.g, Type::f64, 0)); }

Results finished(const Call& c, V y) {
  const Type type = type_of(c);
  return {type == Type::f64 ? y : cast(store(cast(y, Type::f64)), type)};
}

Results constant_schedule(const Call& c) {
  const V y = c.scalar("value", constant(c.g, type_of(c), 0));
  return {y};
}

Results linear_schedule(const Call& c) {
  const V step = c.x();
  const Wide steps = c.real("steps");
  const V first = number(c, "initial");
  const V last = number(c, "final");
  V share = started(step) / steps;
  return finished(c, select(wide(step) >= steps, last, first + (last - first) * share));
}

Results cosine_schedule(const Call& c) {
  const V step = c.x();
  const Wide steps = c.real("steps");
  const V first = number(c, "initial");
  const V last = number(c, "final");
  const V wave = last + (first - last) * ((1 + unary(Op::cos, pi * (started(step) / steps))) / 2);
  if (defect("cosine-rises-again")) return finished(c, wave);
  return finished(c, select(wide(step) >= steps, last, wave));
}

Results warmup_schedule(const Call& c) {
  const V step = c.x();
  const V after = c.x(1);
  const Wide steps = c.real("steps");
  const V first = c.scalar("initial", after);
  const V peak = c.scalar("peak", after);
  return {select(wide(step) >= steps, after, first + (peak - first) * (started(step) / steps))};
}

Results staircase_schedule(const Call& c) {
  const V step = c.x();
  const V flights = unary(Op::floor, started(step) / c.real("every"));
  return finished(c, number(c, "initial") * binary(Op::pow, number(c, "gamma"), flights));
}

Results multistep_schedule(const Call& c) {
  const V step = c.x();
  const V m = c.x(1);
  const V reached = m <= step;
  const V count = reduce(Fold::sum, cast(reached, Type::f64), {0}, false);
  return finished(c, number(c, "initial") * binary(Op::pow, number(c, "gamma"), count));
}

Results exponential_schedule(const Call& c) {
  const V step = c.x();
  const V made = defect("rate-grows-before-the-first-step") ? wide(step) : started(step);
  return finished(c, number(c, "initial") * binary(Op::pow, number(c, "gamma"), made));
}

}  // namespace

void add_schedules(Table& t) {
  t["constant_schedule"] = constant_schedule;
  t["linear_schedule"] = linear_schedule;
  t["cosine_schedule"] = cosine_schedule;
  t["warmup_schedule"] = warmup_schedule;
  t["staircase_schedule"] = staircase_schedule;
  t["multistep_schedule"] = multistep_schedule;
  t["exponential_schedule"] = exponential_schedule;
}

}  // namespace weft
