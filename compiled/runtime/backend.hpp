/// \file
/// The compiled CPU backend behind the interface that every backend has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiled/drawn.hpp"
#include "compiled/runtime/executable.hpp"
#include "spec/backend.hpp"

namespace etalon::compiled {

/// Outputs of one system for its inputs.
using Runner = std::function<std::vector<HostTensor>(std::span<const HostTensor>)>;
/// What was made of a system: a way to run it, and what that took, where the maker says so.
struct Runnable {
  Runnable(Runner by, std::optional<spec::Making> how = std::nullopt) : run(std::move(by)), making(how) {}  // NOLINT: a Runner is one
  Runner run;
  std::optional<spec::Making> making;
};
/// Makes a system into something that runs. \throws Unsupported for what it does not do.
using RunnerMaker = std::function<Runnable(const spec::System&)>;

/// A backend of that name, with the shipped contract of that name, of all modes and element types: each request is one system, and what
/// was made of a system serves the next request too.
[[nodiscard]] std::unique_ptr<spec::Backend> make_system_backend(std::string name, RunnerMaker make);

/// A backend of the device's name, on the device of the options. What it cannot do it refuses; it never hands work to another.
/// \param options with a device
/// \param contract what programs keep on the device
/// \param foresight how many requests it would know of, where a device brings programs that were built before one of them runs to code together
[[nodiscard]] std::unique_ptr<spec::Backend> make_device_backend(const CompileOptions& options, spec::Contract contract, std::size_t foresight = 0);

/// The backend named as what it promises, `cpu` unless the options say otherwise: every mode and element type, on the processor unless they
/// name a device.
/// \param drawing each system is compiled with decisions of its own that are drawn so
[[nodiscard]] std::unique_ptr<spec::Backend> make_cpu_backend(const CompileOptions& options = {}, const std::optional<Drawing>& drawing = std::nullopt);

}  // namespace etalon::compiled
