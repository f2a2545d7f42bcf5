/// \file
/// Programs and runs that the tests of logs share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/program/program.hpp"
#include "tools/log/log.hpp"

namespace etalon::logging::tests {

/// The file that generated programs say they are from.
inline constexpr const char* file = "long.txt";

/// A program of so many calls, of many operations, in nested sections, on the lines of its text: call k gives `v<k>`.
[[nodiscard]] std::string long_program(std::size_t calls);

/// The line on which call k stands, from 1.
[[nodiscard]] std::size_t line_of_call(std::size_t k);

[[nodiscard]] spec::Program parsed(const std::string& text);

/// Numbers for a program's inputs: constants are what they are, integers 0, reals between -1 and 1.
[[nodiscard]] std::vector<HostTensor> some_inputs(const spec::Program& program);

[[nodiscard]] Log on_reference(const std::string& program, const std::vector<std::string>& names = {});
/// On the compiled backend, or on the reference where there is none.
[[nodiscard]] Log on_cpu(const std::string& program, const std::vector<std::string>& names = {});

/// The same of a program on given inputs.
[[nodiscard]] Log logged_on_reference(const spec::Program& program, const std::vector<HostTensor>& inputs, const std::vector<std::string>& names = {});
[[nodiscard]] Log logged_on_cpu(const spec::Program& program, const std::vector<HostTensor>& inputs, const std::vector<std::string>& names = {});

/// The held tensor of that name.
[[nodiscard]] HostTensor& held(Log& log, const std::string& name);

}  // namespace etalon::logging::tests
