#include "compiled/rewrite/lift.hpp"

#include <bit>
#include <optional>
#include <utility>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/depth.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/rewrite/parts.hpp"
#include "compiled/rewrite/split.hpp"

namespace etalon::compiled {

namespace {

std::int64_t levels(std::int64_t n) { return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }

/// Roundings on the longest way of a term through a sum of blocks.
std::int64_t height(std::int64_t longest, std::int64_t blocks) { return longest + levels(blocks); }

std::int64_t bytes_read(const System& system, const Expr& factor) {
  std::int64_t bytes = 0;
  spec::for_each(factor, [&](const Expr& e) {
    if (e.form() == Form::read) bytes += system[e->tensor].dims.count() * static_cast<std::int64_t>(size_of(system[e->tensor].dtype));
  });
  return bytes;
}

class Lifter {
 public:
  Lifter(System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding)
      : system_(system), machine_(machine), options_(options), deciding_(deciding) {}

  void run() {
    const std::vector<bool> recurrent = recurrent_equations(system_);
    const std::vector<std::string> names = addresses(system_);
    for (std::size_t i = 0; i < recurrent.size(); ++i) {
      Equation equation = std::move(system_.equations[i]);
      if (const auto c = recurrent[i] ? std::nullopt : in_parts(equation)) {
        const bool on = deciding_.on("lift", names[i], reads_again(equation, *c));
        deciding_.take(switched("lift", names[i], on));
        if (on) lift(equation, *c);
      }
      result_.push_back(std::move(equation));
    }
    system_.equations = std::move(result_);
  }

 private:
  /// The contraction that an equation is, if it can be added up in parts.
  std::optional<Contraction> in_parts(const Equation& equation) const {
    auto seen = recognise_contraction(system_, equation);
    auto* c = std::get_if<Contraction>(&seen);
    if (c == nullptr || c->depth.size() < 2 || !fills_its_target(equation)) return std::nullopt;
    if (options_.windows) (void)turn_windows(system_, equation, *c);
    if (!decide(system_, equation, *c, machine_, options_).schedule) return std::nullopt;
    const Binder& first = c->depth.front();
    if (first.extent < 2 || first.extent > threshold("most_lifted_parts") || points_of(c->depth) / first.extent < threshold("least_lifted_terms")) return std::nullopt;
    const bool shared = loops::mentions(c->left, first.variable) && loops::mentions(c->right, first.variable);
    return shared && low_enough(*c) ? std::optional(*c) : std::nullopt;
  }

  bool fills_its_target(const Equation& equation) const {
    const Dims& dims = system_[equation.target].dims;
    if (dims.rank == Dims::max_rank || equation.binders.size() != dims.rank) return false;
    for (std::size_t a = 0; a < dims.rank; ++a) {
      if (!(equation.place[a] == spec::variable(equation.binders[a])) || equation.binders[a].extent != dims[a]) return false;
    }
    return true;
  }

  /// Whether its parts are worth it.
  bool reads_again(const Equation& equation, const Contraction& c) const {
    std::int64_t outer = 1;
    std::int64_t elements = c.depth.front().extent;
    for (std::size_t b = 0; b < equation.binders.size(); ++b) {
      elements *= equation.binders[b].extent;
      if (b != c.row && b != c.column) outer *= equation.binders[b].extent;
    }
    const std::int64_t read = bytes_read(system_, c.left) + bytes_read(system_, c.right);
    return outer > 1 && (options_.always || read > usual_middle_bytes) && elements * static_cast<std::int64_t>(size_of(c.type)) <= read;
  }

  static bool low_enough(const Contraction& c) {
    const DepthWalk part = walk({c.depth.begin() + 1, c.depth.end()});
    const std::int64_t blocks = (points_of(c.depth) + longest_block - 1) / longest_block;
    return height(part.longest(), part.blocks) + levels(c.depth.front().extent) <= height(longest_block, blocks);
  }

  /// Adds the equation of the parts before `equation`, which becomes their sum. In the parts the elements of a tile lie side by
  /// side, the columns innermost.
  void lift(Equation& equation, const Contraction& c) {
    Equation part = with_own_binders(system_, equation);
    std::vector<Binder> depth = part.value->binders;
    const Binder first = depth.front();
    depth.erase(depth.begin());
    part.value = spec::reduce(spec::Reduction::sum, std::move(depth), part.value->args[0], part.value->args[1]);
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < part.binders.size(); ++b) {
      if (b != c.row && b != c.column) order.push_back(b);
    }
    order.insert(order.end(), {c.row, c.column});
    std::vector<Expr> place;
    std::vector<Binder> binders{first};
    for (const std::size_t b : order) {
      place.push_back(equation.place[b]);
      binders.push_back(part.binders[b]);
    }
    part.binders = std::move(binders);
    part.place = spec::variables(part.binders);
    Dims dims;
    for (const Binder& b : part.binders) dims.push_back(b.extent);
    part.target = system_.add_tensor(system_[equation.target].name + ".parts", *type_of_part(system_, equation, equation.value), dims);
    equation.value = sum_of_parts(system_, part.target, place, first.extent);
    result_.push_back(std::move(part));
  }

  System& system_;
  const Machine& machine_;
  const ScheduleOptions& options_;
  Deciding& deciding_;
  std::vector<Equation> result_;
};

}  // namespace

void lift_sums(System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) {
  Lifter(system, machine, options, deciding).run();
}

}  // namespace etalon::compiled
