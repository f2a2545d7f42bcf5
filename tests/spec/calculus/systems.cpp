#include "tests/spec/calculus/systems.hpp"

#include <stdexcept>

#include "tests/spec/calculus/example_list.hpp"

namespace etalon::test {

using namespace etalon::spec;

std::vector<Example> examples() {
  ExampleList list;
  add_systems_of_indices(list);
  add_systems_of_layers(list);
  add_systems_of_forms(list);
  return std::move(list.all);
}

System example(const std::string& name) {
  for (Example& e : examples()) {
    if (e.name == name) return e.system;
  }
  throw std::invalid_argument("no example " + name);
}

namespace {

std::int64_t points_of(const Expr& e) {
  std::int64_t total = 0;
  for (const Expr& a : e->args) total += points_of(a);
  if (e.form() != Form::reduce) return total;
  std::int64_t n = 1;
  for (const Binder& b : e->binders) n *= b.extent;
  return n * (1 + total);
}

}  // namespace

std::int64_t points(const System& system, std::size_t first) {
  std::int64_t total = 0;
  for (std::size_t i = first; i < system.equations.size(); ++i) {
    const Equation& e = system.equations[i];
    std::int64_t n = 1;
    for (const Binder& b : e.binders) n *= b.extent;
    total += n * (1 + points_of(e.value));
  }
  return total;
}

}  // namespace etalon::test
