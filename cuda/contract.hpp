/// \file
/// What programs promise on a GPU. It holds no number of its own.
#pragma once

#include <string>
#include <string_view>

#include "spec/contract/contract.hpp"

namespace etalon::cuda {

/// The promises of a device: of functions that are the compiler's own what the contract `cpu` says, whose bits they have; of all others,
/// and of the rest, what a shipped contract says.
/// \param library the name of that contract, for the library that the device's texts are linked with
/// \param name what the contract is called
/// \throws SpecViolation naming the nearest shipped contract
[[nodiscard]] spec::Contract contract_of_device(std::string name, std::string_view library);

/// What a device promises where contractions of it may run on tensor cores: what the shipped contract `cuda-bf16` says of products and of how
/// they are added, all else as before. It is called as that device is, with `-bf16` behind.
[[nodiscard]] spec::Contract with_tensor_cores(spec::Contract promised);

}  // namespace etalon::cuda
