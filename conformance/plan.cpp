#include "conformance/plan.hpp"

#include <algorithm>
#include <array>

#include "conformance/arrangement.hpp"
#include "conformance/case_instance.hpp"
#include "conformance/offer.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t factor(Tier tier) {
  switch (tier) {
    case Tier::quick:
      return 1;
    case Tier::full:
      return 8;
    case Tier::soak:
      return 64;
  }
  return 1;
}

/// Of derivatives as many cases as whole instances have: an instance of which only one is asked shows little, and costs a
/// backend as much.
constexpr std::size_t derivatives = (families_in_turn + draws_per_instance - 1) / draws_per_instance * draws_per_instance;

/// Cases of one operation, check and element type in the quick tier: at least `least`, then until so many elements are
/// planned, at most `most`.
struct Amount {
  Check check;
  std::size_t least, most, elements;
};

constexpr std::array<Amount, check_count> amounts{{
    {Check::value, families_in_turn, 70, 2000},
    {Check::jvp, derivatives, 70, 2000},
    {Check::vjp, derivatives, 70, 2000},
    {Check::step, 8, 8, 0},
    {Check::adjoint, 2, 2, 0},
    {Check::special, 6, 6, 0},
    {Check::rejection, 4, 4, 0},
    {Check::determinism, 3, 3, 0},
    {Check::second, 3, 3, 0},
    {Check::layout, 9, 9, 0},    // every kind of layout, some in two modes
    {Check::program, 8, 48, 0},  // of a backend with few operations most programs are passed over
    {Check::large, 3, 3, 0},     // three in the full tier, none in the quick one
}};

constexpr bool in_order() {
  for (std::size_t k = 0; k < check_count; ++k) {
    if (amounts[k].check != static_cast<Check>(k)) return false;
  }
  return true;
}
static_assert(in_order());

Unit unit_of(const spec::Definition& d, Check check, DType dtype, Tier tier) {
  const std::string operation(d.name);
  Amount amount = amounts[static_cast<std::size_t>(check)];
  if (check == Check::value) amount.least += std::max<std::size_t>(integer_cases(d), 1) - 1;
  const std::size_t times = check == Check::large ? factor(tier) / factor(Tier::full) : factor(tier);
  return {operation, check, dtype, amount.least * times, amount.most * times, amount.elements * times};
}

}  // namespace

bool belongs(Check check, spec::Mode mode) {
  switch (check) {
    case Check::jvp:
      return mode == spec::Mode::jvp;
    case Check::vjp:
    case Check::adjoint:
      return mode == spec::Mode::vjp;
    case Check::second:
      return mode == spec::Mode::jvp_of_vjp;
    default:
      return mode == spec::Mode::forward;
  }
}

std::vector<Unit> plan(const ConformOptions& options) {
  std::vector<Unit> units;
  const auto wanted = [&](Check check) {
    const auto& checks = options.checks;
    if (!checks.empty() && std::find(checks.begin(), checks.end(), check) == checks.end()) return false;
    return options.modes.empty() ||
           std::any_of(options.modes.begin(), options.modes.end(), [&](spec::Mode m) { return belongs(check, m); });
  };
  std::vector<DType> dtypes = options.dtypes;
  if (dtypes.empty()) {
    dtypes = {DType::f32, DType::f64};
    if (options.tier != Tier::quick) dtypes.insert(dtypes.end(), {DType::f16, DType::bf16});
  }
  std::size_t turn = 0;
  for (const spec::Definition* d : options.library.definitions()) {
    const std::string name(d->name);
    const bool chosen = options.operations.empty() || std::find(options.operations.begin(), options.operations.end(),
                                                                name) != options.operations.end();
    if (!chosen || turn++ % options.shard.count != options.shard.index - 1) continue;
    // All checks of one element type together: they ask about the same instances, which a backend compiles once.
    for (const DType dtype : dtypes) {
      for (std::size_t k = 0; k < check_count; ++k) {
        const auto check = static_cast<Check>(k);
        if (!wanted(check) || (check == Check::step && state_links(*d).empty())) continue;
        const Unit unit = unit_of(*d, check, dtype, options.tier);
        if (unit.least_cases > 0) units.push_back(unit);
      }
    }
  }
  return units;
}

std::vector<Unit> offered(std::vector<Unit> units, const spec::Description& description) {
  std::erase_if(units, [&](const Unit& unit) {
    if (!offers(description, unit.operation) || !offers(description, unit.dtype)) return true;
    switch (unit.check) {
      case Check::value:
      case Check::step: return !offers(description, spec::Mode::forward);
      case Check::jvp: return !offers(description, spec::Mode::jvp);
      case Check::vjp: return !offers(description, spec::Mode::vjp);
      case Check::adjoint: return !offers(description, spec::Mode::jvp) || !offers(description, spec::Mode::vjp);
      case Check::second: return !offers(description, spec::Mode::jvp_of_vjp);
      case Check::layout: return !description.layouts;
      case Check::rejection: return !description.rejects;
      default: return false;
    }
  });
  return units;
}

}  // namespace etalon::conformance
