/// \file
/// What becomes of an optimised system on a machine: which equations share loops, and where each tensor lives. It
/// decides; it generates no code and touches no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiled/ir/schedule.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

using spec::TensorId;

/// The type in which the real arithmetic of an equation is done: the target's, where it is f32 or f64; f32 for f16
/// and bf16; else, for integer and boolean targets, the widest real type read, f32 if none. A value read with another
/// type is converted when it is read, and a result once, when it is stored. Integer arithmetic is always i64.
[[nodiscard]] DType arithmetic_type(const spec::System& system, const spec::Equation& equation);

/// Whether single precision enters a real value of an equation whose arithmetic is f32: its arithmetic is then done in it. What is
/// made of constants, indices and doubles alone is computed in f64, and rounded once: where it meets single precision, or is stored.
/// \param held whether a variable is a register that holds single precision
[[nodiscard]] bool is_single(const spec::System& system, const spec::Expr& value, const std::function<bool(spec::VariableId)>& held = {});

/// The type of a tensor that holds a part of an equation's value as it is computed there. Nothing where no equation of its own
/// computes the part so, or what is left of this one would be computed in another type.
[[nodiscard]] std::optional<DType> type_of_part(const spec::System& system, const spec::Equation& equation, const spec::Expr& part);

/// One equation inside a kernel. `shared[a]` is the position among the equation's binders of the kernel's loop a;
/// its other binders, in their order, are loops of its own inside. A reduction in the value loops inside those.
struct Statement {
  std::size_t equation = 0;
  std::vector<std::size_t> shared;
  bool in_turn = false;  ///< a copy of a factor of the kernel's contraction: it shares only the loop `turn`, before the tiles
  bool in_passing = false;  ///< parts of a sum over the kernel's rows, to which each row adds its terms: it shares no loop. Its first
                            ///< binder counts the stretches of rows, its sum runs over the turns in a stretch, where they are more
                            ///< than one, and over the kernel's other loops
};

/// y[…, k, …] = sum[j… where t[j…] == k and rest] body, run as: all of y = 0; then for every value of the equation's
/// binders that are not hit (outer) and of the reduction's binders in their order (inner): if precondition: k = index;
/// if 0 <= k < extent and guard: y[…, k, …] += body. For each element this is the order of the written sum, so the
/// bits are the same. None of the expressions mentions a hit binder.
struct Scatter {
  struct Hit {
    std::size_t binder = 0;  ///< position among the equation's binders
    spec::Expr index;        ///< its value, over the reduction's binders and the binders that are not hit
  };
  std::vector<Hit> hits;
  spec::Expr precondition;  ///< evaluated first: it may keep the reads of `index` in range
  spec::Expr guard;
  spec::Expr body;
};

enum class KernelKind : std::uint8_t {
  loops,    ///< for all values of the shared loops: the statements one after the other, each with its own loops
  scatter,  ///< exactly one statement, executed as `Kernel::scatter` says
  strips,   ///< the same for strips of the last shared loop: each statement for all of a strip's rows before the next one
  sequence  ///< a recurrence: the last shared loop runs in order, the statements one after the other in each iteration
};

/// Which loops of a kernel run in lanes, where that was decided together with statements that are now elsewhere: sums keep
/// their order.
struct PinnedLanes {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  bool each_its_own = false;          ///< each statement decides for itself
  std::size_t loop = none;            ///< the shared loop in lanes
  spec::VariableId reduction = -1;    ///< or the loop of a reduction
  unsigned width = 1;
};

/// How a kernel runs over strips of its last shared loop.
struct Strips {
  std::int64_t rows = 1;                       ///< of a strip; the last one may have fewer
  std::map<std::size_t, Schedule> schedules;  ///< of statements that are contractions, by position among the kernel's
  std::map<std::size_t, spec::Expr> wanted;   ///< of those: over the equation's binders, which elements anybody reads, where not all of them
};

/// A piece of the arena for what a kernel has of its own: one after the other for the threads that run it at the same time.
struct Scratch {
  std::size_t offset = 0;
  std::size_t bytes = 0;  ///< of one thread
  std::size_t threads = 1;
  [[nodiscard]] std::size_t all_bytes() const { return bytes * threads; }
};

