/// \file
/// A file system in memory that fails where it is told to, and whose power may be lost after any operation: what was
/// not synced is there or not.
#pragma once

#include <cerrno>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/run/storage.hpp"

namespace etalon::training {

/// A file or a folder.
struct Node {
  bool folder = true;
  std::string text;
  std::map<std::string, std::size_t> children;  ///< nodes by name
};

/// What is done but need not outlast a loss of power.
struct Unsynced {
  enum class Kind { write, link, unlink, rename } kind = Kind::write;
  std::size_t node = 0;    ///< the file that is written; else the folder
  std::size_t offset = 0;  ///< of the text
  std::string text;        ///< that is written
  std::string name;        ///< in the folder
  std::size_t child = 0;   ///< what is linked or renamed
  std::string to;          ///< a name in the same folder
};

/// What a loss of power may leave: what was synced, and some of what was not.
struct AtPowerLoss {
  std::vector<Node> synced;
  std::vector<Unsynced> unsynced;
};

class SimulatedStorage final : public Storage {
 public:
  SimulatedStorage();
  /// What is there after power was lost, and `done` of what was not synced was done nevertheless; writes among it only
  /// to half, in sectors of 512 bytes, where `torn`.
  SimulatedStorage(const AtPowerLoss& lost, const std::vector<bool>& done, bool torn);

  /// The operation of that number, from 0 on, fails, and with `on` all after it that need room.
  void fail(std::size_t operation, int error, bool on = false);
  void recover() { failing_.reset(); }
  [[nodiscard]] std::size_t operations() const { return operations_; }
  /// Called before each operation and after the last.
  std::function<void(const AtPowerLoss&)> watch{};
  [[nodiscard]] AtPowerLoss now() const { return {synced_, unsynced_}; }
  /// Another text in a file, as a disk would have it that forgets.
  void change(const std::filesystem::path& path, const std::string& text);

  std::unique_ptr<File> create(const std::filesystem::path& path) override;
  std::unique_ptr<File> append(const std::filesystem::path& path) override;
  std::string read(const std::filesystem::path& path) override;
  void make_folder(const std::filesystem::path& path) override;
  void rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  void sync_folder(const std::filesystem::path& path) override;
  void remove(const std::filesystem::path& path) override;
  bool exists(const std::filesystem::path& path) override;
  std::vector<std::string> list(const std::filesystem::path& path) override;
  std::unique_ptr<Lock> lock(const std::filesystem::path& path) override;

 private:
  friend class SimulatedFile;
  struct Failing {
    std::size_t operation = 0;
    int error = EIO;
    bool on = false;
  };

  [[nodiscard]] std::optional<std::size_t> find(const std::filesystem::path& path) const;
  [[nodiscard]] std::size_t at(const std::filesystem::path& path) const;
  [[nodiscard]] std::size_t add(bool folder);
  void operate(const std::filesystem::path& path, bool needs_room);
  void apply(const Unsynced& change);
  void write(std::size_t node, const std::filesystem::path& path, std::string_view bytes);
  void sync(std::size_t node, const std::filesystem::path& path);

  std::vector<Node> nodes_;   ///< as who asks sees them; 0 is the root
  std::vector<Node> synced_;  ///< as they are after a loss of power
  std::vector<Unsynced> unsynced_;
  std::size_t operations_ = 0;
  std::optional<Failing> failing_;
};

}  // namespace etalon::training
