/// \file
/// A call as Python writes it, as a case: operands in order, attributes by name, seeds of derivatives. It knows no
/// operation.
#pragma once

#include <pybind11/pybind11.h>

#include "conformance/case.hpp"
#include "conformance/python/operation.hpp"

namespace etalon::python {

/// A call of these operands: None for one that is left out, a list for a pack.
/// \throws pybind11::type_error or SpecViolation naming the operand, what was expected and what was found
[[nodiscard]] conformance::Case call_of(const Operation& operation, const pybind11::sequence& operands,
                                        const pybind11::dict& attributes);

/// Asks for the tangents of the results along these of the operands, which stand as the operands do; None for what
/// stays.
void ask_jvp(conformance::Case& call, const pybind11::sequence& tangents);

/// Asks for the cotangents of all real operands, given those of the results, one or several; None for no term.
void ask_vjp(conformance::Case& call, const pybind11::object& cotangents);

}  // namespace etalon::python
