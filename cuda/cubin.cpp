#include "cuda/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "spec/error.hpp"

namespace etalon::cuda {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");

[[noreturn]] void refuse(const std::string& reason) { throw SpecViolation("cubin: " + reason); }

/// Nothing of it is read beyond its end.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}

  [[nodiscard]] std::uint64_t size() const { return all_.size(); }
  [[nodiscard]] Bytes part(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size() || count > size() - offset) refuse(fmt::format("{} bytes at {} of {} are not there", count, offset, size()));
    return Bytes(all_.substr(offset, count));
  }
  template <class Number>
  [[nodiscard]] Number at(std::uint64_t offset) const {
    static_assert(std::is_unsigned_v<Number>);
    const Bytes found = part(offset, sizeof(Number));
    Number number = 0;
    std::memcpy(&number, found.all_.data(), sizeof number);
    return number;
  }
  /// Up to a zero.
  [[nodiscard]] std::string_view name_at(std::uint64_t offset) const {
    const std::string_view rest = part(offset, size() - std::min(offset, size())).all_;
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) refuse(fmt::format("a name at {} of {} has no end", offset, size()));
    return rest.substr(0, end);
  }
  [[nodiscard]] std::string_view all() const { return all_; }

 private:
  std::string_view all_;
};

/// Where numbers of ELF files stand, and what they mean (System V ABI; those of NVIDIA's own are documented by what compilers write).
constexpr std::uint64_t header_bytes = 64, section_bytes = 64, symbol_bytes = 24;
constexpr std::uint16_t cuda_machine = 190;
constexpr std::uint32_t without_bytes = 8;
constexpr unsigned function_type = 2, entry_flag = 0x10;
constexpr unsigned stack_frame = 0x11, stack_of_all = 0x12, parameter_size = 0x19, register_count = 0x2f;
/// What the system keeps of each block's shared memory is counted with the kernel's where this section is.
constexpr std::string_view reserved_shared = ".nv.shared.reserved.0";
constexpr std::uint64_t reserved_shared_bytes = 1024;

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  Bytes bytes{std::string_view()};  ///< none where there are none in the file
};

struct Symbol {
  std::string_view name;
  bool is_kernel = false;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

class File {
 public:
  explicit File(std::string_view all) : file_(all) {
    if (!all.starts_with("\x7f" "ELF")) refuse("it does not begin as an ELF file");
    if (file_.at<std::uint8_t>(4) != 2 || file_.at<std::uint8_t>(5) != 1) refuse("it is not of 64 bits with the lowest byte first");
    const auto machine = file_.at<std::uint16_t>(18);
    if (machine != cuda_machine) refuse(fmt::format("it is for machine {}, expected {}", machine, cuda_machine));
    (void)file_.part(0, header_bytes);
    read_sections();
    read_symbols();
  }

  [[nodiscard]] std::vector<CompiledKernel> kernels() const {
    std::vector<CompiledKernel> all;
    for (std::size_t s = 0; s < symbols_.size(); ++s) {
      if (symbols_[s].is_kernel) all.push_back(kernel(s));
    }
    std::ranges::sort(all, {}, &CompiledKernel::name);
    return all;
  }

 private:
  void read_sections() {
    const auto first = file_.at<std::uint64_t>(40);
    const auto bytes = file_.at<std::uint16_t>(58), count = file_.at<std::uint16_t>(60), names = file_.at<std::uint16_t>(62);
    if (bytes != section_bytes) refuse(fmt::format("its sections are described in {} bytes each, expected {}", bytes, section_bytes));
    if (names >= count) refuse(fmt::format("section {} of {} should hold names", names, count));
    const Bytes table = file_.part(first, std::uint64_t{count} * section_bytes);
    const auto bytes_of = [&](std::uint64_t n) {
      const Bytes about = table.part(n * section_bytes, section_bytes);
      const bool is_empty = about.at<std::uint32_t>(4) == without_bytes || about.at<std::uint32_t>(4) == 0;
      return is_empty ? Bytes(std::string_view()) : file_.part(about.at<std::uint64_t>(24), about.at<std::uint64_t>(32));
    };
    const Bytes all_names = bytes_of(names);
    for (std::uint64_t n = 0; n < count; ++n) {
      const Bytes about = table.part(n * section_bytes, section_bytes);
      sections_.push_back({all_names.name_at(about.at<std::uint32_t>(0)), about.at<std::uint32_t>(4), about.at<std::uint64_t>(32), bytes_of(n)});
    }
  }

