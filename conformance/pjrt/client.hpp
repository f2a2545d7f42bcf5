/// \file
/// A client of a PJRT plug-in, on the first device that it has: programs as text of StableHLO are compiled, and run on tensors of
/// the host. It knows no operation.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "conformance/pjrt/plugin.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::conformance::pjrt {

/// What a client compiled; the client outlives it.
struct Compiled {
  OwnedLoadedExecutable executable;
  std::size_t outputs = 0;
};

class ClientOnDevice {
 public:
  /// \throws IoError for a plug-in that is none or has no device, PluginError for what it says itself
  explicit ClientOnDevice(const std::string& path);
  ClientOnDevice(const ClientOnDevice&) = delete;
  ClientOnDevice& operator=(const ClientOnDevice&) = delete;

  [[nodiscard]] std::string platform_name() const;
  [[nodiscard]] std::string platform_version() const;

  /// \param text a module of StableHLO with a function `main` \throws PluginError
  [[nodiscard]] Compiled compile(std::string text) const;

  /// The outputs as the plug-in has them: their types and extents are its word, and to be judged.
  /// \throws PluginError for what the plug-in says, IoError for an output that is no tensor of ours, or none
  [[nodiscard]] std::vector<HostTensor> run(const Compiled& compiled, std::span<const HostTensor> inputs) const;

  [[nodiscard]] Plugin& plugin() { return plugin_; }

 private:
  [[nodiscard]] OwnedBuffer to_device(const HostTensor& tensor) const;
  [[nodiscard]] HostTensor to_host(const OwnedBuffer& buffer) const;
  [[nodiscard]] std::vector<OwnedBuffer> execute(const Compiled& compiled, const std::vector<OwnedBuffer>& arguments) const;

  Plugin plugin_;
  OwnedClient client_;
  Device* device_ = nullptr;
};

}  // namespace etalon::conformance::pjrt
