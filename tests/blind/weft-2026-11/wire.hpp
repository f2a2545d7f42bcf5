/// \file
/// Tensors as the protocol writes them.
#pragma once

#include <nlohmann/json.hpp>

#include "tensor.hpp"

namespace weft {

Tensor decoded(const nlohmann::json& t);
nlohmann::json encoded(const Tensor& t);

}  // namespace weft
