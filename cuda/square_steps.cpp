#include "cuda/square_steps.hpp"

#include <fmt/format.h>

#include <utility>

#include "compiled/ir/depth.hpp"
#include "cuda/counting.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

using compiled::source::element_type;
using compiled::source::literal;

void SquareSteps::write(const compiled::loops::Nest& nest, std::int64_t blocks, compiled::source::Steps& steps) {
  loops_ = loops_of_grid(nest);
  steps.all({nest.steps.begin(), nest.steps.end() - 1});
  declare();
  const std::string turn = scalars_.claim("turn");
  text_.open(fmt::format("for ({0} {1} = ({0})blockIdx.x; {1} < {2}; {1} += ({0})gridDim.x)", index_, turn, literal(squares_.count)));
  bind_square(turn);
  fetch();
  text_.line("__syncthreads();");
  each_row(squares_.written, squares_.read, [&](const std::string&, const std::string& row) {
    for (std::size_t e = 0; e < memory_.size(); ++e) {
      scalars_.hold(squares_.elements[e], fmt::format("{}[{} * {} + {}]", memory_[e], across_, square_pitch, row));
    }
    steps.all(loops_.back()->steps);
  });
  // Nobody writes over what others still read.
  if (squares_.count > blocks) text_.line("__syncthreads();");
  text_.close();
}

void SquareSteps::declare() {
  across_ = scalars_.claim("across");
  down_ = scalars_.claim("down");
  text_.line(fmt::format("const int {0} = threadIdx.x % {2}, {1} = threadIdx.x / {2};", across_, down_, square_side));
  const std::string all = scalars_.claim("all_shared");
  text_.line(fmt::format("extern __shared__ double {}[];", all));
  for (std::size_t e = 0; e < squares_.elements.size(); ++e) {
    memory_.push_back(scalars_.claim("held"));
    const std::string_view type = element_type(system_[squares_.elements[e]->tensor].dtype);
    text_.line(fmt::format("{0} *const {1} = ({0} *)((char *){2} + {3});", type, memory_.back(), all, squares_.offsets[e]));
  }
}

/// Squares follow each other along what is written.
void SquareSteps::bind_square(const std::string& turn) {
  first_.assign(loops_.size(), {});
  std::int64_t inside = 1;
  const auto number = [&](std::int64_t count) {
    std::string value = inside == 1 ? turn : fmt::format("{} / {}", turn, literal(inside));
    inside *= count;
    return inside == squares_.count ? value : fmt::format("{} % {}", value, literal(count));
  };
  for (const std::size_t l : {squares_.written, squares_.read}) {
    first_[l] = scalars_.claim("first_" + loops_[l]->binder.name);
    text_.line(fmt::format("const {} {} = {} * {};", index_, first_[l], number(compiled::parts(loops_[l]->binder.extent, square_side)), square_side));
  }
  for (std::size_t l = loops_.size(); l-- > 0;) {
    if (!first_[l].empty()) continue;
    const std::string value = number(loops_[l]->binder.extent), i = scalars_.bind(loops_[l]->binder);
    text_.line(fmt::format("const {} {} = {};", index_, i, value));
  }
}

/// All loads are under way before the first number is put where all threads see it.
void SquareSteps::fetch() {
  std::vector<std::string> next;
  text_.open("");
  for (const spec::Expr& element : squares_.elements) {
    next.push_back(scalars_.claim("next"));
    text_.line(fmt::format("{} {}[{}] = {{}};", element_type(system_[element->tensor].dtype), next.back(), square_side / square_rows));
  }
  each_row(squares_.read, squares_.written, [&](const std::string& turn, const std::string&) {
    for (std::size_t e = 0; e < next.size(); ++e) {
      const std::string element = scalars_.element(squares_.elements[e]->tensor, squares_.elements[e]->args, text_);
      text_.line(fmt::format("{}[{}] = {};", next[e], turn, element));
    }
  });
  const std::string i = scalars_.claim("i");
  open_unrolled(text_, i, square_side / square_rows);
  for (std::size_t e = 0; e < next.size(); ++e) {
    text_.line(fmt::format("{}[({} + {} * {}) * {} + {}] = {}[{}];", memory_[e], down_, square_rows, i, square_pitch, across_, next[e], i));
  }
  text_.close();
  text_.close();
}

/// What is inside of both loops, neighbouring threads at neighbours along the one.
void SquareSteps::each_row(std::size_t across, std::size_t down, const std::function<void(const std::string& turn, const std::string& row)>& element) {
  const std::string turn = scalars_.claim("i"), row = scalars_.claim("row");
  open_unrolled(text_, turn, square_side / square_rows);
  text_.line(fmt::format("const int {} = {} + {} * {};", row, down_, square_rows, turn));
  std::string inside;
  for (const auto& [loop, thread] : {std::pair{across, across_}, std::pair{down, row}}) {
    const spec::Binder& binder = loops_[loop]->binder;
    const std::string i = scalars_.bind(binder);
    text_.line(fmt::format("const {} {} = {} + {};", index_, i, first_[loop], thread));
    if (binder.extent % square_side != 0) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", i, literal(binder.extent));
  }
  text_.open(inside.empty() ? "" : fmt::format("if ({})", inside));
  element(turn, row);
  text_.close();
  text_.close();
}

}  // namespace etalon::cuda
