#include "compiled/emit/llvm/object_cache.hpp"

#include <array>
#include <string_view>
#include <system_error>

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/CachePruning.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Support/raw_ostream.h>

namespace etalon::compiled {
namespace {

// LLVM's pruning knows its files by this beginning.
constexpr const char* beginning = "llvmcache-";
constexpr std::string_view magic = "etalon object 1\n";
constexpr std::size_t digest_size = 32;
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U;

using Digest = std::array<std::uint8_t, digest_size>;

llvm::StringRef text_of(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

Digest digest_of(llvm::StringRef bytes) { return llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)); }

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& key) { return folder / (beginning + key); }

void prune(const std::filesystem::path& folder) {
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = most_bytes;
  // A folder that cannot be pruned is no reason not to compile.
  (void)llvm::pruneCache(folder.string(), policy);
}

}  // namespace

ObjectCache::ObjectCache(std::filesystem::path folder, std::string generator)
    : folder_(std::move(folder)), generator_(std::move(generator)) {
  if (folder_.empty()) return;
  std::error_code error;
  // What lies here will run: nobody else should be able to write to it.
  if (std::filesystem::create_directories(folder_, error)) std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, error);
  if (error) folder_.clear();
}

std::string ObjectCache::key_of(const llvm::Module& module) const {
  llvm::SmallString<0> bytes(generator_);
  bytes.push_back('\n');
  llvm::raw_svector_ostream out(bytes);
  llvm::WriteBitcodeToFile(module, out);
  return llvm::toHex(text_of(digest_of(bytes)), true);
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::find(const std::string& key) const {
  if (!is_on()) return nullptr;
  auto file = llvm::MemoryBuffer::getFile(file_of(folder_, key).string(), false, false);
  if (!file) return nullptr;
  llvm::StringRef rest = (*file)->getBuffer();
  if (!rest.consume_front(llvm::StringRef(magic)) || rest.size() < digest_size) return nullptr;
  const llvm::StringRef sum = rest.take_front(digest_size);
  const llvm::StringRef object = rest.drop_front(digest_size);
  if (sum != text_of(digest_of(object))) return nullptr;
  // A copy: the linker wants objects aligned.
  return llvm::MemoryBuffer::getMemBufferCopy(object, key);
}

void ObjectCache::keep(const std::string& key, const llvm::MemoryBuffer& object) const {
  if (!is_on()) return;
  auto file = llvm::sys::fs::TempFile::create((folder_ / "new-%%%%%%%%%%%%").string());
  if (!file) return llvm::consumeError(file.takeError());
  bool written = false;
  {
    llvm::raw_fd_ostream out(file->FD, false);
    const Digest sum = digest_of(object.getBuffer());
    out << llvm::StringRef(magic) << text_of(sum) << object.getBuffer();
    out.flush();
    written = !out.has_error();
    out.clear_error();
  }
  llvm::consumeError(written ? file->keep(file_of(folder_, key).string()) : file->discard());
  prune(folder_);
}

}  // namespace etalon::compiled
