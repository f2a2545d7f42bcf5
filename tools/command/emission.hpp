/// \file
/// What a program looks like on its way to code: one text per stage, and the sources that it can be emitted as.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/runtime/executable.hpp"
#include "spec/program/program.hpp"

namespace etalon::command {

/// A form that `etalon compile --emit` knows; all are texts but machine code.
struct EmittedForm {
  std::string_view name;
  std::string_view extension;  ///< of its file in a folder of all of them
  std::string_view what;       ///< one line for people
};

/// All of them, in the order in which they come from each other.
[[nodiscard]] const std::vector<EmittedForm>& emitted_forms();

/// What is emitted.
struct Emission {
  spec::Program program;
  std::string name;                  ///< of the program, for the sources' functions
  compiled::CompileOptions options;  ///< those of the compilation
  std::string architecture;          ///< of PTX, virtual, or of machine code, real; empty for the usual one
};

/// One form.
/// \throws SpecViolation for an unknown form or architecture, with the list of forms; Unsupported for PTX and machine code without NVRTC.
[[nodiscard]] std::string emitted(const Emission& emission, const std::string& form);

/// What was decided about the program on the way to that form: sources for a GPU are lowered for a grid.
/// \throws as emitted
[[nodiscard]] std::vector<compiled::DecisionLine> decided(const Emission& emission, const std::string& form);

/// Writes every stage's text and every form that this build has into a folder, in files whose numbers are their order.
/// \returns the names of the files.
/// \throws IoError naming the file.
std::vector<std::string> write_stages(const Emission& emission, const std::filesystem::path& folder);

}  // namespace etalon::command
