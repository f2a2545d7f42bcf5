#include "cuda/squares.hpp"

#include <algorithm>
#include <cstdlib>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/arithmetic.hpp"
#include "compiled/ir/depth.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

using compiled::loops::Access;
using compiled::loops::Accesses;
using compiled::loops::Affine;
using compiled::loops::Loop;
using compiled::loops::Nest;
using spec::Expr;

namespace {

/// What memory moves at a time, at least: elements further apart than that share nothing.
constexpr std::int64_t sector_bytes = 32;
/// A block has that many squares of f32 in memory without there being fewer blocks.
constexpr std::size_t most_elements = 4;

class SquareFinder {
 public:
  SquareFinder(const spec::System& system, const Nest& nest) : system_(system), loops_(loops_of_grid(nest)), all_(compiled::loops::accesses_of(loops_.back()->steps)) {
    for (const Loop* loop : loops_) extents_[loop->binder.variable] = loop->binder.extent;
    for (const Expr& e : all_.expressions) {
      spec::for_each(e, [&](const Expr& x) {
        if (x.form() == spec::Form::read && std::ranges::find(reads_, x) == reads_.end()) reads_.push_back(x);
      });
    }
  }

  std::optional<Squares> run() const {
    Squares found;
    for (std::size_t w = 0; w < loops_.size(); ++w) {
      if (!is_long(w) || !all_written_along(w)) continue;
      for (std::size_t r = 0; r < loops_.size(); ++r) {
        std::vector<Expr> elements = w == r || !is_long(r) ? std::vector<Expr>{} : elements_along(w, r);
        if (elements.size() > found.elements.size()) found = {w, r, std::move(elements)};
      }
    }
    if (found.elements.empty()) return std::nullopt;
    found.count = 1;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      const std::int64_t extent = loops_[l]->binder.extent;
      found.count *= l == found.written || l == found.read ? compiled::parts(extent, square_side) : extent;
    }
    for (const Expr& e : found.elements) {
      found.offsets.push_back(found.bytes);
      found.bytes += (square_side * square_pitch * size_of_element(e) + 15) / 16 * 16;
    }
    return found;
  }

 private:
  bool is_long(std::size_t loop) const { return 2 * loops_[loop]->binder.extent >= square_side; }
  std::int64_t coefficient(const Affine& a, std::size_t loop) const { return a.coefficient(loops_[loop]->binder.variable); }
  std::int64_t size_of_element(const Expr& read) const { return static_cast<std::int64_t>(size_of(system_[read->tensor].dtype)); }

  bool all_written_along(std::size_t w) const {
    return std::ranges::all_of(all_.elements, [&](const Access& a) {
      if (!a.write) return true;
      const Affine number = compiled::loops::element_number(a.place, system_[a.tensor].dims);
      return number.opaque.empty() && std::abs(coefficient(number, w)) == 1;
    });
  }

  bool is_written(spec::TensorId t) const {
    return std::ranges::any_of(all_.elements, [&](const Access& a) { return a.write && a.tensor == t; });
  }

  /// Elements that are neighbours along r and far apart along w. No element is asked for that a condition may leave out.
  std::vector<Expr> elements_along(std::size_t w, std::size_t r) const {
    std::vector<Expr> found;
    for (const Expr& read : reads_) {
      const Affine number = compiled::loops::element_number(read->args, system_[read->tensor].dims);
      const bool turned = std::abs(coefficient(number, r)) == 1 && std::abs(coefficient(number, w)) * size_of_element(read) >= sector_bytes;
      if (turned && number.opaque.empty() && !is_written(read->tensor) && compiled::loops::in_range(system_, read, extents_) && found.size() < most_elements) found.push_back(read);
    }
    return found;
  }

  const spec::System& system_;
  std::vector<const Loop*> loops_;
  Accesses all_;
  compiled::loops::Extents extents_;
  std::vector<Expr> reads_;
};

}  // namespace

std::optional<Squares> squares_of(const spec::System& system, const Nest& nest) {
  const std::vector<const Loop*> loops = loops_of_grid(nest);
  if (loops.size() < 2 || !is_element(loops.back()->steps)) return std::nullopt;
  return SquareFinder(system, nest).run();
}

}  // namespace etalon::cuda
