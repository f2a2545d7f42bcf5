#include "cuda/tile_parts.hpp"

#include <fmt/format.h>

#include <bit>

#include "cuda/joining.hpp"
#include "cuda/tile_steps.hpp"
#include "cuda/turns.hpp"

namespace etalon::cuda {

using compiled::loops::Contract;
using compiled::loops::Step;
using compiled::source::literal;
using compiled::source::type_name;

namespace {

const Step& step_of(const compiled::loops::Nest& nest) { return loops_of_grid(nest).empty() ? nest.steps.back() : loops_of_grid(nest).back()->steps.front(); }

}  // namespace

/// A partial result: they lie part by part, tile by tile.
std::string TileParts::at(const std::string& part, const std::string& number, compiled::loops::Type type) const {
  return fmt::format("(({} *){})[{} * {} + {}]", type_name(type), memory_, part, results(), number);
}

void TileParts::write_parts(const compiled::loops::Nest& nest) {
  const Step& step = step_of(nest);
  const auto& c = std::get<Contract>(step.is);
  const std::string thread = scalars_.claim("thread"), all = scalars_.claim("all_shared"), shared = scalars_.claim("shared");
  const std::string result = scalars_.claim("result"), turn = scalars_.claim("turn"), part = scalars_.claim("part"), first = scalars_.claim("first_block"), blocks = scalars_.claim("own_blocks");
  text_.line(fmt::format("const int {} = threadIdx.x;", thread));
  text_.line(fmt::format("extern __shared__ double {}[];", all));
  text_.line(fmt::format("char *const {} = (char *){};", shared, all));
  text_.open(fmt::format("for ({0} {1} = ({0})blockIdx.x; {1} < {2}; {1} += ({0})gridDim.x)", index_, result, literal(split_.parts.count() * split_.turns)));
  text_.line(fmt::format("const {} {} = {} % {}, {} = {} / {};", index_, turn, result, literal(split_.turns), part, result, literal(split_.turns)));
  bind_turn(nest, turn, index_, scalars_, text_);
  const std::int64_t most = split_.parts.length, rest = c.schedule.depth.blocks - split_.parts.whole * most;
  text_.line(fmt::format("const int {} = {} * {}, {} = {};", first, part, most, blocks,
                         rest == most ? std::to_string(most) : fmt::format("{} < {} ? {} : {}", part, split_.parts.whole, most, rest)));
  TileSteps tiles(scalars_, system_, text_, c, thread, shared, index_, {first, blocks, most});
  tiles.write(step, [&] {
    const auto inside = [&](const spec::Binder& along, const spec::Expr& first_tile, std::int64_t tile) {
      return scalars_.value(spec::variable(along) - first_tile * spec::integer(tile), text_);
    };
    const std::string row = inside(c.row, c.first_row, c.schedule.tile_rows), column = inside(c.column, c.first_column, c.schedule.tile_columns);
    const std::string number = fmt::format("({} * {} + {}) * {} + {}", turn, c.schedule.tile_rows, row, c.schedule.tile_columns, column);
    text_.line(fmt::format("{} = {};", at(part, number, step.real), scalars_.value(compiled::loops::value_of(c.target, Kind::real), step.real, text_)));
  });
  text_.close();
}

void TileParts::write_joined(const compiled::loops::Nest& nest, compiled::source::Steps& steps) {
  const Step& step = step_of(nest);
  const auto& c = std::get<Contract>(step.is);
  steps.all({nest.steps.begin(), nest.steps.end() - 1});
  scalars_.set_real(step.real);
  const std::string element = scalars_.claim("element"), turn = scalars_.claim("turn");
  text_.open(fmt::format("for ({0} {1} = ({0})blockIdx.x * blockDim.x + threadIdx.x; {1} < {2}; {1} += ({0})gridDim.x * blockDim.x)", index_, element, literal(results())));
  text_.line(fmt::format("const {} {} = {} / {};", index_, turn, element, split_.chains));
  bind_turn(nest, turn, index_, scalars_, text_);
  std::string inside;
  const auto bind = [&](const spec::Binder& along, const spec::Expr& first_tile, std::int64_t tile, const std::string& place) {
    const std::string first = scalars_.value(first_tile * spec::integer(tile), text_), i = scalars_.bind(along);
    text_.line(fmt::format("const {} {} = {} + {};", index_, i, first, place));
    if (along.extent % tile != 0) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", i, literal(along.extent));
  };
  bind(c.row, c.first_row, c.schedule.tile_rows, fmt::format("{} / {} % {}", element, c.schedule.tile_columns, c.schedule.tile_rows));
  bind(c.column, c.first_column, c.schedule.tile_columns, fmt::format("{} % {}", element, c.schedule.tile_columns));
  text_.open(inside.empty() ? "" : fmt::format("if ({})", inside));
  const Stretch all{"0", static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(split_.parts.count()))), index_};
  const std::string sum = joined_sum(scalars_, text_, step.real, split_.parts, all, [&](const std::string& part) { return at(part, element, step.real); });
  text_.line(fmt::format("const {} {} = {};", type_name(step.real), scalars_.define(c.target, step.real), sum));
  steps.all(c.steps);
  text_.close();
  text_.close();
}

}  // namespace etalon::cuda
