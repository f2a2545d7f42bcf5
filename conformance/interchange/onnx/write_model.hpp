/// \file
/// Models of ONNX and tensors as the bytes of their files. It knows no operator.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/interchange/onnx/model.hpp"

namespace etalon::conformance::onnx {

/// ONNX's number of the element type.
[[nodiscard]] std::int64_t type_of(DType dtype);

/// A file's bytes (ModelProto); `read_model` reads them back. What a model holds that is not offered is left out.
[[nodiscard]] std::string model_bytes(const Model& model);

/// The bytes of one tensor (TensorProto), as the files of ONNX's own tests hold them.
[[nodiscard]] std::string tensor_bytes(const std::string& name, const HostTensor& tensor);

}  // namespace etalon::conformance::onnx
