#include "compiled/emit/llvm/jit_dump.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Object/SymbolSize.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ctime>
#include <type_traits>

namespace etalon::compiled {

namespace {

/// "JiTD", as a number of this machine's byte order.
constexpr std::uint32_t magic = 0x4A695444;
constexpr std::uint32_t format_version = 1;

enum class Record : std::uint32_t { load = 0, debug_info = 2, close = 3 };

/// On the clock of `perf record -k mono`.
std::uint64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Bytes of a record before they are written: its length comes first.
class Bytes {
 public:
  template <class T>
  Bytes& operator<<(T number) {
    static_assert(std::is_integral_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Bytes& operator<<(const std::string& text) {
    bytes_.append(text.c_str(), text.size() + 1);
    return *this;
  }
  Bytes& code(std::uint64_t address, std::uint64_t size) {
    bytes_.append(reinterpret_cast<const char*>(address), size);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  std::string bytes_;
};

std::uint32_t machine() {
#if defined(__aarch64__)
  return llvm::ELF::EM_AARCH64;
#else
  return llvm::ELF::EM_X86_64;
#endif
}

void write(std::ofstream& out, Record id, const Bytes& body) {
  constexpr std::size_t prefix = 16;
  Bytes head;
  head << static_cast<std::uint32_t>(id) << static_cast<std::uint32_t>(prefix + body.text().size()) << now();
  out << head.text() << body.text();
}

}  // namespace

std::map<std::string, FunctionOf> functions_of(const llvm::MemoryBuffer& object, bool with_lines) {
  std::map<std::string, FunctionOf> functions;
  auto file = llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef());
  if (!file) {
    llvm::consumeError(file.takeError());
    return functions;
  }
  const auto context = with_lines ? llvm::DWARFContext::create(**file) : nullptr;
  llvm::DILineInfoSpecifier names(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  for (const auto& [symbol, size] : llvm::object::computeSymbolSizes(**file)) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    auto section = symbol.getSection();
    if (!name || !address || !section || *section == (*file)->section_end()) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(address.takeError());
      llvm::consumeError(section.takeError());
      continue;
    }
    FunctionOf& function = functions[name->str()];
    function.size = size;
    if (!context) continue;
    for (const auto& [there, info] : context->getLineInfoForAddressRange({*address, (*section)->getIndex()}, size, names)) {
      if (info.Line != 0) function.lines.push_back({there - *address, info.Line, info.FileName});
    }
  }
  return functions;
}

JitDump::JitDump(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / fmt::format("jit-{}.dump", getpid());
  const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  marker_ = mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (marker_ == MAP_FAILED) marker_ = nullptr;
  close(file);
  out_.open(path, std::ios::binary);
  Bytes head;
  constexpr std::uint32_t head_bytes = 40;
  head << magic << format_version << head_bytes << machine() << std::uint32_t{0} << static_cast<std::uint32_t>(getpid()) << now() << std::uint64_t{0};
  out_ << head.text();
}

JitDump::~JitDump() {
  if (marker_ != nullptr) munmap(marker_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  if (out_.is_open()) write(out_, Record::close, {});
}

void JitDump::add(const std::string& name, std::uint64_t address, std::uint64_t size, const std::vector<LineOf>& lines) {
  if (!out_.is_open()) return;
  const std::lock_guard alone(mutex_);
  Bytes info;
  info << address << static_cast<std::uint64_t>(lines.size());
  for (const LineOf& l : lines) info << address + l.offset << l.line << std::uint32_t{0} << l.file;
  if (!lines.empty()) write(out_, Record::debug_info, info);
  const auto process = static_cast<std::uint32_t>(getpid());
  Bytes load;
  load << process << static_cast<std::uint32_t>(gettid()) << address << address << size << functions_++ << name;
  load.code(address, size);
  write(out_, Record::load, load);
  out_.flush();
}

JitDump& jit_dump_of_process(const std::filesystem::path& folder) {
  static JitDump dump(folder);
  return dump;
}

}  // namespace etalon::compiled
