#include "training/files/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "spec/file.hpp"

namespace etalon::training {

namespace {

/// The size of a regular file that has bytes, else 0.
[[nodiscard]] std::size_t mappable_size(int descriptor) {
  struct stat about {};
  const bool regular = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  return regular ? static_cast<std::size_t>(about.st_size) : 0;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // A pipe would wait here for its writer, and is read below.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const std::size_t size = descriptor < 0 ? 0 : mappable_size(descriptor);
  void* at = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (descriptor >= 0) close(descriptor);
  if (at != MAP_FAILED) {
    mapped_ = at;
    bytes_ = {static_cast<const std::byte*>(at), size};
    return;
  }
  read_ = read_file(path);
  bytes_ = std::as_bytes(std::span(read_));
}

MappedFile::~MappedFile() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_.size());
}

}  // namespace etalon::training
