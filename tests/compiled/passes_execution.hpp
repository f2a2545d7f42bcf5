/// \file
/// A small literal interpreter for tests of passes and plans: it rounds each operation to the equation's arithmetic
/// type and each store to the tensor's, so that two systems can be compared bit for bit. It shares no code with the
/// reference or the code generator.
#pragma once

#include <cstdint>
#include <vector>

#include "compiled/ir/plan.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

/// The outputs, every equation executed one after the other in row-major order.
std::vector<HostTensor> execute(const spec::System& system, const std::vector<HostTensor>& inputs);

/// What a plan leaves behind: the outputs, and the inputs' buffers with their updates.
struct Outcome {
  std::vector<HostTensor> outputs;
  std::vector<HostTensor> inputs;
};

/// The same through the plan: kernels in order, their shared loops in an order drawn from `seed`, tensors in the bytes
/// that the plan gives them, which hold garbage at first.
Outcome execute(const spec::System& system, const compiled::Plan& plan, const std::vector<HostTensor>& inputs,
                std::uint32_t seed);

/// Equal bits, any NaN being equal to any other.
bool same_bits(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b);

/// Inputs for the system's inputs with signed zeros, infinities, NaN, ties and ordinary values; integers in their
/// declared range or else small.
std::vector<HostTensor> draw_inputs(const spec::System& system, std::uint32_t seed);

}  // namespace etalon::test
