/// \file
/// What oneDNN computes of a request: outputs and cotangents. It knows no way to give them back.
#pragma once

#include <map>

#include "conformance/adapters/onednn/operations.hpp"

namespace etalon::onednn {

struct Answers {
  Results outputs;
  std::map<std::size_t, Tensor> cotangents;  ///< by input
};

/// The calls of a program one after the other; what they compute is told to the recording, if there is one.
/// \throws Gap for what is not offered, dnnl::error
[[nodiscard]] Answers answers_to(const Operations& operations, const etalon_request& request, Recording* recording = nullptr);

}  // namespace etalon::onednn
