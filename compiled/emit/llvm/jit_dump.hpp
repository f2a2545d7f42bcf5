/// \file
/// Generated functions with their lines, for the profiler perf: a jitdump, which `perf inject --jit` turns into objects that
/// `perf annotate` shows line by line. The format is that of the kernel's tools/perf/Documentation/jitdump-specification.txt,
/// version 1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <boost/core/noncopyable.hpp>

#include <llvm/Support/MemoryBuffer.h>

namespace etalon::compiled {

/// The first instruction that is for a line of the source.
struct LineOf {
  std::uint64_t offset = 0;  ///< bytes from the function's beginning
  std::uint32_t line = 0;
  std::string file;
};

/// A function of an object file.
struct FunctionOf {
  std::uint64_t size = 0;
  std::vector<LineOf> lines{};  ///< ascending by offset; none without debug information
};

/// All functions of an object file. \param with_lines whether it has debug information that is asked for
[[nodiscard]] std::map<std::string, FunctionOf> functions_of(const llvm::MemoryBuffer& object, bool with_lines);

/// The file `jit-PID.dump` of a process. perf learns of it from a page that is mapped as if it held code.
class JitDump : boost::noncopyable {
 public:
  /// Writes the file's head. Where that cannot be done nothing is written, ever.
  explicit JitDump(const std::filesystem::path& folder);
  ~JitDump();

  /// Adds a function that lies at this address.
  void add(const std::string& name, std::uint64_t address, std::uint64_t size, const std::vector<LineOf>& lines);

 private:
  std::mutex mutex_;  ///< several code generators write to the process's file
  std::ofstream out_;
  void* marker_ = nullptr;
  std::uint64_t functions_ = 0;
};

/// That of this process, in the folder that asked for it first: perf reads one file of each process.
[[nodiscard]] JitDump& jit_dump_of_process(const std::filesystem::path& folder);

}  // namespace etalon::compiled
