#include "cuda/opcodes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace etalon::cuda {

namespace {

static_assert(std::endian::native == std::endian::little, "instructions are read as they lie");

/// The lowest nine bits of an instruction; the three above say where its operands are.
struct Opcode {
  std::uint64_t number;
  std::string_view name;
  bool moves = false;  ///< three bits say how many
};

/// NVIDIA documents none of them. Each was found by a kernel that has it a known number of times (tests/cuda/opcodes_test.cpp).
constexpr std::array opcodes{
    Opcode{0x020, "FMUL"},       Opcode{0x021, "FADD"},       Opcode{0x023, "FFMA"},       Opcode{0x028, "DMUL"},
    Opcode{0x029, "DADD"},       Opcode{0x02b, "DFMA"},       Opcode{0x03c, "HMMA"},       Opcode{0x03f, "DMMA"},
    Opcode{0x108, "MUFU"},       Opcode{0x11d, "BAR"},        Opcode{0x144, "CALL"},       Opcode{0x181, "LDG", true},
    Opcode{0x183, "LDL", true},  Opcode{0x184, "LDS", true},  Opcode{0x186, "STG", true},  Opcode{0x187, "STL", true},
    Opcode{0x188, "STS", true},  Opcode{0x189, "SHFL"},       Opcode{0x18c, "ATOMS"},      Opcode{0x18d, "ATOMS"},
    Opcode{0x18e, "RED"},        Opcode{0x1a3, "ATOMG"},      Opcode{0x1a6, "RED"},        Opcode{0x1a8, "ATOMG"},
    Opcode{0x1a9, "ATOMG"},      Opcode{0x1ae, "LDGSTS"},
};
constexpr std::uint64_t filler = 0x118;

/// Of bits 73 to 75, without what no kernel was found to have.
constexpr std::array<std::string_view, 8> widths{".8", ".8", ".16", ".16", ".32", ".64", ".128", ""};

}  // namespace

std::size_t InstructionCounts::of(std::string_view name) const {
  std::size_t sum = 0;
  for (const auto& [full, count] : named) sum += std::string_view(full).substr(0, full.find('.')) == name ? count : 0;
  return sum;
}

InstructionCounts instructions_in(std::string_view code) {
  InstructionCounts counts;
  for (; code.size() >= 16; code.remove_prefix(16)) {
    std::array<std::uint64_t, 2> word{};
    std::memcpy(word.data(), code.data(), sizeof word);
    const std::uint64_t number = word[0] & 0x1ffU;
    if (number == filler) continue;
    ++counts.all;
    const auto* const known = std::ranges::find(opcodes, number, &Opcode::number);
    if (known == opcodes.end()) continue;
    std::string name(known->name);
    if (known->moves) name += widths[word[1] >> 9U & 7U];
    ++counts.named[name];
  }
  return counts;
}

}  // namespace etalon::cuda