  void read_symbols() {
    const Section* const table = section(".symtab");
    const Section* const names = section(".strtab");
    if (table == nullptr || names == nullptr) refuse("it has no symbols");
    for (std::uint64_t at = 0; at + symbol_bytes <= table->bytes.size(); at += symbol_bytes) {
      const Bytes one = table->bytes.part(at, symbol_bytes);
      const bool is_function = (one.at<std::uint8_t>(4) & 0xfU) == function_type;
      symbols_.push_back({names->bytes.name_at(one.at<std::uint32_t>(0)), is_function && (one.at<std::uint8_t>(5) & entry_flag) != 0, one.at<std::uint16_t>(6),
                          one.at<std::uint64_t>(8), one.at<std::uint64_t>(16)});
    }
  }

  [[nodiscard]] const Section* section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
  }

  /// The greatest number that a section of attributes has under one, of a symbol where they are of many.
  [[nodiscard]] std::optional<std::size_t> attribute(const Section* of, unsigned wanted, std::optional<std::size_t> symbol = {}) const {
    std::optional<std::size_t> found;
    if (of == nullptr) return found;
    for (std::uint64_t at = 0; at < of->bytes.size();) {
      const auto form = of->bytes.at<std::uint8_t>(at), name = of->bytes.at<std::uint8_t>(at + 1);
      const std::size_t short_value = of->bytes.at<std::uint16_t>(at + 2);
      at += 4;
      const bool has_bytes = form == 4;
      const Bytes value = of->bytes.part(at, has_bytes ? short_value : 0);
      at += value.size();
      if (name != wanted) continue;
      if (has_bytes && symbol && value.at<std::uint32_t>(0) == *symbol) found = std::max<std::size_t>(found.value_or(0), value.at<std::uint32_t>(4));
      if (!has_bytes && !symbol) found = std::max(found.value_or(0), short_value);
    }
    return found;
  }

  [[nodiscard]] CompiledKernel kernel(std::size_t number) const {
    const Symbol& symbol = symbols_[number];
    CompiledKernel kernel;
    kernel.name = symbol.name;
    const Section* const all = section(".nv.info");
    const std::optional<std::size_t> registers = attribute(all, register_count, number);
    if (!registers) refuse(fmt::format("it does not say how many registers `{}` has", kernel.name));
    kernel.registers = *registers;
    kernel.local_bytes = std::max(attribute(all, stack_frame, number).value_or(0), attribute(all, stack_of_all, number).value_or(0));
    kernel.parameter_bytes = attribute(section(".nv.info." + kernel.name), parameter_size).value_or(0);
    if (const Section* const shared = section(".nv.shared." + kernel.name)) {
      const std::uint64_t kept = section(reserved_shared) != nullptr ? reserved_shared_bytes : 0;
      kernel.shared_bytes = shared->size - std::min(kept, shared->size);
    }
    if (symbol.section >= sections_.size()) refuse(fmt::format("`{}` lies in section {} of {}", kernel.name, symbol.section, sections_.size()));
    kernel.instructions = instructions_in(sections_[symbol.section].bytes.part(symbol.value, symbol.size).all());
    return kernel;
  }

  Bytes file_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace

std::vector<CompiledKernel> kernels_in(std::string_view cubin) { return File(cubin).kernels(); }

}  // namespace etalon::cuda
