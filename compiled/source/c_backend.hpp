/// \file
/// The emitted C as a backend: what a C compiler makes of it runs behind the interface that every backend has.
#pragma once

#include <memory>

#include "compiled/backend.hpp"
#include "compiled/source/c_compiler.hpp"

namespace etalon::compiled::source {

/// A backend named `cpu-c`: each system is written as C99, compiled by the system's compiler and loaded. Its contract is that of
/// glibc's functions.
[[nodiscard]] std::unique_ptr<spec::Backend> make_c_backend(const CCompiler& compiler = {}, const CompileOptions& options = {});

/// One system through the compiler.
[[nodiscard]] Runner run_as_c(const spec::System& system, const CCompiler& compiler = {}, const CompileOptions& options = {});

}  // namespace etalon::compiled::source
