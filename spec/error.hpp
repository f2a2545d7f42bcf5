/// \file
/// The kinds of failure, by who is to blame; every message is one line of lower-case text that says
/// where, what was expected and what was found. It knows nothing about how a failure is shown.
#pragma once

#include <stdexcept>
#include <string>

namespace etalon {

/// The caller broke a rule of the specification: an ill-typed call, program or definition, or a bad value.
class SpecViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The backend (or this build) declines something that the specification allows.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file or a pipe failed or held something unreadable.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A device did not do what it was asked: its memory is full, or it failed.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Etalon itself is wrong.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace etalon
