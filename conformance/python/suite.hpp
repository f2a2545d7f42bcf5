/// \file
/// The conformance suite over a Python callable: runs, single cases, reports. It asks and judges by the suite alone.
#pragma once

#include <pybind11/pybind11.h>

namespace etalon::python {

void bind_suite(pybind11::module_& module);

}  // namespace etalon::python
