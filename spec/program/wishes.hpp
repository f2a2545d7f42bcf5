/// \file
/// What a program asks of its values besides their numbers: the words of it, what excludes what, and captured values as
/// outputs for those who run it. It plans nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/program.hpp"

namespace etalon::spec {

/// `capture`, `stored`, `inlined`: the words of programs.
[[nodiscard]] std::string_view word_of(Asked asked);
[[nodiscard]] std::optional<Asked> asked_by(std::string_view word);

/// `stored h`, with ` at net.cpp:3` where the line is known.
[[nodiscard]] std::string summary(const Wish& wish);

/// \param require_known throws for what is no value that may be read, given its name and who names it
/// \throws SpecViolation: one thing is asked twice of a value, or two that exclude each other, or that an input, output
/// or update is inlined; one line that names both with their source lines.
void check_wishes(const Program& program,
                  const std::function<void(const std::string&, const std::string&)>& require_known);

/// The names of captured values, in the order of their wishes.
[[nodiscard]] std::vector<std::string> captures(const Program& program);

/// The program with captured values as further outputs, behind its own; those that are outputs already stay where they
/// are.
[[nodiscard]] Program with_captures(Program program);

}  // namespace etalon::spec
