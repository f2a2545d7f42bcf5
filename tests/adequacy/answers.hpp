/// \file
/// What the mutants of one system answer. Its sound values are kept, so that a mutant costs what comes behind its
/// change. It knows no envelope.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "reference/array.hpp"
#include "reference/selection.hpp"
#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

/// What real outputs are rounded to: their own types, or more than those hold.
enum class Stored : std::uint8_t { as_typed, binary64 };

class Answers {
 public:
  using Tensors = std::vector<HostTensor>;

  Answers(const spec::System& system, Tensors inputs);

  /// The outputs in double, each element rounded to its type. \throws SpecViolation where there are none
  [[nodiscard]] const Tensors& sound();

  /// The same with the change; nothing where not even the tensor differs that is changed. \throws SpecViolation where
  /// it has no answer, InternalError where it is no mutant, since it reads beyond a tensor or reduces over nothing
  [[nodiscard]] std::optional<Tensors> quick(const Change& change);

  /// Whether an output from the first one on is, or depends on, an element of the tensor.
  [[nodiscard]] bool is_needed(spec::TensorId tensor, std::size_t first_output);

  /// The elements asked for of the exact outputs with the change, each rounded once to its type; others are 0. Nothing
  /// where no precision decides them.
  [[nodiscard]] std::optional<Tensors> exact(const Change& change, const reference::Selection& asked,
                                             Stored stored = Stored::as_typed) const;

 private:
  using Values = std::vector<reference::Array<double>>;

  [[nodiscard]] const Values& values();
  [[nodiscard]] const std::vector<bool>& dependent(spec::TensorId from);
  [[nodiscard]] std::optional<Tensors> behind(const std::vector<spec::Equation>& equations, spec::TensorId from,
                                              const HostTensor* given);
  [[nodiscard]] std::optional<Tensors> numbers_changed(spec::TensorId t, const NumberChange& change);
  [[nodiscard]] std::optional<Tensors> sum_changed(std::size_t equation, DType type);

  const spec::System& system_;
  spec::System nameless_;  ///< its tensors alone: what evaluating single equations starts from
  Tensors inputs_;
  std::optional<Values> values_;  ///< of every tensor
  std::optional<Tensors> sound_;
  std::vector<std::vector<spec::TensorId>> reads_;         ///< by equation
  std::map<spec::TensorId, std::vector<bool>> dependent_;  ///< by tensor and tensor
};

}  // namespace etalon::adequacy
