#include <fmt/format.h>

#include <bit>

#include "compiled/ir/access.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/windows.hpp"
#include "spec/error.hpp"

namespace etalon::compiled::loops {

namespace {

class ContractionVerifier {
 public:
  ContractionVerifier(const spec::System& system, const std::string& kernel, const Contract& c, const Extents& loops)
      : system_(system), kernel_(kernel), c_(c), s_(c.schedule), loops_(loops) {}

  void run() const {
    require(c_.row.extent >= 1 && c_.column.extent >= 1 && terms() >= 1, "a contraction has rows, columns and terms");
    require(s_.depth == walk(c_.depth, s_.adder != nullptr) && s_.depth.longest() <= longest_block, "terms are added in sequence as the contract declares");
    if (s_.shared) return shared_tile();
    require(s_.lanes >= 2 && s_.tile_rows >= 1 && s_.tile_columns >= 1, "a tile has rows and vectors");
    require(std::has_single_bit(s_.lanes) && s_.lanes <= most_lanes, "a tile's lanes are a power of two");
    require(s_.tile_columns % s_.lanes == 0, "a tile's columns are whole vectors");
    require(s_.unroll >= 1 && s_.unroll <= longest_block, "a turn has steps, not more than a block");
    require(!s_.fetch_ahead || loops_of_steps(s_, c_.depth.size()) == 1, "a panel is fetched ahead along one loop");
    require(s_.block_rows >= 1 && s_.block_columns >= 1, "a block has tiles");
    blocks(c_.first_row, c_.row, s_.tile_rows, s_.block_rows);
    blocks(c_.first_column, c_.column, s_.tile_columns, s_.block_columns);
    element();
    require(c_.left.form() == spec::Form::read && c_.right.form() == spec::Form::read, "factors are reads");
    require(system_[c_.left->tensor].dtype == system_[c_.right->tensor].dtype, "factors have one type");
    factors_apart();
    factor(c_.left, c_.row, s_.tile_rows, s_.left.layout, false);
    factor(c_.right, c_.column, s_.tile_columns, s_.right.layout, true);
    if (s_.adder != nullptr) terms_at_once(*s_.adder);
    if (s_.side_by_side != 1) side_by_side();
    if (s_.shared_taps != 1) shared_taps();
    for (const FetchAhead& piece : c_.ahead) fetched(piece);
    if (c_.guard.valid()) guard();
    if (c_.taps.valid()) taps();
    const std::int64_t vectors = s_.tile_columns / s_.lanes;
    require(s_.tile_rows <= most_registers && vectors <= most_registers && registers_of_tile(s_.tile_rows, vectors) <= most_registers,
            "the sums of a tile are held in registers");
  }

 private:
  static constexpr std::int64_t most_registers =
      std::max_element(machines::all.begin(), machines::all.end(), [](const Machine& a, const Machine& b) { return a.vector_registers < b.vector_registers; })
          ->vector_registers;

  /// Of an element; 0 where there are more than can be counted.
  std::int64_t terms() const {
    std::int64_t all = 1;
    for (const Binder& b : c_.depth) {
      if (__builtin_mul_overflow(all, b.extent, &all)) return 0;
    }
    return all;
  }

  void require(bool holds, const char* rule) const {
    if (!holds) throw InternalError(fmt::format("loops: kernel {}: {}", kernel_, rule));
  }

  void element() const {
    for (const Step& s : c_.steps) {
      require(std::holds_alternative<Store>(s.is) || std::holds_alternative<Define>(s.is), "the steps of an element are no loops");
    }
  }

  void factors_apart() const {
    require(!mentions(c_.left, c_.column.variable), "the left factor does not know the column");
    require(!mentions(c_.right, c_.row.variable), "the right factor does not know the row");
  }

