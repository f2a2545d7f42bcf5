/// \file
/// Tests of one node for who tests backends of ONNX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etalon::command {

struct OnnxTestWords {
  std::string folder;
  std::vector<std::string> operations, dtypes;
  std::string tier = "quick", contract = "ieee";
  std::uint64_t seed = 1;
  bool plain = false, expect = false;
};

/// Writes the tests into the folder, and says how many. \throws SpecViolation, IoError
void export_onnx_tests(const OnnxTestWords& words);

}  // namespace etalon::command
