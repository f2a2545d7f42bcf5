/// \file
/// Machine code of a program's kernels, as a processor calls it. It knows neither where operands are nor in which order kernels run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/emit/llvm/jit.hpp"
#include "compiled/ir/script.hpp"
#include "compiled/report.hpp"
#include "compiled/runtime/thread_pool.hpp"

namespace etalon::compiled {

/// Nothing of it changes once it is made.
class Kernels {
 public:
  Kernels(Code code, const Compilation& made);

  /// \param operands addresses in the order of the launch's operands
  void launch(const Launch& launch, std::byte* const* operands, std::byte* arena) const;
  [[nodiscard]] std::size_t count() const { return kernels_.size(); }
  /// Fills in what they take.
  void add_to(Report& report) const;

 private:
  struct Kernel {
    KernelFunction function = nullptr;
    std::int64_t blocks = 1;  ///< of its range
    bool shared = false;      ///< whether threads share them
  };

  std::vector<Kernel> kernels_;
  std::shared_ptr<void> code_;        ///< the memory of the functions
  std::shared_ptr<ThreadPool> pool_;  ///< the threads that share kernels; null: the caller's alone
  std::size_t stack_bytes_ = 0;       ///< of all threads
  bool cached_ = false;
};

}  // namespace etalon::compiled
