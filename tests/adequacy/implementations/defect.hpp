/// \file
/// What is wrong about an implementation of any operation: requests or answers spoilt by their form, between the suite
/// and an honest backend. It knows no operation.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "spec/backend.hpp"
#include "tests/mutants/mutant.hpp"

namespace etalon::adequacy {

using mutants::Sound;

/// What an implementation remembers from one request to the next; a copy costs little.
struct Past {
  std::map<std::string, std::shared_ptr<const spec::Request>> requests;
  std::map<std::string, std::shared_ptr<const spec::Answer>> answers;
};

struct Defect {
  std::string family;
  std::string what;
  std::function<spec::Answer(const spec::Request&, const Sound&, Past&)> respond;
};

/// Lines that are no whole number of blocks, extents that agree, ranks, nothing at all, positions of few bits.
[[nodiscard]] std::vector<Defect> defects_of_extents();
/// Strides and offsets.
[[nodiscard]] std::vector<Defect> defects_of_layouts();
/// Numbers on their way in and out, and attributes of calls of the operation.
[[nodiscard]] std::vector<Defect> defects_of_numbers(const std::string& operation);
/// Programs and answers found again by less than what they depend on; buffers that are shared, or not written.
[[nodiscard]] std::vector<Defect> defects_of_memory();
/// Cotangents that are lost, seeds that are not there.
[[nodiscard]] std::vector<Defect> defects_of_derivatives();

/// All of these, in this order. \param operation whose cases are asked
[[nodiscard]] std::vector<Defect> defects(const std::string& operation);

}  // namespace etalon::adequacy
