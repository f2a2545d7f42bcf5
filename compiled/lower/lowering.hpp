/// \file
/// The state of lowering one kernel. Only the files that lower include it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/lower/lane_decisions.hpp"
#include "compiled/lower/lower.hpp"

namespace etalon::compiled::loops {

/// What holds where both conditions do, which may be constant; the first may be empty.
[[nodiscard]] inline Expr both(const Expr& a, const Expr& b) { return !a.valid() || is_true(a) ? b : (is_true(b) ? a : a && b); }

/// Lowers the statements of one kernel; open loops form a stack.
class Lowering {
 public:
  Lowering(const spec::System& system, const Plan& plan, const Machine& machine, LaneDecisions& decisions, Register& next)
      : system_(system), plan_(plan), machine_(machine), decisions_(decisions), next_(next) {}

  Nest lower(const Kernel& kernel);
  /// Which loops of a kernel with several statements run in lanes by cost.
  [[nodiscard]] PinnedLanes lanes_of(const Kernel& kernel);

 private:
  struct Open {
    Loop loop;
  };

  // --- statements ---
  void share(const Kernel& kernel);
  void lower_loops(const Kernel& kernel);
  void lower_alone(const Statement& statement);
  void lower_inner(const Kernel& kernel, const Statement& statement, bool lanes_taken);
  void lower_passing(const Kernel& kernel);
  void clear_parts(const Statement& statement, const Binder& part);
  void add_row(const Kernel& kernel, const Statement& statement, const Binder& part);
  void lower_scatter(const Kernel& kernel);
  void lower_sequence(const Kernel& kernel);
  void lower_contraction(const Kernel& kernel);
  void lower_tiles(const Kernel& kernel, std::size_t statement, const Schedule& with, const Expr& strip);
  void lower_strips(const Kernel& kernel);
  void lower_rows(const Kernel& kernel, std::size_t begin, std::size_t end);
  void note_rows(const Kernel& kernel);
  [[nodiscard]] Contract tiles_of(const spec::Equation& equation, const Schedule& schedule);
  void append_tiles(Contract c, const spec::Equation& equation, const std::function<void()>& elements);
  void lower_in_turn(const Kernel& kernel, const Statement& statement);
  [[nodiscard]] std::vector<FetchAhead> next_pieces(const Kernel& kernel, std::size_t outermost) const;
  [[nodiscard]] bool lower_transposed(const spec::Equation& equation);
  void assign(const spec::Equation& equation);
  void count_work(const std::vector<Binder>& binders, const Expr& value);
  [[nodiscard]] VectorWidth vectors_for(const spec::Equation& equation) const;
  [[nodiscard]] spec::Equation aligned(const Kernel& kernel, const Statement& statement) const;
  [[nodiscard]] bool is_shared(const Binder& binder) const;
  [[nodiscard]] bool adds_up(const Kernel& kernel) const;
  void start(const spec::Equation& equation);

  // --- loops ---
  void choose_among(std::vector<Binder>& loops, std::size_t equation, const std::vector<Assignment>& assignments, VectorWidth vectors);
  void in_lanes_last(std::vector<Binder>& loops) const;
  void open(const Binder& binder);
  void close();
  void append(std::size_t depth, Step step) { open_[depth].loop.steps.push_back(std::move(step)); }
  [[nodiscard]] Step step(decltype(Step::is) is) const { return {std::move(is), real_}; }

  [[nodiscard]] Expr open_blocks(std::int64_t tiles, std::int64_t block, const char* name, std::size_t& opened);

  // --- expressions ---
  [[nodiscard]] Expr strip(const Expr& e, const Expr& reached);
  [[nodiscard]] Expr strip_read(const Expr& e, const Expr& reached);
  [[nodiscard]] Expr strip_reduction(const Expr& e, const Expr& reached);
  [[nodiscard]] Expr strip_branches(const Expr& e, const Expr& reached);
  void of_one_turn(TensorId t, std::vector<Expr>& indices) const;
  [[nodiscard]] std::size_t depth_of(const Expr& e) const;
  [[nodiscard]] bool always_in_range(const Expr& e) const;
  [[nodiscard]] Expr fresh_register(Kind kind, std::size_t depth);

  const spec::System& system_;
  const Plan& plan_;
  const Machine& machine_;
  LaneDecisions& decisions_;
  Register& next_;
  std::vector<Open> open_;
  std::unordered_map<spec::VariableId, std::size_t> depth_;
  std::unordered_map<TensorId, Expr> registers_;
  std::vector<std::pair<std::pair<Expr, Expr>, Expr>> reductions_;  ///< those already computed, with `reached`
  Extents extents_;
  LaneChoice lanes_;
  Type real_ = Type::f32;
  std::vector<Binder> shared_;
  Expr row_;  ///< where rows add up in passing, the value of the first shared loop, which counts only its stretch
  /// The strip at hand of a kernel of strips.
  struct Rows {
    Expr first;  ///< row
    Expr local;  ///< number of a row in the strip, where a loop over them is open
    std::unordered_map<TensorId, std::vector<std::size_t>> axes;  ///< of memory of a strip: those of the shared loops
  };
  std::optional<Rows> rows_;
  std::size_t floor_ = 0;  ///< nothing is computed further out: what a recurrence reads changes with its steps
  double work_ = 0;
};

}  // namespace etalon::compiled::loops
