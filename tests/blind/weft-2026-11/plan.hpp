/// \file
/// Graphs as steps on buffers: fused kernels of elementwise nodes, and the others one by one.
#pragma once

#include <memory>
#include <vector>

#include "graph.hpp"

namespace weft {

/// Where a value is: an input, or a buffer of the run.
struct Where {
  bool input = false;
  int index = -1;
};

/// One instruction of a kernel; its value goes to the register of its number.
struct Instruction {
  enum class Kind : unsigned char { load, constant, apply } kind = Kind::apply;
  Op op = Op::constant;
  Type type = Type::f32, from = Type::f32;
  int a = 0, b = 0, c = 0;         ///< registers
  Where source;                    ///< of a load
  std::shared_ptr<const Map> map;  ///< of a load: places, or none where it is direct
  Wide value = 0;                  ///< of a constant; of a load through a map, where there is no place
};

struct Step {
  Node node;                      ///< of a kernel: type and shape of its result
  std::vector<Instruction> tape;  ///< empty where the node is no kernel
  std::vector<Where> operands;
  std::vector<Int> sizes;  ///< of the operands, in elements
  Where result;
  int donated = -1;  ///< an input whose memory the result takes
};

struct Plan {
  std::vector<Step> steps;
  int buffers = 0;
  struct Output {
    Where where;
    Type type;
    Shape shape;
  };
  std::vector<Output> outputs;
};

/// Inputs are the first nodes of the graph, `inputs` of them.
Plan planned(const Graph& g, const std::vector<int>& outputs);

/// The outputs, from the inputs.
std::vector<Tensor> executed(const Plan& plan, const std::vector<Tensor>& inputs);

}  // namespace weft
