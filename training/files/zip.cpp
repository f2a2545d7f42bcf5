#include "training/files/zip.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <cstdint>
#include <memory>

#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::training {

namespace {

constexpr std::uint16_t first_of_1980 = 0x21;          // 1 January, in the manner of MS-DOS
constexpr std::uint64_t most_expansion = 1032;         // of deflate: 258 bytes for two bits
constexpr std::string_view end_alone{"PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22};  // libzip makes no empty archive

/// libzip's last error of a call that has no archive yet.
class Failure {
 public:
  Failure() { zip_error_init(&error_); }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  ~Failure() { zip_error_fini(&error_); }
  [[nodiscard]] zip_error_t* get() { return &error_; }
  [[nodiscard]] std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_{};
};

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { (void)zip_fclose(member); }
};
struct Free {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using ArchivePointer = std::unique_ptr<zip_t, Discard>;

void require(bool done, zip_t* archive) {
  if (!done) throw InternalError(std::string("zip: ") + zip_strerror(archive));
}

void add(zip_t* archive, const std::string& name, const std::string& bytes) {
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  require(source != nullptr, archive);
  const zip_int64_t at = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (at < 0) zip_source_free(source);
  require(at >= 0, archive);
  const auto index = static_cast<zip_uint64_t>(at);
  require(zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) == 0, archive);
  require(zip_file_set_dostime(archive, index, 0, first_of_1980, 0) == 0, archive);
}

[[nodiscard]] std::string all_of(zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  const bool opened = zip_source_stat(source, &stat) == 0 && zip_source_open(source) == 0;
  std::string bytes(opened ? stat.size : 0, '\0');
  const zip_int64_t read = opened ? zip_source_read(source, bytes.data(), bytes.size()) : -1;
  if (opened) (void)zip_source_close(source);
  if (read < 0 || static_cast<std::size_t>(read) != bytes.size()) throw InternalError("zip: the archive cannot be read back");
  return bytes;
}

/// An archive in memory that is only read.
class Archive {
 public:
  Archive(std::span<const std::byte> file, std::string_view where) : where_(where) {
    // libzip takes nothing for an archive of nothing.
    if (file.empty()) throw IoError(fmt::format("{}: no zip archive: 0 bytes", where_));
    Failure failure;
    zip_source_t* source = zip_source_buffer_create(file.data(), file.size(), 0, failure.get());
    if (source == nullptr) throw InternalError("zip: " + failure.text());
    archive_.reset(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, failure.get()));
    if (archive_) return;
    zip_source_free(source);
    throw IoError(fmt::format("{}: no zip archive: {}", where_, failure.text()));
  }

  [[nodiscard]] std::uint64_t members() const { return static_cast<std::uint64_t>(zip_get_num_entries(archive_.get(), 0)); }

  /// What is said of a member. \throws IoError
  [[nodiscard]] zip_stat_t stat(std::uint64_t index) const {
    zip_stat_t stat;
    zip_stat_init(&stat);
    constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive_.get(), index, ZIP_FL_ENC_GUESS, &stat) != 0 || (stat.valid & needed) != needed) {
      throw IoError(fmt::format("{}: member {} has no heading", where_, index));
    }
    if (stat.encryption_method != ZIP_EM_NONE) refuse(stat, "is encrypted");
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      refuse(stat, fmt::format("is packed by method {}, expected 0 or 8", stat.comp_method));
    }
    return stat;
  }

  [[nodiscard]] std::string bytes(std::uint64_t index, const zip_stat_t& stat) const {
    const std::unique_ptr<zip_file_t, Discard> member(zip_fopen_index(archive_.get(), index, 0));
    if (!member) refuse(stat, std::string("cannot be read: ") + zip_strerror(archive_.get()));
    std::string bytes(stat.size + 1, '\0');  // one more shows whether there is more, and asks for the checksum
    std::size_t done = 0;
    zip_int64_t read = 1;
    while (read > 0 && done < bytes.size()) {
      read = zip_fread(member.get(), bytes.data() + done, bytes.size() - done);
      if (read < 0) refuse(stat, std::string("cannot be read: ") + zip_file_strerror(member.get()));
      done += static_cast<std::size_t>(read);
    }
    if (done != stat.size) refuse(stat, fmt::format("has other than its {} bytes", stat.size));
    bytes.resize(done);
    return bytes;
  }

  [[noreturn]] void refuse(const zip_stat_t& stat, const std::string& what) const {
    throw IoError(fmt::format("{}: '{}' {}", where_, as_quoted(stat.name), what));
  }

 private:
  std::string_view where_;
  ArchivePointer archive_;
};

}  // namespace

std::string zip_of(const std::map<std::string, std::string>& members) {
  if (members.empty()) return std::string(end_alone);
  Failure failure;
  const std::unique_ptr<zip_source_t, Free> source(zip_source_buffer_create(nullptr, 0, 0, failure.get()));
  if (!source) throw InternalError("zip: " + failure.text());
  ArchivePointer archive(zip_open_from_source(source.get(), ZIP_CREATE | ZIP_TRUNCATE, failure.get()));
  if (!archive) throw InternalError("zip: " + failure.text());
  zip_source_keep(source.get());  // the archive has taken one reference
  for (const auto& [name, bytes] : members) add(archive.get(), name, bytes);
  require(zip_close(archive.get()) == 0, archive.get());
  (void)archive.release();
  return all_of(source.get());
}

std::map<std::string, std::string> read_zip(std::span<const std::byte> file, std::string_view where) {
  const Archive archive(file, where);
  std::map<std::string, std::string> found;
  std::uint64_t left = most_expansion * (file.size() + 1);
  for (std::uint64_t i = 0; i < archive.members(); ++i) {
    const zip_stat_t stat = archive.stat(i);
    // All together: members may share what is packed.
    if (stat.size > left) archive.refuse(stat, fmt::format("announces {} bytes, more than {} can unpack to", stat.size, file.size()));
    left -= stat.size;
    if (!found.emplace(stat.name, archive.bytes(i, stat)).second) archive.refuse(stat, "is there twice");
  }
  return found;
}

}  // namespace etalon::training
