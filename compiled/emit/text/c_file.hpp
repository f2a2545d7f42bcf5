/// \file
/// A program as one translation unit in C99. It writes text; it compiles nothing.
#pragma once

#include <span>
#include <string>

#include "compiled/emit/text/program_text.hpp"

namespace etalon::compiled::source {

/// The text: functions that come with it, one static function per kernel, and one public function
/// `void NAME(const struct NAME_arguments *arguments)`, whose struct has a pointer per input, then one per output that is no update,
/// then the workspace; `NAME_workspace_bytes` is its size. All members are pointers to objects, so that where these have
/// one representation an array of pointers serves as well. It needs <math.h> and no other library.
[[nodiscard]] std::string c_file(const ProgramText& program);
/// Several programs in one text; their identifiers were claimed from one file's.
[[nodiscard]] std::string c_file(std::span<const ProgramText> programs);

}  // namespace etalon::compiled::source
