#include "cuda/fours.hpp"

#include <algorithm>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/arithmetic.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

using compiled::loops::Affine;
using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Step;
using compiled::loops::Store;
using spec::Expr;

namespace {

class FourFinder {
 public:
  FourFinder(const spec::System& system, const Nest& nest) : system_(system), loops_(loops_of_grid(nest)), all_(compiled::loops::accesses_of(loops_.back()->steps)) {
    for (const Loop* loop : loops_) extents_[loop->binder.variable] = loop->binder.extent;
    found_.in_rows = loops_.back()->binder.extent % neighbours == 0;
  }

  std::optional<Fours> run() {
    for (const Step& s : loops_.back()->steps) {
      if (const auto* store = std::get_if<Store>(&s.is); store != nullptr && !take(*store)) return std::nullopt;
    }
    bool suits = true;
    for (const Expr& e : all_.expressions) {
      spec::for_each(e, [&](const Expr& x) { suits = suits && (x.form() != spec::Form::read || take(x)); });
    }
    return suits ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  bool take(const Store& store) {
    const bool asked = store.guard.valid() && store.guard.form() != spec::Form::number;
    if (asked || !are_neighbours(compiled::loops::element_number(store.place, system_[store.tensor].dims))) return false;
    found_.stores.push_back(&store);
    return true;
  }

  bool take(const Expr& read) {
    const bool is_written = std::ranges::any_of(all_.elements, [&](const auto& a) { return a.write && a.tensor == read->tensor; });
    if (is_written) return false;
    const Affine number = compiled::loops::element_number(read->args, system_[read->tensor].dims);
    if (found_.in_rows && is_same(number)) return true;
    if (!are_neighbours(number) || !compiled::loops::in_range(system_, read, extents_)) return false;
    if (std::ranges::find(found_.reads, read) == found_.reads.end()) found_.reads.push_back(read);
    return true;
  }

  /// For all turns of the innermost loop.
  bool is_same(const Affine& number) const {
    const spec::VariableId last = loops_.back()->binder.variable;
    return number.coefficient(last) == 0 && std::ranges::none_of(number.opaque, [&](const auto& term) { return compiled::loops::mentions(term.second, last); });
  }

  /// Whether four turns from a multiple of four on have four elements from a multiple of four on.
  bool are_neighbours(const Affine& number) const {
    if (!number.opaque.empty() || number.constant % neighbours != 0) return false;
    std::int64_t inside = 1;
    std::size_t known = 0;
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const spec::Binder& b = (*loop)->binder;
      const std::int64_t by = number.coefficient(b.variable);
      const bool suits = found_.in_rows && inside > 1 ? by % neighbours == 0 : by == inside;
      if (!suits && b.extent > 1) return false;
      known += number.variables.contains(b.variable) ? 1 : 0;
      inside *= b.extent;
    }
    return known == number.variables.size();
  }

  const spec::System& system_;
  std::vector<const Loop*> loops_;
  compiled::loops::Accesses all_;
  compiled::loops::Extents extents_;
  Fours found_;
};

/// Threads that keep a chip busy.
constexpr std::int64_t least_threads = machine.multiprocessors * 1024;

}  // namespace

std::optional<Fours> fours_of(const spec::System& system, const Nest& nest) {
  const std::vector<const Loop*> loops = loops_of_grid(nest);
  if (loops.empty() || !is_element(loops.back()->steps) || turns_of(nest) < neighbours * least_threads) return std::nullopt;
  return FourFinder(system, nest).run();
}

}  // namespace etalon::cuda
