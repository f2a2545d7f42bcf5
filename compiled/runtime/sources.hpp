/// \file
/// Where the values of a run's inputs come from, and whether they are what the program asks for. It knows no device.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiled/runtime/store.hpp"
#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"

namespace etalon::compiled {

/// The value of one input: a tensor of the host, or else an entry of a store.
struct InputSource {
  const HostTensor* tensor = nullptr;
  Store::Entry* entry = nullptr;
  bool constant = false;  ///< the same tensor at every run
};

/// The entry for an input. \throws SpecViolation where there is none, or one of another type
[[nodiscard]] Store::Entry& entry_of(const spec::Input& input, Store& store);

/// Per input: constants are the program's, then what is given, then what the store holds. All of them outlive what is returned.
/// \throws SpecViolation where an input is missing or of another type, or what is given is nothing that a run takes
[[nodiscard]] std::vector<InputSource> sources_of(const std::vector<spec::Input>& inputs, Store& store, const std::map<std::string, HostTensor>& given);
/// The same for tensors in the order of the inputs, constants among them or left out. \throws SpecViolation
[[nodiscard]] std::vector<InputSource> sources_of(const std::vector<spec::Input>& inputs, std::span<const HostTensor> given);

/// \throws SpecViolation for a tensor of another type or number of bytes than the input's.
void require_bytes(const spec::Input& input, const HostTensor& value);
/// \throws SpecViolation for an index outside of its range. \param data its value, in the host's memory
void require_range(const spec::Input& input, const std::byte* data);

}  // namespace etalon::compiled
