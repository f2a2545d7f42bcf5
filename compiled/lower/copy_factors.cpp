#include "compiled/lower/copy_factors.hpp"

#include <algorithm>

#include "compiled/ir/depth.hpp"

namespace etalon::compiled::loops {

namespace {

constexpr std::int64_t usual_stages = 2;
constexpr std::int64_t widest_copy = 16;
constexpr std::int64_t narrowest_copy = 4;

/// The tiles of steps that a block's threads share.
void collect(std::vector<Step>& steps, std::vector<Contract*>& into, std::vector<Type>& types) {
  for (Step& s : steps) {
    if (auto* loop = std::get_if<Loop>(&s.is)) collect(loop->steps, into, types);
    auto* c = std::get_if<Contract>(&s.is);
    if (c == nullptr || !c->schedule.shared) continue;
    into.push_back(c);
    types.push_back(s.real);
  }
}

/// How one contraction's factors can be copied.
class Copier {
 public:
  Copier(const spec::System& system, const Nest& nest, const Contract& c, Type real) : system_(system), nest_(nest), c_(c), real_(real) {}

  /// \returns bytes of a copy; 0 where there can be none
  std::int64_t bytes(const Expr& factor, const Binder& along) const {
    if (factor.form() != spec::Form::read || c_.taps.valid() || !is_others(factor->tensor) || system_[factor->tensor].dtype != held()) return 0;
    const Affine number = element_number(factor->args, system_[factor->tensor].dims);
    if (!number.opaque.empty()) return 0;
    const auto size = static_cast<std::int64_t>(size_of(held()));
    // Fragments have the steps of a row or column side by side, other tiles the rows or columns of a step.
    const bool is_wide = c_.schedule.fragments == nullptr ? lies_side_by_side(number, along, widest_copy / size) : lies_by_steps(number, widest_copy / size);
    return is_wide ? widest_copy : size >= narrowest_copy ? size : 0;
  }

  std::int64_t pieces() const { return c_.schedule.depth.blocks * parts(c_.schedule.depth.longest(), c_.schedule.shared->steps); }

 private:
  /// The type in which shared memory has the factors; a fragment's numbers that are rounded on the way are none that are copied.
  DType held() const {
    const FragmentAdder* const fragments = c_.schedule.fragments;
    if (fragments == nullptr) return real_ == Type::f64 ? DType::f64 : DType::f32;
    return fragments->bits == spec::format_of(fragments->held).precision ? fragments->held : DType::boolean;
  }

  bool is_others(TensorId t) const {
    return std::ranges::any_of(nest_.buffers, [&](const Buffer& b) { return b.tensor == t && b.scope == Scope::argument && !b.written; });
  }

  /// Whether n elements from a multiple of n on along that variable lie side by side from a multiple of n on, whatever else an index is made of.
  static bool lies_side_by_side(const Affine& number, const Binder& along, std::int64_t n) {
    if (number.coefficient(along.variable) != 1 || along.extent % n != 0 || number.constant % n != 0) return false;
    return std::ranges::all_of(number.variables, [&](const auto& term) { return term.first == along.variable || term.second % n == 0; });
  }

  /// Steps, whose turns in a block begin at multiples of n, too.
  bool lies_by_steps(const Affine& number, std::int64_t n) const {
    const DepthWalk& walk = c_.schedule.depth;
    const bool in_blocks = walk.level + 1 < c_.depth.size() || walk.turns % n == 0;
    return in_blocks && c_.schedule.shared->steps % n == 0 && lies_side_by_side(number, c_.depth.back(), n);
  }

  const spec::System& system_;
  const Nest& nest_;
  const Contract& c_;
  Type real_;
};

void copy_factors(const spec::System& system, Nest& nest, Deciding& deciding) {
  if (std::ranges::any_of(nest.buffers, [](const Buffer& b) { return b.scope == Scope::thread; })) return;
  std::vector<Contract*> tiles;
  std::vector<Type> types;
  collect(nest.steps, tiles, types);
  std::vector<BlockTile> copied;
  bool is_choice = false;
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    const Copier copier(system, nest, *tiles[n], types[n]);
    BlockTile tile = *tiles[n]->schedule.shared;
    if (copier.pieces() > 1) {
      tile.left_copied = copier.bytes(tiles[n]->left, tiles[n]->row);
      tile.right_copied = copier.bytes(tiles[n]->right, tiles[n]->column);
    }
    is_choice = is_choice || tile.left_copied + tile.right_copied > 0;
    copied.push_back(tile);
  }
  if (!is_choice) return;
  const DecisionLine* const given = deciding.given("copy", nest.name);
  if (given != nullptr && given->is("off")) return deciding.take(switched("copy", nest.name, false));
  const std::int64_t stages = given == nullptr ? usual_stages : given->number("stages", 2, most_stages);
  deciding.take({"copy", nest.name, {{"stages", std::to_string(stages)}}});
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    if (copied[n].left_copied + copied[n].right_copied == 0) continue;
    copied[n].stages = stages;
    tiles[n]->schedule.shared = copied[n];
  }
  verify(system, nest);
}

}  // namespace

void copy_factors(const spec::System& system, std::vector<Nest>& nests, Deciding& deciding) {
  for (Nest& nest : nests) copy_factors(system, nest, deciding);
}

}  // namespace etalon::compiled::loops
