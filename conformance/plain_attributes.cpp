#include "conformance/plain_attributes.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/shapes.hpp"

namespace etalon::conformance {
namespace {

/// A scalar real attribute: its name, its default where it has one, and what it is in the call.
struct RealAttribute {
  std::string name;
  std::optional<double> fallback, chosen;
};

std::vector<RealAttribute> real_attributes(const spec::Definition& d, const Assignment& assignment) {
  std::vector<RealAttribute> found;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    if (d.attributes[i].kind != spec::AttributeKind::real) continue;
    const auto levels = levels_of(d, d.attributes[i]);
    if (levels.empty()) continue;  // a list, or a pack
    RealAttribute& a = found.emplace_back(RealAttribute{std::string(d.at(d.attributes[i].name)), std::nullopt, std::nullopt});
    if (levels.front().name == "default") a.fallback = std::get<double>(levels.front().value);
    a.chosen = a.fallback;
    const auto given = assignment.attributes.find(a.name);
    if (given == assignment.attributes.end()) continue;
    if (const auto* x = std::get_if<double>(&given->second)) a.chosen = *x;
  }
  return found;
}

void choose(const spec::Definition& definition, Assignment& assignment, DType dtype, const std::string& name, double value) {
  Assignment changed = assignment;
  changed.attributes[name] = value;
  if (call_of(definition, changed, dtype)) assignment = std::move(changed);
}

/// Whether products of the number with others have hardly more digits than those.
bool has_few_digits(double x) {
  constexpr double steps = 8;
  return x * steps == std::floor(x * steps);
}

/// Whether the attribute hides sides of a comparison that are equal: by its digits, or as a factor 0 that is otherwise a share.
bool hides_ties(const RealAttribute& a) {
  if (!a.chosen) return false;
  const bool lost_share = *a.chosen == 0 && a.fallback && *a.fallback > 0 && *a.fallback < 1;
  return lost_share || !has_few_digits(*a.chosen);
}

}  // namespace

Assignment with_powers_of_two(const spec::Definition& definition, Assignment assignment, DType dtype) {
  int place = 0;
  for (const RealAttribute& a : real_attributes(definition, assignment)) {
    if (hides_ties(a)) choose(definition, assignment, dtype, a.name, std::ldexp(1.0, -1 - place++ % 3));
  }
  return assignment;
}

Assignment without_small_summands(const spec::Definition& definition, Assignment assignment, DType dtype) {
  constexpr double small = 1e-3;
  for (const RealAttribute& a : real_attributes(definition, assignment)) {
    if (a.fallback && *a.fallback > 0 && *a.fallback <= small) choose(definition, assignment, dtype, a.name, 0.0);
  }
  return assignment;
}

}  // namespace etalon::conformance
