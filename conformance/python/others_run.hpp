/// \file
/// What is computed without the interpreter's lock: others run meanwhile, and a signal such as Ctrl-C ends it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "reference/interruptible.hpp"

namespace etalon::python {

/// What ends the interpreter's work, such as KeyboardInterrupt: no failure of what is computed. It is no std::exception,
/// so that nobody on the way takes it for one; `exceptions.cpp` gives it back to the interpreter.
struct Interrupted {
  std::shared_ptr<pybind11::error_already_set> error;
};

/// Lets the interpreter handle its signals. Needs its lock. \throws Interrupted
void handle_signals();

/// While it lives the interpreter's lock is free, and what the reference computes on this thread ends with Interrupted
/// where a signal says so. Signals are the main thread's.
class OthersRun {
 private:
  pybind11::gil_scoped_release released_;
  reference::Interruptible interruptible_{[] {
    const pybind11::gil_scoped_acquire lock;
    handle_signals();
  }};
};

}  // namespace etalon::python
