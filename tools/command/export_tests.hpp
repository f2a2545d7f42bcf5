/// \file
/// Tests for who tests backends of ONNX or StableHLO, and programs as modules of StableHLO.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etalon::command {

struct TestWords {
  std::string folder;
  std::vector<std::string> operations, dtypes;
  std::string tier = "quick", contract = "ieee";
  std::uint64_t seed = 1;
  bool plain = false;
  bool expect = false;
};

/// Writes the tests into the folder, and says how many. \throws SpecViolation, IoError
void export_onnx_tests(const TestWords& words);
void export_stablehlo_tests(const TestWords& words);

/// Writes the program in that file as a module. \throws SpecViolation, Unsupported, IoError
void export_stablehlo_program(const std::string& program, const std::string& output);

}  // namespace etalon::command
