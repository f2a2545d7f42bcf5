/// \file
/// What a mutant is: one deliberate defect of a backend, with the real defect that it imitates. It knows nothing of how
/// a mutant is asked.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spec/backend.hpp"
#include "spec/system/system.hpp"

namespace etalon::mutants {

/// What a defect of the machinery around the kernels remembers from one request to the next.
struct Memory {
  std::size_t calls = 0;
  bool spoilt = false;
  std::optional<spec::Answer> last;
  std::map<std::string, spec::Request> first;
};

using Sound = std::function<spec::Answer(const spec::Request&)>;

/// A defect stands in one of four places; the others are null.
struct Mutant {
  std::string_view name;
  std::string_view defect;      ///< what the author of such a backend got wrong
  std::string_view history;     ///< who did, and what went wrong
  std::string_view operations;  ///< comma-separated: whose cases show it soonest
  /// Of the system that answers a request, before the compiler's passes.
  void (*rewrite)(spec::System&, spec::Mode) = nullptr;
  /// Of the system that is differentiated: the values stay sound, the derivatives do not.
  void (*primal)(spec::System&) = nullptr;
  /// Of the system after the passes.
  void (*after_passes)(spec::System&) = nullptr;
  /// In place of the sound backend's answer: wrong requests, wrong memory, wrong storage.
  spec::Answer (*respond)(const spec::Request&, const Sound&, Memory&) = nullptr;
};

}  // namespace etalon::mutants
