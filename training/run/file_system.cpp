#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "training/run/storage.hpp"

namespace etalon::training {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unwritable = "the file cannot be written", unmakeable = "the folder cannot be made",
                           unlistable = "the folder cannot be read", unmovable = "cannot be renamed",
                           unremovable = "cannot be removed";

/// An open file or folder, closed in the end.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, std::string_view what)
      : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (number_ < 0) throw file_error(path_, what, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { (void)::close(number_); }

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] int number() const { return number_; }
  void sync() const {
    if (::fsync(number_) != 0) throw file_error(path_, unwritable, errno);
  }

 private:
  fs::path path_;
  int number_;
};

class OpenFile final : public Storage::File {
 public:
  OpenFile(const fs::path& path, int flags) : file_(path, flags, unwritable) {}

  void reserve(std::size_t bytes) override {
    if (bytes == 0) return;
    const int error = ::posix_fallocate(file_.number(), 0, static_cast<off_t>(bytes));
    // A file system that cannot promise room is asked for it by writing.
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) throw file_error(file_.path(), unwritable, error);
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t size = ::write(file_.number(), bytes.data(), bytes.size());
      if (size < 0 && errno != EINTR) throw file_error(file_.path(), unwritable, errno);
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
  }

  void sync() override {
    if (::fdatasync(file_.number()) != 0) throw file_error(file_.path(), unwritable, errno);
  }

 private:
  Descriptor file_;
};

class HeldLock final : public Storage::Lock {
 public:
  explicit HeldLock(const fs::path& path) : file_(path, O_RDWR | O_CREAT, unwritable) {}

  /// Whether it is held now.
  [[nodiscard]] bool take() const {
    if (::flock(file_.number(), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) throw file_error(file_.path(), "cannot be locked", errno);
    return false;
  }

 private:
  Descriptor file_;
};

void require(const std::error_code& failed, const fs::path& path, std::string_view what) {
  if (failed) throw file_error(path, what, failed.value());
}

class FileSystem final : public Storage {
 public:
  std::unique_ptr<File> create(const fs::path& path) override {
    return std::make_unique<OpenFile>(path, O_WRONLY | O_CREAT | O_EXCL);
  }
  std::unique_ptr<File> append(const fs::path& path) override {
    return std::make_unique<OpenFile>(path, O_WRONLY | O_APPEND);
  }
  std::string read(const fs::path& path) override { return read_file(path); }

  void make_folder(const fs::path& path) override {
    std::error_code failed;
    fs::create_directories(path, failed);
    require(failed, path, unmakeable);
  }

  void rename(const fs::path& from, const fs::path& to) override {
    std::error_code failed;
    fs::rename(from, to, failed);
    require(failed, to, unmovable);
  }

  void sync_folder(const fs::path& path) override { Descriptor(path, O_RDONLY | O_DIRECTORY, unlistable).sync(); }

  void remove(const fs::path& path) override {
    std::error_code failed;
    (void)fs::remove_all(path, failed);
    require(failed, path, unremovable);
  }

  bool exists(const fs::path& path) override {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (status.type() == fs::file_type::none) require(failed, path, "cannot be looked at");
    return fs::exists(status);
  }

  std::vector<std::string> list(const fs::path& path) override {
    std::error_code failed;
    std::vector<std::string> names;
    fs::directory_iterator at(path, failed);
    for (; !failed && at != fs::directory_iterator(); at.increment(failed))
      names.push_back(at->path().filename().string());
    require(failed, path, unlistable);
    std::sort(names.begin(), names.end());
    return names;
  }

  std::unique_ptr<Lock> lock(const fs::path& path) override {
    auto held = std::make_unique<HeldLock>(path);
    if (!held->take()) return nullptr;
    return held;
  }
};

}  // namespace

std::unique_ptr<Storage> file_system() { return std::make_unique<FileSystem>(); }

}  // namespace etalon::training
