/// \file
/// What the definitions say of a request: the system of equations that answers it in its mode. It knows no backend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spec/backend.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// One list of tensors that a mode answers with, in the order of the system's outputs.
struct AnswerList {
  std::string name;           ///< outputs, tangents, cotangents, cotangent_tangents
  std::vector<bool> present;  ///< per entry of the list: whether the system has an output for it
  std::size_t first = 0;      ///< the system's output for the first present entry
};

/// The system for a request, its inputs in order (seeds included), and which of its outputs make up which list.
struct Question {
  spec::System system;
  std::vector<HostTensor> inputs;
  std::vector<AnswerList> lists;
  std::vector<std::size_t> tangents;  ///< positions of the inputs that are tangents
  std::size_t first_tangent = 0;      ///< of the outputs, those that are linear in the tangents begin here
  std::vector<std::size_t> absent;    ///< positions of the inputs that are seeds which the request leaves out: zeros

  /// Of the system's outputs.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The tensors of the lists in the order of the system's outputs.
  /// \returns what is wrong with a list that has others than it should; else nothing
  [[nodiscard]] std::string take(const spec::Numbers& numbers, std::vector<HostTensor>& got) const;
};

/// A seed that the request leaves out is an input too, which nothing reads.
/// \throws SpecViolation when the program is ill-typed.
[[nodiscard]] Question question_of(const spec::Request& request);

/// The same where calls share no reductions: the derivative of a backend that knows nothing of equal ones.
[[nodiscard]] Question unshared_question_of(const spec::Request& request);

/// The same with all terms of the seeds that the request leaves out: products with their zeros.
[[nodiscard]] Question literal_question_of(const spec::Request& request);

/// Takes the terms of absent seeds, positions of the inputs, out of the system.
void leave_out(spec::System& system, const std::vector<std::size_t>& absent);

/// Of equations that answer results and then the cotangents of the marked inputs, those of the real results being the last
/// inputs: these, and how the cotangents move along tangents of the marked inputs and of the given cotangents, which become
/// inputs; positions of those that are not given are added to `absent`.
void move_cotangents(spec::System& system, std::vector<HostTensor>& inputs, const std::vector<bool>& wrt,
                     const std::vector<std::optional<HostTensor>>& tangents,
                     const std::vector<std::optional<HostTensor>>& cotangent_tangents, std::vector<std::size_t>& absent);

}  // namespace etalon::conformance
