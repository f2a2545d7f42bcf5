/// \file
/// Numbers and tensors as text that reads back bit for bit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spec/host_tensor.hpp"

namespace etalon::spec {

/// The shortest decimal that reads back as the same double, always with a point, an exponent, or `inf`, `-inf`, `nan`.
[[nodiscard]] std::string real_text(double value);

/// The elements in row-major order, `[1.5, -0.0]`, a scalar without brackets; floats as decimals, except that a NaN
/// with another payload than the default is written by its bits, `bits:7fc00001`.
[[nodiscard]] std::string elements_text(const HostTensor& tensor);

/// Writes the element that `token` names. \returns false when it does not name one of this type.
[[nodiscard]] bool read_element(std::string_view token, HostTensor& into, std::size_t position);

}  // namespace etalon::spec
