/// \file
/// The compiled backend with one defect. It knows how requests are answered, and no defect.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spec/backend.hpp"
#include "tests/mutants/mutant.hpp"

namespace etalon::mutants {

/// A backend that answers as the compiled one does, but for the mutant's defect.
class Mutated : public spec::Backend {
 public:
  /// Whether the defect may show in the answer to this request: false where the system stays what it was.
  [[nodiscard]] virtual bool touches(const spec::Request& request) = 0;
};

[[nodiscard]] std::unique_ptr<Mutated> make_mutant(const Mutant& mutant);

}  // namespace etalon::mutants
