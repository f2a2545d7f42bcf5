/// \file
/// What is wrong with the form of one answer: its line, its id, its tensors. It does not look at the numbers.
#pragma once

#include <optional>
#include <string>

#include "spec/backend.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {

/// Something wrong with an answer, and what to do about it.
struct Complaint {
  std::string kind;  ///< equal for the same fault
  std::string what;
  std::string advice;
};

/// The reply in the line, or a complaint about it.
/// \param id of the request
[[nodiscard]] std::optional<Complaint> read_answer(const std::string& line, const std::string& id, spec::Reply& into);

/// Whether the numbers are of the number, types and shapes that the definitions give the request.
[[nodiscard]] std::optional<Complaint> misshapen(const spec::Request& request, const spec::Numbers& numbers);

/// What is wrong with a refusal of a request that is well-typed, if anything.
[[nodiscard]] std::optional<Complaint> unjust(const spec::Refusal& refusal);

}  // namespace etalon::conformance
