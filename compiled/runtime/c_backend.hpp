/// \file
/// The emitted C as a backend: what a C compiler makes of it runs behind the interface that every backend has.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compiled/emit/text/c_compiler.hpp"
#include "compiled/runtime/backend.hpp"

namespace etalon::compiled::source {

/// A backend named `cpu-c`: each system is written as C99, compiled by the system's compiler and loaded. Its contract is that of
/// glibc's functions.
[[nodiscard]] std::unique_ptr<spec::Backend> make_c_backend(const CCompiler& compiler = {}, const CompileOptions& options = {});

/// Several systems through the compiler at once, which takes a fraction of the time of one after the other.
[[nodiscard]] std::vector<Runner> run_together_as_c(std::span<const spec::System> systems, const CCompiler& compiler = {},
                                                    const CompileOptions& options = {});

/// One system through the compiler.
[[nodiscard]] Runner run_as_c(const spec::System& system, const CCompiler& compiler = {}, const CompileOptions& options = {});

}  // namespace etalon::compiled::source