/// Statements with common outer loops. Except in a sequence, a statement reads a target of an earlier statement of the same kernel only at
/// the current values of the shared loops; so different values of the shared loops are independent.
struct Kernel {
  KernelKind kind = KernelKind::loops;
  std::vector<std::int64_t> loops;  ///< extents of the shared loops, outermost first
  std::vector<Statement> statements;
  Scatter scatter;
  bool backwards = false;  ///< a sequence runs from the last index down
  std::optional<PinnedLanes> lanes{};
  std::optional<Schedule> schedule;  ///< of the first statement that is not `in_turn`, a contraction; it has all its loops in common with others like it
  std::int64_t stretch = 0;          ///< turns of the outermost loop that add to the same parts, one after the other; 0 where none is in passing
  std::optional<std::size_t> turn;   ///< the outermost loop of a contraction where copies of its factors share it alone
  std::optional<Strips> strips{};    ///< of a kernel of that kind
  std::optional<Scratch> scratch{};  ///< where its memory of its own is; nothing: on the stack
  std::string reason;
};

enum class Home : std::uint8_t {
  none,        ///< neither read nor written
  input,       ///< the caller's buffer number `index` among the system's inputs
  output,      ///< the caller's buffer number `index` among the system's outputs
  in_place,    ///< an output, number `output`, that lives in the buffer of input number `index`
  arena,       ///< bytes [offset, offset + bytes) of the arena
  turn,        ///< the elements of one iteration of its kernel's shared loops, which are its first `index` axes: memory of the kernel's own,
               ///< from byte `offset` of its scratch on where it has some; of a strip of rows, and of `index` axes wherever they are,
               ///< in a kernel of strips
  in_register  ///< one scalar per iteration of its kernel's shared loops, rounded to its type like a stored one
};

/// Where a tensor lives and why.
struct Residence {
  Home home = Home::none;
  std::size_t index = 0;
  std::size_t output = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::string reason;
  TensorId stead = -1;  ///< in a kernel of strips: the tensor whose memory it takes over
};

/// After all kernels: the bytes of output number `output` are copied to the buffer of input number `input`.
struct Commit {
  std::size_t output = 0;
  std::size_t input = 0;
  std::string reason;  ///< why not in place
};

/// A value that is computed a second time instead of being kept, because of a memory budget.
struct Recomputation {
  TensorId value = -1;      ///< the copy
  std::size_t bytes = 0;    ///< that need not be kept meanwhile
  double operations = 0;    ///< scalar operations done again
  std::string reason;
};

struct Plan {
  std::vector<Kernel> kernels;        ///< in execution order
  std::vector<Residence> residences;  ///< one per tensor of the system
  std::vector<Commit> commits;
  std::size_t arena_bytes = 0;
  std::vector<Recomputation> recomputations;
  std::string order;                  ///< why the kernels stand in another order than their equations; empty where they do not
};

/// Which outputs are new values of inputs (both as positions). Such an output has no buffer of the caller's: it lives
/// in place where the last read of the input allows, else in the arena, and is copied at the end.
struct PlanOptions {
  struct Update {
    std::size_t input = 0;
    std::size_t output = 0;
    friend bool operator==(const Update&, const Update&) = default;
  };
  std::vector<Update> updates;
  bool fuse = true;      ///< false: one kernel per equation
  bool reuse = true;     ///< false: no two tensors share arena bytes
  bool in_place = true;  ///< false: every update is copied at the end
  std::size_t alignment = 64;
  unsigned threads = 1;  ///< that may run a kernel at the same time; filled in from `CompileOptions`
  std::size_t stack_bytes = threshold<std::size_t>("most_own_stack_bytes");  ///< most memory of a kernel's own that is on the stack: less than `most_stack_bytes` by what machine code takes besides
  bool scratch = true;   ///< false: where the stack has no room for more of a kernel's own memory, values lie in the arena for all turns
  std::optional<std::size_t> memory_budget;  ///< most bytes of the arena: values are computed again until it fits (budget.hpp)
  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

/// Bytes from the first to the last element of a strip of a statement's target, as its tensor lies.
[[nodiscard]] std::size_t bytes_of_strip(const spec::System& system, const Kernel& kernel, const Statement& statement);

/// The kernel's loop that is shared loop `a` of a statement of it.
[[nodiscard]] inline std::size_t shared_loop(const Kernel& kernel, const Statement& statement, std::size_t a) {
  return statement.in_turn ? *kernel.turn : a;
}

/// The position of a scheduled kernel's contraction among its statements: those before it copy factors of it.
[[nodiscard]] inline std::size_t contraction_of(const Kernel& kernel) {
  std::size_t s = 0;
  while (kernel.statements[s].in_turn) ++s;
  return s;
}

/// Where a tensor lives, in words.
[[nodiscard]] std::string home_text(const spec::System& system, const Residence& residence);

/// The user's line and section that an origin stands for, such as `net.cpp:12, section "w step"`; empty where neither is known.
[[nodiscard]] std::string source_text(const spec::System& system, std::int32_t origin);

/// Readable text: kernels with their loops and statements, tensors with their homes, and each decision's reason.
[[nodiscard]] std::string to_text(const spec::System& system, const Plan& plan);

}  // namespace etalon::compiled
