/// \file
/// What a contract admits of the answers to a request, in every mode: by the equations themselves and in every other way in
/// which their definitions let them be computed. Whoever judges answers or states bounds asks here. It asks no backend.
#pragma once

#include <optional>
#include <vector>

#include "conformance/components.hpp"
#include "conformance/hull.hpp"
#include "conformance/outcome.hpp"
#include "conformance/question.hpp"
#include "conformance/ways.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

using Elements = std::vector<std::vector<std::size_t>>;  ///< per tensor, row-major positions

/// Refers to its request and its contract. Tensors stand in the order of the request's question.
class Admissible {
 public:
  Admissible(const spec::Request& request, const spec::Contract& contract);

  /// \throws SpecViolation when the program is ill-typed, as all below.
  [[nodiscard]] const Question& question() const;

  /// By the equations of the definitions alone.
  [[nodiscard]] reference::Envelopes meaning() const;
  /// The same of the first elements of each tensor, as lists: no more is computed than these need.
  [[nodiscard]] reference::Envelopes meaning_of_first(std::size_t most) const;

  /// Whether the answer is admitted: each of its tensors as a whole in one of the ways, parts of the program that share no
  /// value each on their own. Other ways are looked at only as far as the answer needs them.
  [[nodiscard]] Outcome judge(const spec::Numbers& answer) const;

  /// The least boxes around everything that `judge` passes.
  [[nodiscard]] std::vector<Hull> hulls() const;

  /// The same one by one, of a program that is no more than one part: first what the equations mean, then every other way in
  /// which they let it be computed. \throws Unsupported for several parts
  [[nodiscard]] std::vector<reference::Envelopes> admitted() const;
  /// Everything that `judge` passes, as boxes; nothing for a program of several calls, and where too many decisions are open.
  [[nodiscard]] std::optional<Ways> ways() const;

  /// The same of these elements alone, each tensor a list. Values of one call cost what the elements are computed from, all
  /// else as much as the whole. A bound is called undecided by the wanted elements alone. \throws SpecViolation for an element
  /// that is not there
  [[nodiscard]] std::vector<Hull> hulls(const Elements& wanted) const;
  [[nodiscard]] std::vector<std::vector<Hull>> ways_of_elements(const Elements& wanted) const;
  /// Whether the lists are admitted; other elements are taken to be right.
  [[nodiscard]] Outcome judge(const std::vector<HostTensor>& lists, const Elements& wanted) const;

 private:
  [[nodiscard]] bool is_one_value() const;
  void check(const Elements& wanted) const;
  [[nodiscard]] std::string misfit(const std::vector<HostTensor>& lists, const Elements& wanted) const;

  const spec::Request& request_;
  const spec::Contract& contract_;
  std::vector<Component> parts_;  ///< none where the program is one
  mutable std::optional<Question> question_;
};

}  // namespace etalon::conformance
