/// \file
/// What the definitions and a contract admit as the answer of a request: for the judge, for the suite and for those who
/// ask for bounds the same. It knows no operation by name, and no backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/one_call.hpp"
#include "conformance/question.hpp"
#include "conformance/schemas.hpp"
#include "conformance/undifferentiable.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// The ends of one tensor of an answer, element by element.
struct Ends {
  HostTensor lower, upper;          ///< f64 for reals, i64 for integers and truth values
  std::vector<std::uint8_t> flags;  ///< as in reference::Envelope
};

/// Those of an envelope.
[[nodiscard]] Ends ends_of(const reference::Envelope& envelope);

/// An answer is admitted where each of its tensors lies, as a whole, in the bounds of the equations or of another way to
/// compute them (conformance/schemas.hpp), and in what undifferentiable values leave open.
class Admissible {
 public:
  /// \throws SpecViolation when the program is ill-typed, or the inputs do not fit.
  Admissible(spec::Request request, spec::Contract contract);

  [[nodiscard]] const Question& question() const { return question_; }
  /// Of the tensors of an answer, in the order of the system's outputs.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The bounds of the equations alone. What lies in them is admitted.
  [[nodiscard]] const reference::Envelopes& meaning() const { return meaning_; }
  /// The bounds that these tensors are held to: of the way to compute that explains each of them best.
  [[nodiscard]] reference::Envelopes bounds_for(std::span<const HostTensor> got);
  /// Per output of the system, ends that no admitted answer leaves: the hull over all ways to compute it.
  [[nodiscard]] std::vector<Ends> hull();

 private:
  void find_other_ways();
  /// Beside values and cotangents that are no numbers there is no second derivative to hold anybody to.
  [[nodiscard]] bool is_open_beside(const std::vector<std::vector<std::uint8_t>>& flags) const;
  /// Whether the output's value or derivative goes through a call that may be computed in ways that no schema here shows.
  [[nodiscard]] bool hides_parts(std::size_t output) const;
  [[nodiscard]] std::size_t first_second_derivative() const;

  spec::Request request_;
  spec::Contract contract_;
  Question question_;
  reference::Envelopes meaning_;
  std::optional<std::vector<Schema>> schemas_;  ///< once they were needed
  Freedoms freedoms_;
  std::vector<bool> parts_;  ///< per output of the program; empty where the schemas show all parts
};

}  // namespace etalon::conformance
