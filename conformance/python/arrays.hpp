/// \file
/// Between Python's arrays and tensors of the library: NumPy, the buffer protocol and DLPack in, NumPy out. Nothing is
/// promoted.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "spec/host_tensor.hpp"
#include "spec/placement.hpp"

namespace etalon::python {

/// The numbers of an array, a buffer or a tensor of host memory.
/// \param name what messages call it
/// \throws pybind11::type_error naming the argument, what was expected and what was found
[[nodiscard]] HostTensor tensor_of(pybind11::handle given, const std::string& name);

/// The tensor as a NumPy array that owns its memory. NumPy has no bf16: those are the bits, as int16.
[[nodiscard]] pybind11::array array_of(HostTensor tensor);

/// The tensor that lies so in a buffer of its own.
[[nodiscard]] pybind11::array array_of(const HostTensor& tensor, const spec::Placement& placement);

}  // namespace etalon::python
