/// \file
/// Tensors of other frameworks by DLPack, https://dmlc.github.io/dlpack: those that lie in host memory. It knows no
/// framework.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "spec/host_tensor.hpp"

namespace etalon::python {

/// Whether the object offers DLPack.
[[nodiscard]] bool has_dlpack(pybind11::handle given);

/// The numbers of such a tensor, read where they lie, whatever their strides.
/// \param name what messages call it
/// \throws pybind11::type_error for another device, element type or rank than there is here
[[nodiscard]] HostTensor tensor_from_dlpack(pybind11::handle given, const std::string& name);

}  // namespace etalon::python
