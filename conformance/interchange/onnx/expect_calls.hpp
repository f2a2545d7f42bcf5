/// \file
/// Tests of one node as calls of `expect`, which ONNX's own generator of tests takes: Python with the numbers written out. It draws
/// and judges nothing.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "conformance/interchange/onnx/node_tests.hpp"

namespace etalon::conformance::onnx {

/// The tolerance that ONNX's generator gives to each of its tests, whatever it is asked.
inline constexpr Tolerance expect_tolerance{1e-7, 1e-3};

struct ExpectFiles {
  std::map<std::string, std::string> texts;  ///< by the file's name, one per operator: `softmax.py`
  std::size_t calls = 0;
  std::size_t left_out = 0;  ///< tests for which that tolerance is too tight: a conforming answer could fail
};

/// \param tests plain ones
[[nodiscard]] ExpectFiles expect_files(const NodeTests& tests);

}  // namespace etalon::conformance::onnx
