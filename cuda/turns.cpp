#include "cuda/turns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/counting.hpp"

namespace etalon::cuda {

using compiled::source::literal;

/// What stands before the loops fills registers.
void Turns::outside(compiled::source::Steps& steps) { steps.all({nest_.steps.begin(), nest_.steps.end() - 1}); }

void Turns::one_by_one(compiled::source::Steps& steps, const std::string& number, const std::string& count) {
  if (loops_.empty()) return steps.all(nest_.steps);
  if (grid_.turns == 0) return;
  outside(steps);
  const std::string at = scalars_.claim("turn");
  text_.open(fmt::format("for ({4} {0} = {1}; {0} < {2}; {0} += {3})", at, number, literal(grid_.turns), count, index_));
  turn(steps, at);
  text_.close();
}

void Turns::several_at_once(compiled::source::Steps& steps) {
  outside(steps);
  const std::int64_t of_block = grid_.threads * grid_.at_once;
  const std::string first = scalars_.claim("first");
  text_.open(fmt::format("for ({4} {0} = ({4})blockIdx.x * {1} + threadIdx.x; {0} < {2}; {0} += ({4})gridDim.x * {3})", first, of_block, literal(grid_.turns), of_block, index_));
  const auto each = [&](bool asked) {
    const std::string n = scalars_.claim("n"), at = scalars_.claim("turn");
    open_unrolled(text_, n, grid_.at_once);
    text_.line(fmt::format("const {} {} = {} + {} * {};", index_, at, first, n, grid_.threads));
    if (asked) text_.line(fmt::format("if ({} >= {}) break;", at, literal(grid_.turns)));
    turn(steps, at);
    text_.close();
  };
  if (grid_.turns % of_block == 0) {
    each(false);
  } else {
    text_.open(fmt::format("if ({} + {} < {})", first, of_block - grid_.threads, literal(grid_.turns)));
    each(false);
    text_.otherwise();
    each(true);
    text_.close();
  }
  text_.close();
}

void Turns::turn(compiled::source::Steps& steps, const std::string& number) {
  if (joining_ != nullptr) joining_->turn = number;
  bind_turn(nest_, number, index_, scalars_, text_);
  steps.all(loops_.back()->steps);
}

void bind_turn(const compiled::loops::Nest& nest, const std::string& turn, const std::string& index, compiled::source::Scalars& scalars, compiled::source::Text& text) {
  const std::vector<const compiled::loops::Loop*> loops = loops_of_grid(nest);
  std::int64_t inside = turns_of(nest);
  for (const compiled::loops::Loop* loop : loops) {
    inside /= std::max<std::int64_t>(1, loop->binder.extent);
    std::string value = inside == 1 ? turn : fmt::format("{} / {}", turn, literal(inside));
    if (loop != loops.front()) value += fmt::format(" % {}", literal(loop->binder.extent));
    text.line(fmt::format("const {} {} = {};", index, scalars.bind(loop->binder), value));
  }
}

}  // namespace etalon::cuda
