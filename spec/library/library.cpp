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

template <class... Ops>
void append(std::vector<const Definition*>& all, OperationList<Ops...>) {
  (all.push_back(&entry<Ops>()), ...);
}

std::vector<const Definition*> make_library() {
  std::vector<const Definition*> all;
  append(all, ops::ElementwiseOperations{});
  append(all, ops::LinearOperations{});
  append(all, ops::LossesOperations{});
  append(all, ops::NormalisationOperations{});
  append(all, ops::OptimizersOperations{});
  append(all, ops::RandomOperations{});
  append(all, ops::ReductionsOperations{});
  append(all, ops::ShapeOperations{});
  append(all, ops::WindowsOperations{});
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
