/// \file
/// What a run asks of a file system, call by call, so that a test can be one that fails or loses power. It knows no
/// run.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::training {

/// Every call throws IoError with the path and the system's reason. What was written, made or renamed is there for
/// sure, also after a loss of power, only once its file or its folder was synced.
class Storage {
 public:
  /// A file that is being written; it is closed in the end.
  class File {
   public:
    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    virtual ~File() = default;

    /// Asks for room of so many bytes from the beginning, so that a full disk shows before anything is written.
    virtual void reserve(std::size_t bytes) = 0;
    virtual void write(std::string_view bytes) = 0;
    /// A sync that failed says nothing when it is repeated: what was written is lost then.
    virtual void sync() = 0;
  };

  /// Held until it ends.
  class Lock {
   public:
    Lock() = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    virtual ~Lock() = default;
  };

  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  /// An empty file. Nothing of that name is there yet.
  [[nodiscard]] virtual std::unique_ptr<File> create(const std::filesystem::path& path) = 0;
  /// A file that is there, to be made longer.
  [[nodiscard]] virtual std::unique_ptr<File> append(const std::filesystem::path& path) = 0;
  [[nodiscard]] virtual std::string read(const std::filesystem::path& path) = 0;

  virtual void make_folder(const std::filesystem::path& path) = 0;
  /// At once: whoever looks finds one or the other. A file of the new name goes; of a folder there is none.
  virtual void rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual void sync_folder(const std::filesystem::path& path) = 0;
  /// A file, or a folder with the files in it.
  virtual void remove(const std::filesystem::path& path) = 0;
  [[nodiscard]] virtual bool exists(const std::filesystem::path& path) = 0;
  /// The names in a folder, ascending.
  [[nodiscard]] virtual std::vector<std::string> list(const std::filesystem::path& path) = 0;

  /// Null where another process holds it. The file is made where there is none.
  [[nodiscard]] virtual std::unique_ptr<Lock> lock(const std::filesystem::path& path) = 0;
};

/// A file with this text in place of the one of that name, if any, there for sure when it returns: it is written beside
/// it first. \throws IoError, and what was there is there still
void replace_file(Storage& storage, const std::filesystem::path& path, std::string_view text);

/// The file system of this machine.
[[nodiscard]] std::unique_ptr<Storage> file_system();

}  // namespace etalon::training
