#include "spec/library/library.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/nearest.hpp"

namespace etalon::spec {

namespace {

/// Parsed when first asked for: 8 kB each, and a program names few.
template <class Op>
const Definition& entry() {
  static const Definition definition = parsed<Op>();
  return definition;
}

/// The members of the family that a definition's text names.
template <class Op>
const std::vector<Definition>& members() {
  static const std::vector<Definition> named = [] {
    const Definition& family = entry<Op>();
    std::vector<Definition> all;
    for (std::size_t i = 0; i < family.family_count; ++i) all.push_back(member_of(family, family.at(family.family[i].name)));
    return all;
  }();
  return named;
}

template <class Op>
void append_with_members(std::vector<const Definition*>& all) {
  all.push_back(&entry<Op>());
  for (const Definition& member : members<Op>()) all.push_back(&member);
}

template <class... Ops>
void append(std::vector<const Definition*>& all, OperationList<Ops...>) {
  (append_with_members<Ops>(all), ...);
}

std::vector<const Definition*> make_library() {
  std::vector<const Definition*> all;
  append(all, ops::ActivationsOperations{});
  append(all, ops::AttentionOperations{});
  append(all, ops::ComparisonsOperations{});
  append(all, ops::ConvolutionOperations{});
  append(all, ops::ElementwiseFunctionsOperations{});
  append(all, ops::ElementwiseOperations{});
  append(all, ops::IndexingOperations{});
  append(all, ops::LinearOperations{});
  append(all, ops::LossesOperations{});
  append(all, ops::NormalisationOperations{});
  append(all, ops::OptimizersOperations{});
  append(all, ops::PoolingOperations{});
  append(all, ops::RandomOperations{});
  append(all, ops::RecurrentOperations{});
  append(all, ops::ReductionsOperations{});
  append(all, ops::ShapeOperations{});
  std::sort(all.begin(), all.end(), [](const Definition* a, const Definition* b) { return a->name < b->name; });
  return all;
}

}  // namespace

std::span<const Definition* const> library() {
  static const std::vector<const Definition*> all = make_library();
  return all;
}

const Definition* find_definition(std::string_view name) {
  const auto all = library();
  const auto at = std::lower_bound(all.begin(), all.end(), name,
                                   [](const Definition* d, std::string_view n) { return d->name < n; });
  return at != all.end() && (*at)->name == name ? *at : nullptr;
}

const Definition& definition_named(std::string_view name) {
  if (const Definition* d = find_definition(name)) return *d;
  std::vector<std::string> names;
  for (const Definition* d : library()) names.emplace_back(d->name);
  throw SpecViolation(unknown_name("operation", name, names));
}

}  // namespace etalon::spec
