/// \file
/// Random well-typed programs of several calls, drawn from the definitions' signatures. It knows no operation by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "conformance/assignment.hpp"
#include "conformance/draw.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance {

/// What a call of a program is to be.
enum class Role : std::uint8_t {
  about,        ///< of the definition that the program is about
  sharing,      ///< of that too, reading the first input; nothing where it cannot
  again,        ///< the call before it once more, at the same types: on other numbers, or on what that gave
  same,         ///< of that definition too, under other attributes, reading a result
  exchanged,    ///< the first call once more, with two operands of one type exchanged; nothing where it has none
  any,          ///< of any definition, reading a result
  elementwise,  ///< of an elementwise one, reading a result: compilers fuse and rewrite those
  consumer,     ///< the next in turn of those that are rewritten with what they read, reading only what calls of the
                ///< program's definition read and gave; nothing where it cannot
  move,         ///< of one that only moves elements, reading what the call before it gave
  anew,         ///< of the definition that the program is about, on inputs of its own
  reader,       ///< a consumer that reads what the call before it gave and nobody else reads; nothing where it cannot
  feeder,       ///< the next in turn of those that are rewritten with who reads them, on inputs of its own
  fed,          ///< of the program's definition, reading what the call before it gave and nobody else reads; nothing where it cannot
  nearly,       ///< the first call once more on the same values, its real attributes differing in the last digits, or another one; nothing where it has none
  on_view,      ///< of the program's definition, reading what the first move gave
  other_view,   ///< the call before it once more, reading another view of what the first move read; nothing where there is none
  beside,       ///< an elementwise one that reads what the first move read, or gave
  with_constant, ///< of the definition that the program is about, one operand being a constant, the next in turn
  once_more,    ///< the first call once more on the same values: who keeps common subexpressions makes both one
  // What follows are parts of several calls on inputs of their own, whose middle is no output; nothing where they cannot be.
  between_moves,  ///< of the definition that the program is about, a move of what it reads before it and the same one behind it
  over_itself,    ///< a value is computed, moved, and read for the last time where its memory may be written over
  read_twice,     ///< a value given twice to the program's definition is read again when others of its size have been made
  epilogue,       ///< what the program's definition gives is joined with an operand that is broadcast along one of its axes
  rejoined,       ///< what one call takes apart another joins in the other order; the program's definition is one of them
  surrounded,     ///< windows slide over what numbers were put around
  there_and_back  ///< through another element type, where the program's definition names one
};

/// How many pairs of element types there are for Role::there_and_back; its calls take turns.
inline constexpr std::size_t ways_there_and_back = 8;

struct ProgramWish {
  std::vector<Role> roles{};                ///< of the calls, in order
  std::int64_t elements = 12;               ///< about this many in the largest operand
  DType dtype = DType::f64;
  const spec::Definition* about = nullptr;  ///< for the role of this name
  spec::Library library{};                  ///< where the definitions come from
  std::vector<std::int64_t> extents{};      ///< of the first operand of the first call, where it can have them
  bool defaults = true;       ///< attributes that may be left out are, now and then
  std::uint64_t turn = 0;     ///< of consumers, feeders and constants: the first is the one at this place, in a circle
  std::uint64_t stride = 1;   ///< the next consumer or feeder is so many places behind
  double shared_inputs = 0;   ///< how probably an operand reads an input that is there already
  bool there_and_back = false;  ///< attributes that name element types say another one first and then the program's
  bool doubled = false;       ///< two operands of the first call are one value, where their types can be equal
  bool twins = false;         ///< two operands of the first call are of one type, where they can be
  bool alike = false;         ///< the first call gives what it might give under another attribute, but for the numbers, where it can
  double input_outputs = 0;   ///< how probably an input is an output too
  double read_outputs = 0;    ///< how probably a result that a call reads is an output too
};

/// Says whether a call may stay: the program ends with it, and its new inputs are the last ones.
using Admission = std::function<bool(const spec::Program& program, const spec::Instance& last_call)>;

struct RandomProgram {
  spec::Program program;
  std::vector<Assignment> assignments;  ///< per call, the choices from which its types follow
};

/// A program of calls of these definitions in which every call but the first, and those that repeat another, reads a
/// result of an earlier one; what no call gives is an input. Its outputs are the results that no call reads, and more by
/// wish. Nothing when some call could not be joined.
[[nodiscard]] std::optional<RandomProgram> random_program(std::span<const spec::Definition* const> definitions,
                                                          const ProgramWish& wish, Draw& draw, const Admission& admits = {});

}  // namespace etalon::conformance
