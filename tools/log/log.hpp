/// \file
/// A log: a program, what it was given, and the numbers that a backend held while it ran. It knows no format and runs nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/contract/contract.hpp"
#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"
#include "spec/system/system.hpp"

namespace etalon::logging {

/// The equations of a program, in the order in which a log shows them.
struct Meaning {
  spec::Program program;            ///< every extent a number
  spec::System system;              ///< its outputs are the program's, then the values of its updates
  std::vector<std::size_t> steps;   ///< per equation, the step it stands for; the number of steps for copies that updates need
};

/// \throws SpecViolation for an ill-typed program.
[[nodiscard]] Meaning meaning_of(const spec::Program& program);

struct Log {
  std::string file;                                ///< of the program
  std::string backend;
  spec::Contract contract;                         ///< by which its numbers are judged
  std::size_t elements = 8;                        ///< of each assignment that are shown with their operands
  Meaning meaning;
  std::vector<HostTensor> inputs;                  ///< as given, one per input of the program
  std::vector<std::optional<HostTensor>> values;   ///< per tensor of the system, what the backend held; nothing where it was not asked for

  /// What was held or given under this number.
  [[nodiscard]] const HostTensor* value(spec::TensorId tensor) const;
  /// Per tensor of the system, whether there is a value of it.
  [[nodiscard]] std::vector<bool> held() const;
};

/// Whether two programs say the same; files, lines and sections do not count.
[[nodiscard]] bool same_program(const spec::Program& a, const spec::Program& b);

/// The digest of the program's text without files, lines and sections: `sha256:…`.
[[nodiscard]] std::string digest_of(const spec::Program& program);

/// The step as the program says it: `p = softmax(h) {axis = -1}`.
[[nodiscard]] std::string summary_of(const spec::Program& program, std::size_t step);
/// Where it stands; empty for no step.
[[nodiscard]] spec::Source source_of(const spec::Program& program, std::size_t step);

/// Tensors that equations define and that the names select: the value of that name with all that assignments make of
/// it, or a local such as `h.top`. Without names all.
/// \throws SpecViolation naming the nearest value.
[[nodiscard]] std::vector<spec::TensorId> selected(const spec::System& system, const std::vector<std::string>& names);

/// `h[0, 3]`: an element by its row-major position; a scalar by its name.
[[nodiscard]] std::string element_name(const std::string& tensor, const Dims& dims, std::size_t position);
/// One number, in the form in which it reads back.
[[nodiscard]] std::string element_text(const HostTensor& tensor, std::size_t position);

}  // namespace etalon::logging
