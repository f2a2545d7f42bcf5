/// \file
/// Programs for Python: run on the reference, with the state that they keep, and the intervals of their outputs.
#pragma once

#include <pybind11/pybind11.h>

namespace etalon::python {

void bind_program(pybind11::module_& module);

}  // namespace etalon::python
