/// \file
/// A program computed with every value kept. It judges nothing.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiled/options.hpp"
#include "compiled/runtime/executable.hpp"
#include "spec/contract/contract.hpp"
#include "spec/program/program.hpp"
#include "tools/log/record.hpp"

namespace etalon::assurance {

/// It is compiled at the first run, since that is the same system each time.
class Recorded {
 public:
  /// \param device null: the processor \param contract that logs say is kept
  Recorded(spec::Program program, std::shared_ptr<compiled::Device> device, const spec::Contract& contract);
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  /// \param inputs of the program, in order
  /// \throws SpecViolation for an ill-typed program and inputs that do not fit it, Unsupported for what the device does not do
  [[nodiscard]] logging::Log run(const std::vector<HostTensor>& inputs);

 private:
  spec::Program program_;
  compiled::CompileOptions options_;
  logging::Recorder recorder_;
  std::optional<compiled::Executable> executable_;
};

}  // namespace etalon::assurance
