#include "cuda/part_steps.hpp"

#include <fmt/format.h>

#include <bit>

#include "cuda/counting.hpp"
#include "cuda/joining.hpp"
#include "cuda/turns.hpp"

namespace etalon::cuda {

using compiled::source::literal;
using compiled::source::type_name;

std::string Joining::at(const std::string& part, const std::string& chain, compiled::loops::Type type) const {
  return fmt::format("(({} *){})[(({} * {} + {}) * {}) + {}]", type_name(type), memory, part, split.turns, turn.empty() ? "0" : turn, split.chains, chain);
}

compiled::source::Steps::Walk PartSteps::walk_of(const compiled::loops::Loop& loop) const {
  if (&loop != &split_.reduce->loops.front()) return Steps::walk_of(loop);
  return split_.chains == 1 ? Walk{"0", 1, true} : Walk{chain_, split_.chains, true};
}

void PartSteps::write(const compiled::loops::Nest& nest, const std::string& memory) {
  const std::string result = scalars_.claim("result"), turn = scalars_.claim("turn");
  chain_ = scalars_.claim("chain");
  text_->open(fmt::format("for ({3} {0} = ({3})blockIdx.x * blockDim.x + threadIdx.x; {0} < {1}; {0} += ({2})gridDim.x * blockDim.x)", result, literal(split_.results()), index_, index_));
  if (split_.chains > 1) text_->line(fmt::format("const {} {} = {} % {};", index_, chain_, result, literal(split_.chains)));
  if (split_.turns > 1) text_->line(fmt::format("const {} {} = {} / {} % {};", index_, turn, result, literal(split_.chains), literal(split_.turns)));
  bind_turn(nest, split_.turns > 1 ? turn : "0", index_, scalars_, *text_);
  const compiled::loops::Reduce& r = *split_.reduce;
  const compiled::loops::Step& step = loops_of_grid(nest).empty() ? nest.steps.front() : loops_of_grid(nest).back()->steps.front();
  if (split_.rounds) {
    stretch_ = {scalars_.claim("begin"), scalars_.claim("end")};
    const std::string extent = literal(r.loops.front().binder.extent), length = literal(split_.parts.length);
    text_->line(fmt::format("const {} {} = {} / {} * {};", index_, stretch_.first, result, literal(split_.chains * split_.turns), length));
    text_->line(fmt::format("const {4} {0} = {1} + {2} < {3} ? {1} + {2} : {3};", stretch_.second, stretch_.first, length, extent, index_));
  }
  scalars_.set_real(step.real);
  Partial partial = declare(r);
  add_up(r, step, partial);
  text_->line(fmt::format("(({} *){})[{}] = {};", type_name(partial.type), memory, result, partial.value));
  text_->close();
}

void JoiningSteps::step(const compiled::loops::Reduce& r, const compiled::loops::Step& s) {
  if (&r != joining_.split.reduce) return Steps::step(r, s);
  scalars_.set_real(s.real);
  const Partial result = declare(r);
  const Split& split = joining_.split;
  text_->open("");
  if (split.rounds) {
    const Stretch all{"0", static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(split.parts.count()))), index_};
    text_->line(fmt::format("{} = {};", result.value, joined_sum(scalars_, *text_, result.type, split.parts, all, [&](const std::string& part) { return joining_.at(part, "0", result.type); })));
  } else {
    const std::string chain = scalars_.claim("chain");
    text_->open(counting(chain, split.chains));
    text_->line(fmt::format("{} = {};", result.value, joined(r.reduction, result.type, result.value, joining_.at("0", chain, result.type))));
    text_->close();
  }
  text_->close();
}

}  // namespace etalon::cuda
