/// \file
/// Machine code on disk: what was compiled once for this machine is read the next time. An entry that was damaged is as
/// good as none. It knows no program, only intermediate code and the objects made of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
class Module;
}  // namespace llvm

namespace etalon::compiled {

/// Objects in a folder, each under the digest of all it depends on. Several processes may use one folder.
class ObjectCache {
 public:
  /// \param folder where objects are kept; nothing is where it is empty or cannot be written to
  /// \param generator what the code depends on besides the intermediate code: machine, versions, settings
  ObjectCache(std::filesystem::path folder, std::string generator);

  [[nodiscard]] bool is_on() const { return !folder_.empty(); }
  /// SHA-256 of the generator and the intermediate code, in hexadecimal digits.
  [[nodiscard]] std::string key_of(const llvm::Module& module) const;
  /// The object that was kept under the key; nothing where there is none or where its checksum is wrong.
  [[nodiscard]] std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;
  /// Keeps the object: under its name only when all of it is on disk. What cannot be written is not kept. Objects that
  /// were not used for a week go, the oldest first where all of them take more than 256 MiB.
  void keep(const std::string& key, const llvm::MemoryBuffer& object) const;

 private:
  std::filesystem::path folder_;
  std::string generator_;
};

}  // namespace etalon::compiled
