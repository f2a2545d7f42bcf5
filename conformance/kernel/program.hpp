/// \file
/// A kernel in a file, made into what can be run: compiled where it is C or C++, and confined. It does not know what the
/// kernel is to compute.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/isolation/child_process.hpp"

namespace etalon::conformance {

enum class KernelLanguage : std::uint8_t { c, cpp, python };
inline constexpr std::array<std::string_view, 3> kernel_language_names{"C", "C++", "Python"};
[[nodiscard]] constexpr std::string_view name_of(KernelLanguage language) {
  return kernel_language_names[static_cast<std::size_t>(language)];
}

struct KernelSource {
  std::string file;
  std::string function = "kernel";
  std::string compiler{};               ///< or interpreter: a path, or a name on PATH; empty for the first that is found
  std::vector<std::string> flags{};     ///< for the compiler, behind our own
  bool torch = false;                   ///< arrays of a kernel in Python are PyTorch's instead of NumPy's
  std::vector<std::string> may_read{};  ///< further files and folders, for compiler and kernel
  bool confined = true;
};

/// By the end of the file's name: `.c`; `.cc`, `.cpp`, `.cxx`; `.py`. \throws SpecViolation for any other
[[nodiscard]] KernelLanguage language_of(const std::string& file);

/// What runs the kernel, in a folder that goes with it.
class KernelProgram {
 public:
  /// \param text of the file
  /// \throws Unsupported where this system cannot confine, or has no compiler or interpreter for it; IoError
  KernelProgram(const KernelSource& source, const std::string& text, const Limits& limits);
  KernelProgram(const KernelProgram&) = delete;
  KernelProgram& operator=(const KernelProgram&) = delete;
  ~KernelProgram();

  /// In one line what the compiler complained of, where it made nothing of the kernel.
  [[nodiscard]] const std::optional<std::string>& complaint() const { return complaint_; }
  /// The compiler or interpreter that was taken.
  [[nodiscard]] const std::string& made_by() const { return made_by_; }
  /// A new process that speaks as line.hpp says.
  [[nodiscard]] std::unique_ptr<ChildProcess> process() const;

 private:
  void compile(const KernelSource& source, KernelLanguage language);
  void interpret(const KernelSource& source);
  [[nodiscard]] bool compiled(const KernelSource& source, const std::string& compiler, std::vector<std::string> words);

  std::string folder_;
  std::string made_by_;
  Limits limits_;
  std::vector<std::string> environment_;
  std::unique_ptr<Confinement> confinement_;
  Start start_;
  std::optional<std::string> complaint_;
};

}  // namespace etalon::conformance
