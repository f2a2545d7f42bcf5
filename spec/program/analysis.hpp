/// \file
/// What verification learns about a program, kept for those who need it next: types, and the instance of every call.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "spec/program/program.hpp"

namespace etalon::spec {

/// A verified program's types, and for every step that is a call its elaborated instance.
struct Analysis {
  std::map<std::string, ValueType> types;
  std::vector<std::optional<Instance>> instances;  ///< one per step; nothing for derivative steps
  std::vector<std::vector<std::string>> reads;     ///< one per step: the inputs of an assignment's instance by name
};

/// Verifies the program. \throws SpecViolation as `verify` does.
[[nodiscard]] Analysis analyse(const Program& program);

/// The instance of one call of an operation of `library` whose operands have the types that `types` says.
/// \throws SpecViolation naming the call and its source line.
[[nodiscard]] Instance instance_of(const Call& call, const std::map<std::string, ValueType>& types,
                                   const Library& library);

/// The names of the run-time attributes of a call, in the order of their inputs in its instance.
[[nodiscard]] std::vector<std::string> runtime_attributes(const Call& call);

/// The values that a call reads: its operands, then its run-time attributes.
[[nodiscard]] std::vector<std::string> values_read(const Call& call);

/// The end of a message: ` at step.txt:3 in section "encoder"`, as far as that is known.
[[nodiscard]] std::string at(const Source& source);

/// One line: `h = matmul(x, w)`, `g = vjp(loss; w)`.
[[nodiscard]] std::string summary(const Call& call);
[[nodiscard]] std::string summary(const Differentiate& step);
/// What is wrong with a call: the rule, and where it stands in the operation's definition.
[[nodiscard]] std::string in_definition(const Diagnosis& diagnosis);
/// The assignment as it is written.
[[nodiscard]] std::string summary(const Assign& step);

}  // namespace etalon::spec
