/// \file
/// Two logs of one program beside each other: each assignment judged on the operands that its own log holds, so that a
/// fault is found where it is made, and the first place where the logs differ in bits. It reads no file.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/log/log.hpp"

namespace etalon::logging {

/// An assignment whose result no conforming evaluation of its equation has.
struct Fault {
  std::size_t step = 0;       ///< of the program, from 0; the number of steps for copies that updates need
  std::string element;        ///< `h[0, 3]`, the first that is wrong
  std::string found;
  std::string expected;       ///< the exact value, as a double, or the integer
  std::string admitted;       ///< `[1.25, 1.2500001]`, and what else is
  std::string equation;
  std::string operands;       ///< of the element
  std::size_t offenders = 0;  ///< elements that are wrong
  std::string why;            ///< where there is more to say
};

/// How one log stands.
struct Judged {
  std::string backend;
  std::string contract;
  std::size_t assignments = 0;
  std::size_t elements = 0;     ///< compared with a bound
  std::size_t undecided = 0;    ///< for which the bound says nothing
  std::size_t left_out = 0;     ///< assignments that read an integer outside its range, which is a fault of its own
  double worst_ratio = 0;       ///< error over bound, of those inside
  std::vector<Fault> faults;    ///< in the order of the assignments
};

/// Where two logs first hold other bits.
struct Difference {
  std::size_t step = 0;
  std::string element;
  std::array<std::string, 2> values;
};

struct Comparison {
  spec::Program program;               ///< that of the first log
  std::array<Judged, 2> logs;
  std::size_t shared = 0;              ///< tensors that both hold
  std::optional<Difference> difference;
  [[nodiscard]] bool within_bounds() const { return logs[0].faults.empty() && logs[1].faults.empty(); }
};

/// \throws SpecViolation where there is nothing to compare: other programs, other inputs, nothing held, or an assignment
/// that takes too long to judge.
[[nodiscard]] Comparison compare(const Log& a, const Log& b);

/// \param names of the two logs.
[[nodiscard]] std::string to_text(const Comparison& comparison, const std::array<std::string, 2>& names);
/// One line of JSON.
[[nodiscard]] std::string to_json(const Comparison& comparison, const std::array<std::string, 2>& names);

}  // namespace etalon::logging
