/// \file
/// Answers of tests in f32, judged by the bounds of a system.
#pragma once

#include <vector>

#include "reference/bounds/envelope.hpp"
#include "spec/system/system.hpp"

namespace etalon::bounds_test {

inline HostTensor f32(const Dims& dims, const std::vector<float>& values) { return HostTensor::of(dims, values); }

/// The verdict on a system's first result, which has one element.
inline reference::Verdict judge_scalar(const spec::System& s, const std::vector<HostTensor>& inputs, float got) {
  return reference::judge(f32({}, {got}), reference::envelopes(s, inputs, spec::Contract{}).outputs[0]);
}

}  // namespace etalon::bounds_test
