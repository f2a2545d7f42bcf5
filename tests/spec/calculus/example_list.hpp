/// \file
/// The list that the files of systems add their examples to. Internal to systems.cpp and its companions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/spec/calculus/systems.hpp"

namespace etalon::test {

struct ExampleList {
  std::vector<Example> all;

  void add(std::string name, spec::System system, std::int64_t low = 0, std::int64_t high = 1) {
    all.push_back({std::move(name), std::move(system), low, high});
  }
};

void add_systems_of_indices(ExampleList& to);
void add_systems_of_layers(ExampleList& to);
void add_systems_of_forms(ExampleList& to);

}  // namespace etalon::test
