/// \file
/// An operation as Python holds it: a name, and the library in which it is defined.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "spec/library/library.hpp"

namespace etalon::python {

struct Operation {
  spec::Library library;
  std::string name;

  [[nodiscard]] const spec::Definition& definition() const { return library.named(name); }
};

/// The operation that is given, by itself or by its name. \throws SpecViolation naming the nearest one
[[nodiscard]] Operation operation_of(pybind11::handle given);

void bind_operation(pybind11::module_& module);

}  // namespace etalon::python
