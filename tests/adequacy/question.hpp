/// \file
/// One question of the suite to many mutants: its system and envelope are made once, and only where a mutant needs
/// them.
#pragma once

#include <optional>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/schemas.hpp"
#include "conformance/undifferentiable.hpp"
#include "reference/bounds/envelope.hpp"
#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

/// What a change does to the answer: nothing at all, something that the suite admits, or what it convicts.
enum class Effect : std::uint8_t { none, admitted, killed };

class Question {
 public:
  /// \throws SpecViolation for an ill-typed case
  Question(conformance::Case c, const spec::Contract& contract);

  [[nodiscard]] const spec::System& system() const { return system_; }
  [[nodiscard]] std::vector<Change> changes() const;
  [[nodiscard]] Effect effect(const Change& change);

 private:
  using Tensors = std::vector<HostTensor>;

  void keep_values(Tensors& answer, Tensors& sound) const;
  [[nodiscard]] bool convicts(const Tensors& answer);
  [[nodiscard]] Tensors& sound(bool exact);

  conformance::Case case_;
  const spec::Contract& contract_;
  spec::Instance instance_;
  spec::System system_;
  Tensors inputs_;
  std::optional<reference::Envelopes> bounds_;
  std::optional<conformance::Freedoms> freedoms_;
  std::optional<std::vector<conformance::Schema>> schemas_;
  std::optional<Tensors> sound_quick_, sound_exact_;
};

}  // namespace etalon::adequacy
