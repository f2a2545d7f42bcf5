/// \file
/// A program: calls of operations whose results are named once, derivatives as steps of their own, and assignments to
/// buffers. It knows operations only by name; what they mean is the library's business.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spec/attribute.hpp"
#include "spec/dims.hpp"
#include "spec/dtype.hpp"
#include "spec/host_tensor.hpp"
#include "spec/library/library.hpp"
#include "spec/system/system.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

/// The user's source line that made a call, and the section it stands in.
struct Source {
  std::string file;
  std::uint32_t line = 0;
  std::string section;
  [[nodiscard]] friend bool operator==(const Source&, const Source&) = default;
};

enum class Role : std::uint8_t {
  input,      ///< given at each run
  parameter,  ///< lives in the store; may be updated
  constant,   ///< known with the program; no derivative
  index       ///< an integer scalar bound by name at run time, with a declared range
};

/// A named value from outside.
struct Input {
  std::string name;
  DType dtype = DType::f32;
  Dims dims;
  Role role = Role::input;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  ///< of an index, both ends included
  std::optional<HostTensor> value;                             ///< of a constant
  Source source;
  std::vector<std::string> open{};  ///< per axis of a parameter the name of an extent to be found, or empty; see extents.hpp
  [[nodiscard]] friend bool operator==(const Input&, const Input&) = default;
};

/// results = operation(operands) {attributes}. An absent optional operand is nullopt; the members of a pack stand in
/// order, and `packs` gives the length of each pack where an operation takes more than one.
struct Call {
  std::string operation;
  std::vector<std::optional<std::string>> operands;
  std::vector<std::size_t> packs;
  Attributes attributes;
  std::vector<std::string> results;
  Source source;
  [[nodiscard]] friend bool operator==(const Call&, const Call&) = default;
};

/// results = the tangents of `of` (jvp; seeds are tangents of `wrt`), or the cotangents of `wrt` (vjp; seeds are
/// cotangents of `of`). A missing cotangent seed means 1 and is allowed for one scalar `of` only; a missing tangent
/// seed is an error.
struct Differentiate {
  enum class Mode : std::uint8_t { jvp, vjp };
  Mode mode = Mode::vjp;
  std::vector<std::string> of;
  std::vector<std::string> wrt;
  std::vector<std::optional<std::string>> seeds;
  std::vector<std::string> results;
  Source source;
  [[nodiscard]] friend bool operator==(const Differentiate&, const Differentiate&) = default;
};

/// How an assignment joins what it computes to what the buffer holds.
enum class Accumulation : std::uint8_t { set, add, subtract, multiply, divide, maximum, minimum, conjunction, disjunction };

/// buffer[places] = value, in the notation over the values of the program: the buffer is a parameter, one of
/// `Program::buffers`, or one that an assignment declares. Reads see what was there before; elements at no place keep what they hold.
struct Assign {
  std::string buffer;
  std::string places;  ///< `i, 2*j + 1`; empty for a scalar
  Accumulation accumulation = Accumulation::set;
  bool declares = false;  ///< the buffer begins here, with the type that the equation of a local would give it
  bool reset = false;  ///< the neutral element of the accumulation stands for what the whole buffer holds
  std::string value;   ///< `sum[n] d[n, i]*x[n, j]`
  Source source;
  [[nodiscard]] friend bool operator==(const Assign&, const Assign&) = default;
};

/// A value that assignments write during a run; nothing before, and nothing after.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  Dims dims;
  Source source;
  [[nodiscard]] friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// After a run the parameter holds the value.
struct Update {
  std::string parameter;
  std::string value;
  [[nodiscard]] friend bool operator==(const Update&, const Update&) = default;
};

/// What is asked of a value besides its numbers; `capture` keeps it readable after a run.
struct Wish {
  Asked asked = Asked::capture;
  std::string value;
  Source source;
  [[nodiscard]] friend bool operator==(const Wish&, const Wish&) = default;
};

struct Program {
  std::vector<Input> inputs;
  std::vector<std::variant<Call, Differentiate, Assign>> steps;
  std::vector<std::string> outputs;
  std::vector<Update> updates;
  std::vector<std::string> definitions{};  ///< texts of operations of its own, beside those that come with Etalon
  std::vector<Buffer> buffers{};
  std::vector<Wish> wishes{};
  [[nodiscard]] friend bool operator==(const Program&, const Program&) = default;
};

/// `file:line`, or nothing when the source is unknown.
[[nodiscard]] std::string position(const Source& source);

/// What comes with Etalon and the program's own definitions.
/// \throws SpecViolation `definitions:line:column: …`, counted in the joined texts.
[[nodiscard]] Library library_of(const Program& program);

/// The updates that the program states, then one for every other parameter that it assigns, in order of the inputs.
[[nodiscard]] std::vector<Update> all_updates(const Program& program);

/// Checks names, single assignment, types of every call and derivative, and that no two wishes exclude each other.
/// \throws SpecViolation: one line with the step, the rule, expected, found and the user's source line.
void verify(const Program& program);

/// Type of every value of a verified program, by name.
[[nodiscard]] std::map<std::string, ValueType> types_of(const Program& program);

/// The program as one system of equations: its inputs in order; its outputs, then the values of `all_updates`. Tensor
/// names are the program's value names (locals of operations get `value.local`, what assignments make of a value that
/// there is already gets `value.2`, `value.3`, …). Wishes are those of its values; a capture is one where the value is an
/// output too (wishes.hpp).
[[nodiscard]] System lower(const Program& program);
/// The same; `steps` then says of each equation for which step of the program it stands, and is the number of steps for
/// copies that updates need.
[[nodiscard]] System lower(const Program& program, std::vector<std::size_t>& steps);

/// Readable text (grammar in docs/program.md); `parse_program(to_text(p)) == p`, bit for bit in constants.
/// \throws SpecViolation with line and column on malformed text.
[[nodiscard]] std::string to_text(const Program& program);
[[nodiscard]] Program parse_program(std::string_view text);
/// The same, where steps that name no source line get their own line of the text, in this file.
[[nodiscard]] Program parse_program(std::string_view text, const std::string& file);

/// The assignment that a text such as `g[i, j] += sum[n] d[n, i]*x[n, j]` states. \throws SpecViolation
[[nodiscard]] Assign parse_assignment(std::string_view text);

}  // namespace etalon::spec
