#include "conformance/composer.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "conformance/shapes.hpp"
#include "conformance/sibling.hpp"

namespace etalon::conformance {
namespace {

/// Whether a list holds other numbers, not the same in another order.
bool lists_differ(const spec::Attributes& one, const spec::Attributes& other) {
  return std::any_of(one.begin(), one.end(), [&](const auto& a) {
    const auto b = other.find(a.first);
    const auto *x = std::get_if<std::vector<std::int64_t>>(&a.second), *y = b == other.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&b->second);
    return x != nullptr && y != nullptr && !std::is_permutation(x->begin(), x->end(), y->begin(), y->end());
  });
}

}  // namespace

// The last call once more, at the same types: on other numbers, or on what it gave.
void Composer::repeat_call() {
  const Assignment assignment = assignments_.back();
  const auto& last = std::get<spec::Call>(program_.steps.back());
  const auto types = call_of(wish_.library.named(last.operation), assignment, wish_.dtype);
  if (types) add(*types, results_for(*types, draw_.chance(0.5) ? 0.8 : 0), assignment);
}

// Keys that hold few digits, narrower numbers or not all attributes take it for the first call.
void Composer::add_nearly() {
  const auto& first = std::get<spec::Call>(program_.steps.front());
  const spec::Definition& d = wish_.library.named(first.operation);
  const auto before = call_of(d, assignments_.front(), wish_.dtype);
  std::optional<Assignment> assignment = with_other_digits(assignments_.front(), first.attributes);
  if (!before) return;
  if (!assignment || draw_.chance(0.3)) {
    if (auto other = with_another_attribute(d, assignments_.front(), *before)) assignment = std::move(other->assignment);
  }
  const auto types = assignment ? call_of(d, *assignment, wish_.dtype) : std::nullopt;
  if (types && types->operands == before->operands) add(*types, std::vector(first.operands), *assignment);
}

// Those are preferred whose results have the types of the first call's, and whose lists hold other numbers: keys that hold types
// do not tell them apart.
std::optional<Composer::Alike> Composer::with_another_attribute(const spec::Definition& d, const Assignment& assignment, const CallTypes& before) {
  // Of four kinds of siblings two change an attribute, of each place one of them.
  constexpr std::uint64_t kinds = 4, of_attributes = 1;
  constexpr int draws = 12;
  const spec::Instance first = instance_of(before, wish_.library);
  std::optional<Alike> found;
  for (int k = 0; k < draws && !(found && found->alike && found->tells); ++k) {
    const std::uint64_t bits = draw_.bits();
    auto other = sibling_of(d, assignment, kinds * (bits % kinds) + of_attributes + bits / kinds % 2, 0, draw_, wish_.dtype);
    const auto types = other ? call_of(d, *other, wish_.dtype) : std::nullopt;
    if (!types || types->operands != before.operands) continue;
    const spec::Instance second = instance_of(*types, wish_.library);
    const bool alike = second.results == first.results && second.attributes != first.attributes;
    const bool tells = lists_differ(first.attributes, second.attributes);
    if (!found || std::pair(alike, tells) > std::pair(found->alike, found->tells)) found = Alike{std::move(*other), alike, tells};
  }
  return found;
}

// Each of the two results has a cotangent of its own, and what they are made of the sum.
void Composer::add_once_more() {
  const Assignment assignment = assignments_.front();
  const auto& first = std::get<spec::Call>(program_.steps.front());
  const auto types = call_of(wish_.library.named(first.operation), assignment, wish_.dtype);
  if (types) add(*types, std::vector(first.operands), assignment);
}

std::optional<Assignment> Composer::with_other_digits(Assignment assignment, const spec::Attributes& complete) const {
  bool differs = false;
  for (const auto& [name, value] : complete) {
    const auto* x = std::get_if<double>(&value);
    if (x == nullptr || *x == 0 || !std::isfinite(*x)) continue;
    assignment.attributes[name] = *x * (1 + (wish_.dtype == DType::f64 ? 0x1p-40 : 0x1p-19));
    differs = true;
  }
  return differs ? std::optional(std::move(assignment)) : std::nullopt;
}

// The value under the first view is viewed otherwise, and the last call repeated on that: who keeps what it made of an operand
// may take one for the other.
void Composer::add_other_view() {
  if (!view_) return;
  const auto viewing = std::get<spec::Call>(program_.steps[viewing_]);
  const auto reading = std::get<spec::Call>(program_.steps.back());
  const auto& [view, type] = results_[*view_];
  const std::string old = view;
  if (std::find(reading.operands.begin(), reading.operands.end(), old) == reading.operands.end()) return;
  const Assignment choices = assignments_.back();
  std::optional<std::string> other = another_view(viewing, type);
  const auto types = other ? call_of(wish_.library.named(reading.operation), choices, wish_.dtype) : std::nullopt;
  if (!types) return;
  std::vector<std::optional<std::string>> taken = reading.operands;
  std::replace(taken.begin(), taken.end(), std::optional(old), other);
  add(*types, std::move(taken), choices);
}

std::optional<std::string> Composer::another_view(const spec::Call& viewing, const spec::ValueType type) {
  const spec::Definition& d = wish_.library.named(viewing.operation);
  const auto base = std::find_if(results_.begin(), results_.end(), [&](const auto& r) { return r.first == viewing.operands.front(); });
  if (base == results_.end()) return std::nullopt;
  const auto [name, of_base] = *base;
  constexpr int draws = 12;
  for (int k = 0; k < draws; ++k) {
    SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = false};
    wish.fit = Fit{0, {of_base.dims.begin(), of_base.dims.end()}};
    auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
    if (assignment && of_base.dtype != wish_.dtype) assignment->shared_type = of_base.dtype;
    const auto types = assignment ? call_of(d, *assignment, wish_.dtype) : std::nullopt;
    if (!types || types->operands.size() != viewing.operands.size() || types->operands.front() != of_base) continue;
    const spec::Instance instance = instance_of(*types, wish_.library);
    if (instance.results.front() != type || instance.attributes == viewing.attributes) continue;
    const std::size_t before = results_.size();
    std::vector<std::optional<std::string>> taken(viewing.operands.size());
    taken.front() = name;
    add(*types, std::move(taken), *assignment);
    if (results_.size() > before) return results_[before].first;
  }
  return of_base == type ? std::optional(name) : std::nullopt;
}

// Who keeps common subexpressions may take b - a for a - b.
void Composer::exchange_operands() {
  const Assignment assignment = assignments_.front();
  const auto& first = std::get<spec::Call>(program_.steps.front());
  const auto types = call_of(wish_.library.named(first.operation), assignment, wish_.dtype);
  if (!types) return;
  const auto& all = types->operands;
  const auto twin = std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; });
  if (twin == all.end()) return;
  std::vector<std::optional<std::string>> taken = first.operands;
  std::swap(taken[static_cast<std::size_t>(twin - all.begin())], taken[static_cast<std::size_t>(twin - all.begin()) + 1]);
  add(*types, std::move(taken), assignment);
}

}  // namespace etalon::conformance
