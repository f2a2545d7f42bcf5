#include "training/files/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <memory>

#include "spec/error.hpp"
#include "spec/file.hpp"

namespace etalon::training {

namespace {

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

}  // namespace

std::string read_gzip(const std::filesystem::path& path, std::size_t most) {
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) throw file_error(path, "the file cannot be read", errno);
  std::string text;
  std::array<char, 1U << 16U> chunk{};
  int got = 0;
  while (text.size() <= most && (got = gzread(file.get(), chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  const int error = errno;
  if (text.size() > most) throw IoError(fmt::format("{}: longer than {} bytes", path.string(), most));
  int code = Z_OK;
  const char* message = gzerror(file.get(), &code);
  if (code == Z_ERRNO) throw file_error(path, "the file cannot be read", error);
  if (got < 0 || code != Z_OK) {
    throw IoError(fmt::format("{}: damaged or cut short after {} bytes of text: {}", path.string(), text.size(),
                              code == Z_BUF_ERROR ? "unexpected end of file" : message));
  }
  return text;
}

}  // namespace etalon::training
