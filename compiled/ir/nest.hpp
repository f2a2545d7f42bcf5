/// \file
/// The loop form: a kernel as nested loops of scalar steps. Scalar expressions are `spec::Expr` without reductions and
/// `detach`; a register is read as a variable. It knows neither LLVM nor CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/schedule.hpp"
#include "compiled/ir/tree.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled::loops {

using spec::Binder;
using spec::Expr;
using spec::TensorId;

/// A scalar computed once per iteration of the loop it stands in; its number is one of the system's variables.
using Register = spec::VariableId;

/// The register as an expression reads it.
[[nodiscard]] Expr value_of(Register number, Kind kind);

enum class Type : std::uint8_t { f32, f64, i64, boolean };

/// Who takes the turns of a loop.
enum class Bind : std::uint8_t {
  serial,    ///< one after the other
  unrolled,  ///< the same, each in code of its own
  cores,     ///< independent ones, shared among the threads that run the kernel: the last of its steps, after steps that fill registers
  grid       ///< the same on a device of many threads; a loop that stands alone in such a loop may be another one: one counts through both
};

struct Step;

/// What a lanes loop fetches of the row after the one at hand, vector by vector; it changes no value.
struct FetchedRow {
  Expr element;        ///< a read: the element that the next row has at the place of the loop's variable
  bool write = false;  ///< it is to be written there
  [[nodiscard]] friend bool operator==(const FetchedRow&, const FetchedRow&) = default;
};

/// For every value of the binder: the steps in order.
struct Loop {
  Binder binder;
  Bind bind = Bind::serial;
  unsigned width = 1;  ///< iterations of a turn, a power of two: independent ones that run side by side in lanes; in a reduction's own loop each lane is a chain of its tree
  std::vector<Step> steps;
  std::vector<FetchedRow> fetched{};  ///< by a lanes loop, before its steps
  Expr limit{};        ///< may be empty: iterations from this one on are left out
  std::vector<std::string> merged{};  ///< why steps of other loops are in a lanes loop, one reason for each of those loops

  [[nodiscard]] bool in_lanes() const { return width > 1; }
  [[nodiscard]] friend bool operator==(const Loop&, const Loop&) = default;
};

/// target = reduction over the loops (outermost first, each holding the steps that its body needs) where guard of body. Its
/// terms are combined in the tree.
struct Reduce {
  Register target = -1;
  spec::Reduction reduction = spec::Reduction::sum;
  std::vector<Loop> loops;
  Tree tree;
  Expr guard;
  Expr body;
  Expr otherwise;  ///< may be empty
  Expr reached;    ///< may be empty; where it is false the result is not used and nothing may be read
  [[nodiscard]] friend bool operator==(const Reduce&, const Reduce&) = default;
};

/// Of its result: positions are integers.
[[nodiscard]] Kind kind_of(const Reduce& r);

/// tensor[place…] = value, or += value, in the order of the loops around it; only where `guard` holds, when there is one.
struct Store {
  TensorId tensor = -1;
  std::vector<Expr> place;
  Expr value;
  Expr guard;
  bool add = false;
  bool streamed = false;  ///< around the caches: nobody reads it soon; a whole vector within lines of memory, in a lanes loop
  [[nodiscard]] friend bool operator==(const Store&, const Store&) = default;
};

/// The type whose values all numbers of that kind are: rounding to it changes none.
[[nodiscard]] DType default_type(Kind kind);

/// register = value.
struct Define {
  Register target = -1;
  Expr value;
  DType dtype = DType::f64;  ///< of the tensor that it stands for: values are rounded to it
  [[nodiscard]] friend bool operator==(const Define&, const Define&) = default;
};

/// What tiles fetch for the next turn of a loop outside of them: each tile of a turn its share.
struct FetchAhead {
  Expr first;               ///< a read of the first element of the next turn's piece
  std::int64_t bytes = 0;   ///< of the piece, which lies side by side
  Expr number;              ///< of the block at hand among those of a turn
  std::int64_t blocks = 1;  ///< in a turn
  [[nodiscard]] friend bool operator==(const FetchAhead&, const FetchAhead&) = default;
};

