// Graphs of the driver that stands in (driver.cpp): nodes record what they do; a launched graph does it when the
// stream's turn comes, in an order that is drawn among those that the edges allow.
#include <cuda.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tests/stand_in/machine.hpp"

using etalon::test::copying;
using etalon::test::Deed;
using etalon::test::fails;
using etalon::test::launching;
using etalon::test::machine;
using etalon::test::setting;

struct CUgraphNode_st {
  Deed deed;
  std::vector<CUgraphNode> after;
};
struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};
/// Shared with what waits: it is gone when it is destroyed and done.
struct CUgraphExec_st {
  std::shared_ptr<const CUgraph_st> graph;
};

namespace {

void run(const CUgraph_st& graph) {
  std::set<const CUgraphNode_st*> done;
  while (done.size() < graph.nodes.size()) {
    std::vector<CUgraphNode_st*> ready;
    for (const auto& node : graph.nodes) {
      if (!done.contains(node.get()) &&
          std::ranges::all_of(node->after, [&](CUgraphNode before) { return done.contains(before); }))
        ready.push_back(node.get());
    }
    CUgraphNode_st* const next = ready[machine().course.draw() % ready.size()];
    next->deed();
    done.insert(next);
  }
}

/// Edges come from nodes of the same graph, each once.
CUresult add(CUgraphNode* made, CUgraph graph, const CUgraphNode* after, std::size_t count, Deed deed) {
  const std::vector<CUgraphNode> before(after, after + count);
  const auto is_here = [&](CUgraphNode node) {
    return std::ranges::any_of(graph->nodes, [&](const auto& one) { return one.get() == node; });
  };
  if (!std::ranges::all_of(before, is_here) || std::set(before.begin(), before.end()).size() != count)
    return CUDA_ERROR_INVALID_VALUE;
  graph->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{std::move(deed), before}));
  *made = graph->nodes.back().get();
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = new CUgraph_st;
  ++machine().told.graphs;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  delete graph;
  --machine().told.graphs;
  return fails() ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* about) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (about->func == nullptr || about->extra != nullptr || about->sharedMemBytes > about->func->most_shared)
    return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, after, count,
             launching(*about->func,
                       {{about->gridDimX, about->gridDimY, about->gridDimZ},
                        {about->blockDimX, about->blockDimY, about->blockDimZ},
                        about->sharedMemBytes},
                       about->kernelParams));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                              const CUDA_MEMCPY3D* about, CUcontext) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (about->srcMemoryType != CU_MEMORYTYPE_DEVICE || about->dstMemoryType != CU_MEMORYTYPE_DEVICE ||
      about->Height != 1 || about->Depth != 1 || about->WidthInBytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, after, count, copying(about->dstDevice, about->srcDevice, about->WidthInBytes));
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* about, CUcontext) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (about->elementSize != 1 || about->height != 1 || about->width == 0) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, after, count, setting(about->dst, static_cast<unsigned char>(about->value), about->width));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *made = new CUgraphExec_st{std::make_shared<const CUgraph_st>(*graph)};
  ++machine().told.instantiations;
  ++machine().told.graphs;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec graph) {
  delete graph;
  --machine().told.graphs;
  return fails() ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  machine().waiting.emplace_back([shared = graph->graph] { run(*shared); });
  return CUDA_SUCCESS;
}

}  // extern "C"
