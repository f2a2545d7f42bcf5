/// \file
/// A kernel as a backend of one operation. Whatever its process does is an answer: it is started afresh, and the next
/// question is asked. It judges nothing.
#pragma once

#include <memory>
#include <string>

#include "conformance/kernel/program.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// What a kernel offers.
struct KernelOffer {
  std::string operation;
  bool strided = false;      ///< it takes operands that are not dense
  bool may_decline = false;  ///< a question that it declines is unsupported, not a failure
};

class KernelBackend final : public spec::Backend {
 public:
  /// \param program must outlive it
  KernelBackend(const KernelProgram& program, KernelOffer offer, const Limits& limits);

  [[nodiscard]] spec::Description describe() const override;
  /// An answer, or what became of the process. Elements that were not written are an error of the kernel's.
  [[nodiscard]] spec::Answer run(const spec::Request& request) override;

  /// Starts a process. \returns in one line why it has no kernel, or nothing
  [[nodiscard]] std::optional<std::string> failure_to_start();
  /// Spent so far in waiting for answers.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  [[nodiscard]] spec::Answer asked(const std::string& line);
  [[nodiscard]] spec::Refusal broken(spec::Refusal::Kind kind, const std::string& why);

  const KernelProgram& program_;
  KernelOffer offer_;
  Limits limits_;
  std::unique_ptr<ChildProcess> child_;
  double seconds_ = 0;
};

}  // namespace etalon::conformance
