/// \file
/// C through a compiler of the system's: text into a shared object, which is loaded. It knows nothing of programs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/core/noncopyable.hpp>

namespace etalon::compiled::source {

/// How texts are compiled.
struct CCompiler {
  std::string command = "cc";
  /// What the emitted text asks for, and no more optimisation than needed: the time is the compiler's.
  std::string flags = "-std=c99 -O1 -Wall -Wextra -Wconversion -ffp-contract=off";
  /// Whether the shared object stays on disk as long as it is loaded, for tools that find lines by it.
  bool keeps_file = false;
};

/// A loaded shared object; unloaded with its last holder.
class Library : boost::noncopyable {
 public:
  /// \param files stay as long as it does
  explicit Library(void* handle, std::shared_ptr<const void> files = nullptr) : files_(std::move(files)), handle_(handle) {}
  ~Library();

  /// \throws IoError for a name that it does not define.
  [[nodiscard]] void* symbol(const std::string& name) const;

 private:
  std::shared_ptr<const void> files_;
  void* handle_;
};

/// Compiles a text in a temporary folder of its own, which is gone afterwards unless files are kept, and loads it. What the compiler says, a warning too,
/// is an error.
/// \throws IoError where there is no such compiler or no folder can be made; InternalError with the compiler's first lines.
[[nodiscard]] std::shared_ptr<Library> compile_c(const std::string& text, const CCompiler& compiler = {});

}  // namespace etalon::compiled::source