  /// A tile that a block's threads share: what they copy may be any value, and each term's guard is known by the row or by the column.
  void shared_tile() const {
    const BlockTile& each = *s_.shared;
    require(each.rows >= 1 && each.columns >= 1 && each.steps >= 1, "a thread has rows and columns of a tile");
    require((each.stages > 1) == (each.left_copied + each.right_copied > 0) && each.stages >= 1 && each.stages <= most_stages, "pieces come meanwhile where factors are copied");
    for (const auto& [read, copied] : {std::pair{&c_.left, each.left_copied}, std::pair{&c_.right, each.right_copied}}) {
      require(copied == 0 || (read->form() == spec::Form::read && !c_.taps.valid()), "a factor that is copied is a read, all of whose terms count");
      require(copied == 0 || copied == 4 || copied == 8 || copied == 16, "a copy has 4, 8 or 16 bytes");
    }
    require(s_.tile_rows % each.rows == 0 && s_.tile_columns % each.columns == 0, "threads share a tile evenly");
    const std::int64_t threads = s_.tile_rows / each.rows * (s_.tile_columns / each.columns);
    require(threads >= 32 && threads <= 1024 && threads % 32 == 0, "a block has whole warps, at most 32 of them");
    require(s_.block_rows == 1 && s_.block_columns >= 1, "a block has one tile of rows");
    blocks(c_.first_row, c_.row, s_.tile_rows, 1);
    blocks(c_.first_column, c_.column, s_.tile_columns, s_.block_columns);
    element();
    factors_apart();
    require(s_.fragments == nullptr || each.steps % s_.fragments->terms == 0, "a piece has whole fragments");
    require(s_.fragments == nullptr || !c_.taps.valid(), "terms of fragments all count");
    if (s_.fragments != nullptr) {
      // A fragment of sums is two by two numbers of eight by four threads.
      require(each.rows % 2 == 0 && each.columns % 2 == 0, "a thread has whole fragments");
      require(s_.tile_rows / each.rows % 8 == 0 && s_.tile_columns / each.columns % 4 == 0, "a warp's threads share fragments");
    }
    require(!c_.guard.valid() && c_.ahead.empty(), "a shared tile has guards of steps, and fetches nothing ahead");
    if (!c_.taps.valid()) return;
    for (const spec::Expr& e : conditions_of(c_.taps)) {
      require(!mentions(e, c_.row.variable) || !mentions(e, c_.column.variable), "a guard of steps knows the row or the column");
    }
  }

  void terms_at_once(const TermAdder& adder) const {
    require(c_.depth.size() > 1 && c_.depth.back().extent == adder.terms, "an instruction takes all terms of the last loop at once");
    require(s_.lanes == adder.lanes, "an instruction has the lanes of the tile");
    require(!c_.guard.valid() && !c_.taps.valid() && s_.shared_taps == 1, "terms that are taken at once all count");
    require(system_[c_.left->tensor].dtype == adder.held, "an instruction reads factors in its type");
    for (const Expr* read : {&c_.left, &c_.right}) {
      require(steps_along(element_number((*read)->args, system_[(*read)->tensor].dims), c_.depth)->back() == 1, "terms that are taken at once lie side by side");
    }
  }

  void side_by_side() const {
    require(s_.side_by_side > 1 && s_.depth.blocks > 1 && s_.depth.taps == loops_of_steps(s_, c_.depth.size()), "blocks side by side have steps in loops");
    const std::int64_t extent = c_.depth[s_.depth.level].extent;
    require(extent % (s_.depth.turns * s_.side_by_side) == 0, "blocks side by side are whole, and as many each time");
  }

  void shared_taps() const {
    require(s_.shared_taps > 1 && s_.depth.taps < c_.depth.size() && s_.tile_columns == s_.lanes, "steps that share loads are written out, for one vector");
    const Affine element = element_number(c_.left->args, system_[c_.left->tensor].dims);
    const std::int64_t along = access_along(element, c_.row.variable)->inner;
    const std::int64_t by = steps_along(element, c_.depth)->back();
    require(along != 0 && by != 0 && by % along == 0, "steps that share loads slide along the rows");
  }

