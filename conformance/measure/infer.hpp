/// \file
/// The tightest contract that a backend was seen to keep, as a starting point for its author. A defect that was measured
/// is reported, not promised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spec/backend.hpp"

namespace etalon::conformance {

struct InferOptions {
  std::size_t points = 1 << 18;  ///< per function of f32; of f64 an eighth
  std::int64_t longest_sum = 1000;
  bool exhaustive = false;       ///< functions of one operand at every f32
  unsigned jobs = 1;             ///< threads of the exhaustive part
  std::function<std::unique_ptr<spec::Backend>()> another{};  ///< further backends of the same kind, for threads
  std::function<void(const std::string&)> progress{};         ///< is told what is being measured, from any thread
};

struct Inferred {
  spec::Contract contract;
  std::string json;                  ///< the contract as a file, with what was measured
  std::vector<std::string> defects;  ///< what the backend does that no contract allows
};

[[nodiscard]] Inferred infer_contract(spec::Backend& backend, const InferOptions& options);

}  // namespace etalon::conformance
