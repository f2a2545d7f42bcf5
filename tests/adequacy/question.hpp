/// \file
/// One question of the suite to many mutants: its system, its envelopes and those of its other schemas are made once,
/// and only where a mutant needs them.
#pragma once

#include <optional>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/schemas.hpp"
#include "conformance/undifferentiable.hpp"
#include "reference/bounds/envelope.hpp"
#include "tests/adequacy/answers.hpp"
#include "tests/adequacy/changes.hpp"
#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

/// What a change does to the answer.
enum class Effect : std::uint8_t {
  undefined,  ///< it is no mutant here: it reads beyond a tensor without elements, divides an integer by 0, or has no answer
  none,       ///< no number differs
  unseen,     ///< numbers on the way differ, and no answer
  admitted,   ///< the suite admits what differs
  killed      ///< the suite convicts it
};

class Question {
 public:
  /// \throws SpecViolation for an ill-typed case
  Question(conformance::Case c, const spec::Contract& contract);

  [[nodiscard]] const spec::System& system() const { return system_; }
  /// Its inputs: operands, then directions.
  [[nodiscard]] const std::vector<HostTensor>& inputs() const { return inputs_; }
  [[nodiscard]] std::vector<Change> changes(const Wanted& wanted) const;
  /// What the change reads beyond a tensor is held inside from then on.
  [[nodiscard]] Effect effect(Change& change);
  /// Whether all that is given is finite.
  [[nodiscard]] bool is_finite() const;
  /// Whether the real numbers of all outputs are the same with the change, as far as binary64 tells.
  [[nodiscard]] bool is_identical(const Change& change) const;
  /// Why the change changes nothing, whatever the numbers are; nothing where that is not proved.
  [[nodiscard]] std::string why_equivalent(const Change& change);

 private:
  using Tensors = std::vector<HostTensor>;

  [[nodiscard]] std::optional<std::optional<Tensors>> quick(const Change& change);
  [[nodiscard]] Effect effect_of(Tensors answer, const Change& change);
  [[nodiscard]] Effect effect_of_rounding(const Change& change);
  void keep_values(Tensors& answer);
  [[nodiscard]] const reference::Envelopes& bounds();
  [[nodiscard]] const conformance::Freedoms& freedoms();
  [[nodiscard]] const reference::Envelopes& freed();
  [[nodiscard]] const std::vector<conformance::Schema>& schemas();
  [[nodiscard]] const reference::Envelopes& freed_schema(std::size_t k);
  [[nodiscard]] reference::Selection outside_all(const Tensors& answer);
  [[nodiscard]] bool is_convicted_as_a_whole(const Change& change);

  conformance::Case case_;
  const spec::Contract& contract_;
  spec::Instance instance_;
  spec::System system_;
  Tensors inputs_;
  Answers answers_;
  std::optional<reference::Envelopes> bounds_, freed_;
  std::optional<conformance::Freedoms> freedoms_;
  std::optional<std::vector<conformance::Schema>> schemas_;
  std::vector<reference::Envelopes> freed_schemas_;
};

}  // namespace etalon::adequacy
