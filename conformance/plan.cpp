#include "conformance/plan.hpp"

#include <algorithm>

#include "conformance/shapes.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

std::size_t factor(Tier tier) {
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

Unit unit_of(const std::string& operation, Check check, DType dtype, std::size_t times) {
  Unit unit{operation, check, dtype, 1, 1, 0};
  switch (check) {
    case Check::value:
    case Check::jvp:
    case Check::vjp:
      unit.least_cases = 21 * times;  // every family of numbers
      unit.most_cases = 120 * times;
      unit.elements = 3000 * times;
      break;
    case Check::step:
      unit.least_cases = unit.most_cases = 8 * times;
      break;
    case Check::adjoint:
      unit.least_cases = unit.most_cases = 3 * times;
      break;
    case Check::special:
      unit.least_cases = unit.most_cases = 6 * times;
      break;
    case Check::rejection:
      unit.least_cases = unit.most_cases = 4 * times;
      break;
    case Check::determinism:
      unit.least_cases = unit.most_cases = 3 * times;
      break;
    case Check::second:
      unit.least_cases = unit.most_cases = 3 * times;
      break;
    case Check::layout:
      unit.least_cases = unit.most_cases = 5 * times;  // every kind of layout
      break;
    case Check::program:
      unit.least_cases = times;
      unit.most_cases = 40 * times;  // of a backend with few operations most programs are passed over
      break;
    case Check::large:
      unit.least_cases = unit.most_cases = 3 * (times / factor(Tier::full));  // none in the quick tier
      break;
  }
  return unit;
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
        const Unit unit = unit_of(name, check, dtype, factor(options.tier));
        if (unit.least_cases > 0) units.push_back(unit);
      }
    }
  }
  return units;
}

std::vector<Unit> offered(std::vector<Unit> units, const spec::Description& description) {
  const auto has = [](const auto& list, const auto& what) { return std::find(list.begin(), list.end(), what) != list.end(); };
  std::erase_if(units, [&](const Unit& unit) {
    switch (unit.check) {
      case Check::second: return !has(description.modes, spec::Mode::jvp_of_vjp);
      case Check::layout: return !description.layouts;
      case Check::program: return description.operations && !has(*description.operations, unit.operation);
      default: return false;
    }
  });
  return units;
}

}  // namespace etalon::conformance