/// A block of a contraction, tile by tile: target = sum[depth…] left·right for the rows of the tiles first_row ≤ t <
/// first_row + schedule.block_rows and the columns of those from first_column on, as far as there are any. The terms
/// of an element are added with one rounding each, in the order of the depth: blocks of them as schedule.depth says,
/// whose sums wait for another of their size. `steps` are done for each element when its sum is complete, in vectors
/// of schedule.lanes columns, or of as many rows where the schedule says so; none of them is a loop.
struct Contract {
  Register target = -1;
  Binder row;
  Binder column;
  std::vector<Binder> depth;
  Expr left;          ///< a read that does not know the column
  Expr right;         ///< a read that does not know the row
  Expr guard;         ///< a read like the right factor's, or empty: terms where it is zero are not added
  Expr taps;          ///< a condition, or empty: terms where it is false are not added; known for each step that is written out
  Expr first_row;     ///< a tile
  Expr first_column;  ///< a tile
  Schedule schedule;
  Expr wanted;        ///< an inequality, or empty: tiles where it holds nowhere are left out, and their elements are not read
  std::vector<FetchAhead> ahead;  ///< what the next turn copies; it changes no value
  std::vector<Step> steps;
  [[nodiscard]] friend bool operator==(const Contract&, const Contract&) = default;
};

/// For all values of both binders: register = value, in vectors along `across`, then the store, in vectors along `down`.
/// Squares of width × width elements change places in registers between the two.
struct Transpose {
  Binder across;
  Binder down;  ///< its extent is a multiple of the width
  unsigned width = 1;
  Register target = -1;
  Expr value;
  Store store;
  [[nodiscard]] friend bool operator==(const Transpose&, const Transpose&) = default;
};

struct Step {
  std::variant<Loop, Reduce, Store, Define, Contract, Transpose> is;
  Type real = Type::f32;  ///< in which type real arithmetic is done; expressions of constants alone use f64. Of a loop it says nothing
  [[nodiscard]] friend bool operator==(const Step&, const Step&) = default;
};

/// Whose memory a buffer is.
enum class Scope : std::uint8_t {
  argument,  ///< of whoever calls the kernel
  thread     ///< of each thread that runs it, which reads and writes it
};

/// A tensor that a kernel touches.
struct Buffer {
  TensorId tensor = -1;
  Scope scope = Scope::argument;
  bool read = false;
  bool written = false;
  std::int64_t bytes = 0;                ///< of a thread's
  std::optional<std::int64_t> offset{};  ///< of a thread's, in what it is given; nothing: on its stack
  [[nodiscard]] friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// One kernel.
struct Nest {
  std::string name;              ///< of the last equation in it, as decisions speak of it (decision_list.hpp): no other kernel of the program has it
  std::vector<TensorId> zeroed;  ///< full of zeros when it starts
  std::vector<Buffer> buffers;   ///< arguments stand in their order
  std::vector<Step> steps;
  double work = 0;        ///< scalar operations, roughly
  [[nodiscard]] friend bool operator==(const Nest&, const Nest&) = default;
};

/// Readable text that says all that the kernel is; parse_loops.hpp reads it.
[[nodiscard]] std::string to_text(const spec::System& system, const Nest& nest);

/// Checks that every register and variable is defined where it is used, that every tensor that is touched is among the buffers, that
/// turns that threads share touch nothing that another one writes (but in tiles and squares), that lanes loops are innermost and not nested,
/// that no reduction is left in an expression, that places have the rank of their tensors, that squares change places
/// as declared, that merged loops meet in the element at hand alone, that streamed stores are whole vectors within lines, and
/// that contractions do as they are declared (verify_contraction.cpp).
/// \throws InternalError naming the kernel and the rule.
void verify(const spec::System& system, const Nest& nest);

/// Checks that every element that kernels read or write lies in its buffer, as far as ranges of loops and the conditions on the
/// way there show it. An integer that is read is within the range that a caller or the equations promise; what kernels
/// themselves store of integers is held to it. What is only fetched into a cache may lie anywhere.
/// \throws InternalError naming the kernel, the tensor, the index and its range.
void verify_bounds(const spec::System& system, std::span<const Nest> nests);

/// Checks a contraction in a kernel of that name, inside loops with these extents: its blocks cover every tile once; the
/// factors lie in memory as its tiles read them, and only there; its blocks of terms are no longer than the contract of
/// the backend says; its steps are no loops.
/// \throws InternalError naming the kernel and the rule.
void verify_contraction(const spec::System& system, const std::string& kernel, const Contract& c, const Extents& loops);

}  // namespace etalon::compiled::loops
