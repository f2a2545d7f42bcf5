/// \file
/// What one instruction is: its meaning as an equation of the notation, and how compilers are told to use it. It knows no loop
/// and no emitter; the rows are in instructions.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/machine/machine.hpp"
#include "spec/contract/contract.hpp"
#include "spec/dims.hpp"
#include "spec/dtype.hpp"
#include "spec/library/library.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// An operand that is held in a type of its own instead of T, which has all of that type's numbers.
struct HeldOperand {
  std::string_view name;
  DType dtype = DType::f32;
};

/// A row of the table of instructions.
struct Instruction {
  /// A definition in the notation (docs/notation.md), whose name is the instruction's: of vectors of n lanes, any number of them, or of
  /// as many as it says. Each equation is rounded once, to the nearest number of its type, ties to even.
  std::string_view meaning;
  /// Instructions of LLVM's assembly in which `%` stands before names of the meaning. `<n x T>` is the vector that is computed, loaded
  /// or stored, and a scalar where there is one lane; `ALIGN` is of what an address is a multiple. An operand or result that is a `ptr`
  /// lies in memory, and where nothing is said of the result it is what lies there afterwards. The operand `old` is what
  /// lay there before.
  std::string_view llvm;
  /// C, of one lane or of all at `operands`: `~` stands for the suffix of <math.h>'s functions of T, `#` before functions that come with
  /// a text, `@` for T in their names. It is CUDA C++ too. Empty where emitted C has no word for it.
  std::string_view c = {};
  /// PTX's name of an instruction of a whole warp, each thread of which has a fragment of every matrix, or of a copy that goes on beside the thread.
  /// It has no text in the other languages.
  std::string_view ptx = {};
  /// The types that T may be.
  std::span<const DType> types;
  std::array<HeldOperand, 2> held{};
  unsigned least_lanes = 1;              ///< the machines that have it: whose vectors have so many single-precision numbers or more …
  std::string_view architecture = {};    ///< … of this architecture, unless all have it …
  std::string_view feature = {};         ///< … if they also have this, as compilers call it
  std::string_view contract = "{}";         ///< what it promises beyond that: a contract as docs/contracts.md has them
};

/// The name before the meaning's first parenthesis.
[[nodiscard]] constexpr std::string_view name_of(const Instruction& i) { return i.meaning.substr(0, i.meaning.find('(')); }

/// Whether the machine has it.
[[nodiscard]] constexpr bool is_had_by(const Instruction& i, const Machine& machine) {
  const bool has_feature = i.feature.empty() || std::find(machine.beyond.begin(), machine.beyond.end(), i.feature) != machine.beyond.end();
  return has_feature && machine.lanes_f32 >= i.least_lanes && (i.architecture.empty() || i.architecture == machine.architecture);
}

/// Whether the meaning leaves the number of lanes open.
[[nodiscard]] constexpr bool is_of_any_lanes(const Instruction& i) { return i.meaning.find("[n]") != std::string_view::npos; }

/// The fewest lanes that it is for: what has a mask is no scalar.
[[nodiscard]] constexpr std::int64_t least_lanes(const Instruction& i) { return i.meaning.find(": bool") == std::string_view::npos ? 1 : 2; }

/// Whether an operand or the result lies in memory.
[[nodiscard]] constexpr bool is_in_memory(const Instruction& i, std::string_view name) {
  for (std::size_t at = i.llvm.find("ptr %"); at != std::string_view::npos; at = i.llvm.find("ptr %", at + 1)) {
    const std::string_view rest = i.llvm.substr(at + std::string_view("ptr %").size());
    if (rest.starts_with(name) && (rest.size() == name.size() || rest.find_first_of(" ,)\n") == name.size())) return true;
  }
  return false;
}

/// Whether addresses are to be multiples of the vector's size, which those that go around the caches ask for.
[[nodiscard]] constexpr bool wants_whole_vectors(const Instruction& i) { return i.llvm.find("!nontemporal") != std::string_view::npos; }

/// An operand or the result at some T and number of lanes.
struct InstructionValue {
  std::string name;
  DType dtype = DType::f32;  ///< in which it is held
  Dims dims;
  bool mask = false;         ///< truth values, one per lane
};

/// All that an instruction takes and gives.
struct InstructionSignature {
  std::vector<InstructionValue> operands;
  InstructionValue result;
};

/// What comes with Etalon, and the meaning. \throws SpecViolation for a meaning that is not in the notation
[[nodiscard]] spec::Library library_of(const Instruction& i);
/// \param lanes where the meaning leaves their number open
/// \throws SpecViolation where T is none of its types, or the meaning is ill-typed
[[nodiscard]] InstructionSignature signature_of(const Instruction& i, DType type, std::int64_t lanes);
/// The equations of its meaning, whose inputs are the operands in their order, all real ones of that type. \throws as signature_of
[[nodiscard]] spec::System system_of(const Instruction& i, DType type, std::int64_t lanes);
/// What it promises. \throws SpecViolation for a contract that is none
[[nodiscard]] spec::Contract contract_of(const Instruction& i);
/// One line: its signature and equations, the types that T may be, what it needs, and what it promises beyond one rounding for each.
[[nodiscard]] std::string to_text(const Instruction& i);

}  // namespace etalon::compiled
