/// \file
/// A backend in a process of its own that speaks Protocol 1 on its standard streams. Whatever the process does is an
/// answer: a crash, a hang or garbage is one finding, the process is started afresh, and the next question is asked.
#pragma once

#include <memory>
#include <string>

#include "conformance/isolation/child_process.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// The backend that `command` (run by the shell) starts.
/// \param name stands in messages; the command's own without it
/// \throws IoError when it does not describe itself: with its exit status and its last words.
[[nodiscard]] std::unique_ptr<spec::Backend> make_exec_backend(const std::string& command, const Limits& limits = {},
                                                               const std::string& name = {});

}  // namespace etalon::conformance
