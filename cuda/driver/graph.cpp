#ifdef ETALON_HAS_NVRTC

#include "cuda/driver/graph.hpp"

#include <fmt/format.h>

#include <variant>
#include <vector>

namespace etalon::cuda {

using compiled::Addresses;
using compiled::Command;
using compiled::Fill;
using compiled::Launch;
using compiled::Move;

namespace {

/// A graph in the making, which what was instantiated from it does not need.
class Nodes {
 public:
  explicit Nodes(const Queue& queue) : queue_(queue) { api().check(api().graph_create(&graph_, 0), "cuGraphCreate"); }
  ~Nodes() { (void)api().graph_destroy(graph_); }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  void add(const Command& command, const Kernels& kernels, const Addresses& at) {
    std::vector<CUgraphNode> after;
    for (const std::size_t before : command.after) after.push_back(nodes_[before]);
    nodes_.push_back(std::visit([&](const auto& one) { return added(one, after, kernels, at); }, command.does));
  }

  [[nodiscard]] CUgraphExec instantiated() const {
    CUgraphExec made = nullptr;
    api().check(api().graph_instantiate(&made, graph_, 0),
                fmt::format("cuGraphInstantiateWithFlags of {} commands", nodes_.size()));
    return made;
  }

 private:
  [[nodiscard]] const Api& api() const { return queue_.api; }

  [[nodiscard]] CUgraphNode added(const Launch& launch, const std::vector<CUgraphNode>& after, const Kernels& kernels,
                                  const Addresses& at) const {
    const Kernel& kernel = kernels[launch.kernel];
    Parameters parameters(launch, at);
    CUDA_KERNEL_NODE_PARAMS about{};
    about.func = kernel.function;
    about.gridDimX = kernel.blocks;
    about.blockDimX = kernel.threads;
    about.gridDimY = about.gridDimZ = about.blockDimY = about.blockDimZ = 1;
    about.sharedMemBytes = kernel.shared_bytes;
    about.kernelParams = parameters.data();
    CUgraphNode node = nullptr;
    api().check(api().graph_add_kernel_node(&node, graph_, after.data(), after.size(), &about),
                fmt::format("cuGraphAddKernelNode of {}", kernel.name));
    return node;
  }

  [[nodiscard]] CUgraphNode added(const Fill& fill, const std::vector<CUgraphNode>& after, const Kernels&,
                                  const Addresses& at) const {
    CUDA_MEMSET_NODE_PARAMS about{};
    about.dst = pointer(at.at(fill.memory));
    about.elementSize = 1;
    about.width = fill.memory.bytes;
    about.height = 1;
    CUgraphNode node = nullptr;
    api().check(api().graph_add_memset_node(&node, graph_, after.data(), after.size(), &about, queue_.context),
                fmt::format("cuGraphAddMemsetNode of {} bytes", fill.memory.bytes));
    return node;
  }

  /// One row: then nobody looks at pitches, which are limited where a row is not.
  [[nodiscard]] CUgraphNode added(const Move& move, const std::vector<CUgraphNode>& after, const Kernels&,
                                  const Addresses& at) const {
    CUDA_MEMCPY3D about{};
    about.srcMemoryType = about.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    about.srcDevice = pointer(at.at(move.from));
    about.dstDevice = pointer(at.at(move.to));
    about.WidthInBytes = move.to.bytes;
    about.Height = about.Depth = 1;
    CUgraphNode node = nullptr;
    api().check(api().graph_add_memcpy_node(&node, graph_, after.data(), after.size(), &about, queue_.context),
                fmt::format("cuGraphAddMemcpyNode of {} bytes", move.to.bytes));
    return node;
  }

  const Queue& queue_;
  CUgraph graph_ = nullptr;
  std::vector<CUgraphNode> nodes_;  ///< one per command
};

}  // namespace

Graph::Graph(const Queue& queue, const Kernels& kernels, const compiled::Script& script, const Addresses& at)
    : queue_(queue), commands_(script.commands.size()) {
  Nodes nodes(queue_);
  for (const Command& command : script.commands) nodes.add(command, kernels, at);
  graph_ = nodes.instantiated();
}

/// The driver keeps one that runs until it is done.
Graph::~Graph() {
  (void)queue_.api.ctx_set_current(queue_.context);
  (void)queue_.api.graph_exec_destroy(graph_);
}

void Graph::launch() const {
  queue_.api.check(queue_.api.graph_launch(graph_, queue_.stream),
                   fmt::format("cuGraphLaunch of {} commands", commands_));
}

}  // namespace etalon::cuda

#endif
