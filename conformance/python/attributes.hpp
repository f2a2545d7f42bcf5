/// \file
/// Values of attributes between Python and the library.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "spec/attribute.hpp"

namespace etalon::python {

/// Integers, reals, truth values, words, lists of numbers; an element type of NumPy or PyTorch is its word here.
/// \throws pybind11::type_error naming the attribute, what was expected and what was found
[[nodiscard]] spec::Attributes attributes_of(const pybind11::dict& given);

/// The values of a call as keyword arguments. \throws Unsupported for one that is a value of a program
[[nodiscard]] pybind11::dict keywords_of(const spec::Attributes& attributes);

}  // namespace etalon::python
