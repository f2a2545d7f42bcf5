#include "cuda/copies.hpp"

#include <fmt/format.h>

#include <array>

#include "compiled/machine/instructions.hpp"

namespace etalon::cuda {

using compiled::Instruction;

namespace {

constexpr std::array<std::int64_t, 3> sizes{4, 8, 16};

/// That past the first cache is of sixteen bytes alone.
const Instruction& row_of(std::int64_t bytes) {
  static constexpr Instruction wide = compiled::instruction("copy_past_cache"), narrow = compiled::instruction("copy_by_cache");
  return bytes == 16 ? wide : narrow;
}

std::string name_of(std::int64_t bytes) { return fmt::format("{}_{}", compiled::name_of(row_of(bytes)), bytes); }

std::string definition_of(std::int64_t bytes) {
  return fmt::format(
      "static __device__ __forceinline__ void {}(void *to, const void *from, int bytes) {{\n"
      "  asm volatile(\"{} [%0], [%1], {}, %2;\" : : \"r\"((uint32_t)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(bytes) : \"memory\");\n}}\n",
      name_of(bytes), row_of(bytes).ptx, bytes);
}

constexpr const char* groups = R"(static __device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" : : : "memory"); }
template <int but> static __device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" : : "n"(but) : "memory"); }
)";

}  // namespace

std::string copying(std::int64_t bytes, const std::string& to, const std::string& from, const std::string& asked) {
  return fmt::format("{}({}, {}, {});", name_of(bytes), to, from, asked.empty() ? std::to_string(bytes) : fmt::format("{} ? {} : 0", asked, bytes));
}

std::string closing_copies() { return "close_copies();"; }
std::string waiting_for_copies(std::int64_t but) { return fmt::format("wait_for_copies<{}>();", but); }

std::string copy_definitions(std::string_view text) {
  std::string all;
  for (const std::int64_t bytes : sizes) {
    if (text.find(name_of(bytes) + "(") != std::string_view::npos) all += definition_of(bytes);
  }
  return all.empty() ? all : "#ifndef ET_EMULATED\n" + all + groups + "#endif\n";
}

}  // namespace etalon::cuda
