/// \file
/// A script on fixed addresses as a graph of the driver's, which is launched as a whole. It knows no program and
/// chooses no addresses. Without the toolkit there is nothing here.
#pragma once

#ifdef ETALON_HAS_NVRTC

#include "compiled/ir/script.hpp"
#include "compiled/runtime/device.hpp"
#include "cuda/driver/kernels.hpp"
#include "cuda/driver/queue.hpp"

namespace etalon::cuda {

/// An instantiated graph: one node per command, each after those that its command comes after, and no others.
class Graph {
 public:
  /// Nothing is asked of the stream, also where a call fails. \param kernels outlive it
  /// \throws DeviceError naming the call and the kernel
  Graph(const Queue& queue, const Kernels& kernels, const compiled::Script& script, const compiled::Addresses& at);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Asks the stream to run it after all that it was asked before. \throws DeviceError
  void launch() const;

 private:
  Queue queue_;
  std::size_t commands_;
  CUgraphExec graph_ = nullptr;
};

}  // namespace etalon::cuda

#endif
