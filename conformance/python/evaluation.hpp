/// \file
/// Values and derivatives of calls, correctly rounded or exact, for Python. What they are the reference knows.
#pragma once

#include <pybind11/pybind11.h>

namespace etalon::python {

void bind_evaluation(pybind11::module_& module);

}  // namespace etalon::python