  /// One slice of a tensor, shared among the blocks of a turn.
  void fetched(const FetchAhead& piece) const {
    require(piece.first.form() == spec::Form::read && !piece.first->args.empty(), "what is fetched ahead is a slice");
    const spec::TensorInfo& tensor = system_[piece.first->tensor];
    require(piece.first->args.size() == tensor.dims.rank, "a slice that is fetched ahead has its tensor's rank");
    const std::int64_t bytes = tensor.dims.count() * static_cast<std::int64_t>(size_of(tensor.dtype));
    require(tensor.dims[0] >= 1 && piece.bytes == bytes / tensor.dims[0], "a slice that is fetched ahead is one of the first axis");
    require(piece.blocks >= 1, "what is fetched ahead is shared among blocks");
  }

  void guard() const {
    require(c_.guard.form() == spec::Form::read, "a guard is a read");
    require(system_[c_.guard->tensor].dtype == system_[c_.right->tensor].dtype, "a guard has the type of the factors");
    require(!mentions(c_.guard, c_.row.variable), "the guard does not know the row");
    require(s_.right.layout == Layout::panels, "a guard lies in panels");
    factor(c_.guard, c_.column, s_.tile_columns, s_.right.layout, true);
  }

  void taps() const {
    require(!c_.guard.valid(), "terms have one guard");
    for (const spec::Expr& e : conditions_of(c_.taps)) {
      const auto a = at_least_zero(e);
      require(a.has_value(), "a guard of steps is inequalities between loops");
      require(a->coefficient(c_.column.variable) == 0, "a guard of steps does not know the column");
      for (std::size_t l = 0; l < s_.depth.taps; ++l) {
        require(a->coefficient(c_.depth[l].variable) == 0, "a guard of steps knows only loops that are written out");
      }
    }
  }

  /// The first tile is 0 or a whole number of blocks, one block for each turn of a loop.
  void blocks(const Expr& first, const Binder& along, std::int64_t tile, std::int64_t block) const {
    const std::int64_t tiles = (along.extent + tile - 1) / tile;
    if (first.is_integer(0)) return require(block >= tiles, "blocks cover every tile");
    require(first.is(spec::Primitive::mul) && first->args[0].form() == spec::Form::variable && first->args[1].is_integer(block),
            "blocks follow each other");
    const auto loop = loops_.find(first->args[0]->variable);
    require(loop != loops_.end() && loop->second == (tiles + block - 1) / block, "blocks cover every tile once");
    require(!(c_.first_row == c_.first_column), "rows and columns have blocks of their own");
  }

  void factor(const Expr& read, const Binder& along, std::int64_t tile, Layout layout, bool vectors) const {
    require(read->args.size() == system_[read->tensor].dims.rank, "a read has its tensor's rank");
    const Affine element = element_number(read->args, system_[read->tensor].dims);
    require(steps_along(element, c_.depth).has_value(), "the depth goes through a factor at a fixed distance");
    const auto access = access_along(element, along.variable);
    require(access.has_value(), "a tile's elements are at fixed distances");
    const std::int64_t terms = s_.adder != nullptr ? s_.adder->terms : 1;
    require(!vectors || access->inner == terms, "columns lie side by side");
    require(!vectors || s_.adder == nullptr || access->panel != 0, "terms that are taken at once lie in panels");
    require(layout != Layout::panels || access->panel != 0, "a factor lies in panels where it is packed so");
    if (access->panel == 0) return;
    require(access->panel == tile, "a panel is as wide as a tile");
    const Dims& dims = system_[read->tensor].dims;
    require(dims[dims.rank - (terms == 1 ? 1 : 2)] == tile && access->inner == terms, "a panel holds whole tiles");
  }

  const spec::System& system_;
  const std::string& kernel_;
  const Contract& c_;
  const Schedule& s_;
  const Extents& loops_;
};

}  // namespace

void verify_contraction(const spec::System& system, const std::string& kernel, const Contract& c, const Extents& loops) {
  ContractionVerifier(system, kernel, c, loops).run();
}

}  // namespace etalon::compiled::loops
