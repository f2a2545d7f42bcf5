/// \file
/// Tests of one node, as ONNX has them: a model, inputs and expected outputs. Judged ones hold their own verdict: the model takes
/// the ends of what is admitted as inputs and answers `true`. Plain ones expect numbers, within the least tolerance that covers
/// what is admitted. What is drawn and admitted is that of golden packs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/conform.hpp"
#include "conformance/interchange/onnx/model.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance::onnx {

enum class TestKind : std::uint8_t { judged, plain };

/// |y - expected| <= absolute + relative·|expected|
struct Tolerance {
  double absolute = 0, relative = 0;
};

struct NodeTest {
  std::string name;
  Model model;
  std::vector<HostTensor> inputs, outputs;  ///< as the model has them
  std::optional<Tolerance> tolerance{};     ///< of plain ones
};

struct NodeTests {
  std::vector<NodeTest> tests;
  std::size_t left_out = 0;  ///< cases that one node cannot say: attributes, ways or types that ONNX has not, elements of which nothing is
                             ///< admitted to be known
};

/// Whether a call of the operation is exported as one node.
[[nodiscard]] bool is_exported(std::string_view operation);

/// Values of the operations that the options select: drawn as golden packs are.
/// \throws SpecViolation naming an operation that is not exported
[[nodiscard]] NodeTests node_tests(const ConformOptions& options, const spec::Contract& contract, TestKind kind);

/// Writes `folder/test_NAME/model.onnx`, `test_data_set_0/input_0.pb`, `output_0.pb`, …; of plain ones data.json with `rtol` and
/// `atol`. \throws IoError
void write_node_tests(const std::filesystem::path& folder, const NodeTests& tests);

}  // namespace etalon::conformance::onnx
