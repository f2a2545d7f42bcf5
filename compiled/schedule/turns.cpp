#include "compiled/schedule/turns.hpp"

#include <optional>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

namespace {

/// The reads of a tensor in an equation.
std::vector<Expr> reads_of(const Equation& equation, TensorId t) {
  std::vector<Expr> reads;
  for_each_read(equation.value, [&](const Expr& e) {
    if (e->tensor == t) reads.push_back(e);
  });
  return reads;
}

/// The binder that is the first index of every read and stands in no other one.
std::optional<std::size_t> loop_of(const Equation& equation, const std::vector<Expr>& reads) {
  const Expr& first = reads.front()->args[0];
  if (first.form() != Form::variable) return std::nullopt;
  for (const Expr& r : reads) {
    if (!(r->args[0] == first)) return std::nullopt;
    for (std::size_t axis = 1; axis < r->args.size(); ++axis) {
      if (loops::mentions(r->args[axis], first->variable)) return std::nullopt;
    }
  }
  return position_of(first, equation.binders);
}

class Turns {
 public:
  Turns(const System& system, std::vector<Decision>& decisions, Deciding& deciding)
      : system_(system), decisions_(decisions), deciding_(deciding), readers_(system.tensors.size()) {
    for (std::size_t i = 0; i < system.equations.size(); ++i) note_reads(i);
  }

  void run() {
    const std::vector<std::string> names = addresses(system_);
    std::vector<std::optional<std::size_t>> loops(system_.equations.size());
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      const auto found = decisions_[i].packs ? turn_of(system_.equations[i]) : std::nullopt;
      if (!found) continue;
      const bool on = deciding_.on("piece", names[i], is_worth_it(system_.equations[i]));
      if (!on) deciding_.take(switched("piece", names[i], false));
      if (!on) continue;
      std::optional<std::size_t>& loop = loops[readers_of(system_.equations[i]).front()];
      if (!loop) loop = found->loop;
      if (*loop != found->loop) continue;
      deciding_.take(switched("piece", names[i], true));
      decisions_[i].in_turns = found;
      decisions_[i].reason += ", a piece in each turn of the loop that reads it";
    }
  }

 private:
  void note_reads(std::size_t i) {
    for_each_read(system_.equations[i].value, [&](const Expr& e) {
      std::vector<std::size_t>& readers = readers_[static_cast<std::size_t>(e->tensor)];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    });
  }

  const std::vector<std::size_t>& readers_of(const Equation& copy) const { return readers_[static_cast<std::size_t>(copy.target)]; }

  /// Turns enough for threads, and a piece that stays near beside what it is multiplied with.
  bool is_worth_it(const Equation& copy) const {
    const Dims& dims = system_[copy.target].dims;
    const std::int64_t piece = dims.count() / dims[0] * static_cast<std::int64_t>(size_of(system_[copy.target].dtype));
    return dims[0] >= threshold("least_turns") && piece <= percent(usual_middle_bytes, threshold("copied_piece_percent"));
  }

  std::optional<CopiedInTurns> turn_of(const Equation& copy) const {
    const std::vector<std::size_t>& readers = readers_of(copy);
    const Dims& dims = system_[copy.target].dims;
    if (readers.size() != 1 || dims.rank < 2 || dims[0] < 2) return std::nullopt;
    const std::optional<Schedule>& schedule = decisions_[readers.front()].schedule;
    if (!schedule || decisions_[readers.front()].strip || !(copy.place == spec::variables(copy.binders))) return std::nullopt;
    const Equation& reader = system_.equations[readers.front()];
    const auto loop = loop_of(reader, reads_of(reader, copy.target));
    if (!loop || *loop == schedule->row || *loop == schedule->column || reader.binders[*loop].extent != dims[0]) return std::nullopt;
    return CopiedInTurns{*loop};
  }

  const System& system_;
  std::vector<Decision>& decisions_;
  Deciding& deciding_;
  std::vector<std::vector<std::size_t>> readers_;  ///< per tensor, the equations that read it
};

}  // namespace

void copy_in_turns(const System& system, std::vector<Decision>& decisions, Deciding& deciding) {
  Turns(system, decisions, deciding).run();
}

}  // namespace etalon::compiled
