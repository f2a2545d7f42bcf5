#include "cuda/four_steps.hpp"

#include <fmt/format.h>

#include <vector>

#include "cuda/counting.hpp"
#include "cuda/grid.hpp"
#include "cuda/turns.hpp"

namespace etalon::cuda {

using compiled::source::literal;

std::string FourSteps::type_of(spec::TensorId t) const { return fmt::format("et_four<{}>", compiled::source::element_type(system_[t].dtype)); }

void FourSteps::write(const compiled::loops::Nest& nest) {
  all({nest.steps.begin(), nest.steps.end() - 1});
  const std::string first = scalars_.claim("first"), turns = literal(turns_of(nest));
  text_->open(fmt::format("for ({0} {1} = {3} * (({0})blockIdx.x * blockDim.x + threadIdx.x); {1} < {2}; {1} += {3} * (({0})gridDim.x * blockDim.x))", index_, first, turns, neighbours));
  const bool has_rest = turns_of(nest) % neighbours != 0;
  if (has_rest) rest(nest, first, turns);
  four(nest, first);
  if (has_rest) text_->close();
  text_->close();
}

/// Turns that are no four, one by one.
void FourSteps::rest(const compiled::loops::Nest& nest, const std::string& first, const std::string& turns) {
  const std::string turn = scalars_.claim("turn");
  text_->open(fmt::format("if ({} + {} > {})", first, neighbours, turns));
  text_->open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1})", index_, turn, first, turns));
  bind_turn(nest, turn, index_, scalars_, *text_);
  all(loops_of_grid(nest).back()->steps);
  text_->close();
  text_->otherwise();
}

/// All loads are under way before the first element is computed.
void FourSteps::four(const compiled::loops::Nest& nest, const std::string& first) {
  const spec::Binder& last = loops_of_grid(nest).back()->binder;
  bind_turn(nest, first, index_, scalars_, *text_);
  const std::string n = scalars_.claim("n");
  for (const spec::Expr& read : fours_.reads) {
    const std::string got = scalars_.claim("got"), type = type_of(read->tensor);
    text_->line(fmt::format("const {0} {1} = *(const {0} *)&{2};", type, got, scalars_.element(read->tensor, read->args, *text_)));
    scalars_.hold(read, fmt::format("{}.at[{}]", got, n));
  }
  std::vector<std::string> places;
  for (const compiled::loops::Store* store : fours_.stores) {
    const std::string put = scalars_.claim("put"), type = type_of(store->tensor);
    places.push_back(scalars_.claim("place"));
    text_->line(fmt::format("{0} *const {1} = ({0} *)&{2};", type, places.back(), scalars_.element(store->tensor, store->place, *text_)));
    text_->line(fmt::format("{} {};", type, put));
    put_[store] = fmt::format("{}.at[{}]", put, n);
  }
  const std::string at = scalars_.value(spec::variable(last), *text_);
  open_unrolled(*text_, n, neighbours);
  if (fours_.in_rows) {
    text_->line(fmt::format("const {} {} = {} + {};", index_, scalars_.bind(last), at, n));
  } else {
    const std::string turn = scalars_.claim("turn");
    text_->line(fmt::format("const {} {} = {} + {};", index_, turn, first, n));
    bind_turn(nest, turn, index_, scalars_, *text_);
  }
  all(loops_of_grid(nest).back()->steps);
  text_->close();
  for (std::size_t s = 0; s < places.size(); ++s) {
    const std::string& put = put_.at(fours_.stores[s]);
    text_->line(fmt::format("*{} = {};", places[s], put.substr(0, put.find('.'))));
  }
}

void FourSteps::step(const compiled::loops::Store& store, const compiled::loops::Step& s) {
  const auto put = put_.find(&store);
  if (put == put_.end()) return Steps::step(store, s);
  scalars_.set_real(s.real);
  const DType dtype = system_[store.tensor].dtype;
  const compiled::loops::Type type = scalars_.stored_type(store.value, dtype);
  const std::string value = scalars_.value(store.value, type, *text_);
  text_->line(fmt::format("{} = {};", put->second, scalars_.narrowed(value, type, dtype)));
}

}  // namespace etalon::cuda
