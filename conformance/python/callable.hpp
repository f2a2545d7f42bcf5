/// \file
/// A Python callable as a backend: it is given questions as dictionaries of arrays and answers with lists of arrays.
/// What the callable does to get there is Python's business. It judges nothing.
#pragma once

#include <pybind11/pybind11.h>

#include "spec/backend.hpp"

namespace etalon::python {

class CallableBackend final : public spec::Backend {
 public:
  /// \param answer of a question, a dictionary
  CallableBackend(pybind11::object answer, spec::Description description);

  [[nodiscard]] spec::Description describe() const override { return description_; }
  /// Takes the interpreter's lock. An exception of the callable is a refusal: `unsupported` for NotImplementedError,
  /// else an error. \throws Interrupted
  [[nodiscard]] spec::Answer run(const spec::Request& request) override;

 private:
  pybind11::object answer_;
  spec::Description description_;
};

}  // namespace etalon::python
