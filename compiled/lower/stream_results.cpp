#include "compiled/lower/stream_results.hpp"

#include <algorithm>
#include <set>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/whole_lines.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

namespace {

std::int64_t bytes_of(const spec::System& system, TensorId t) {
  return system[t].dims.count() * static_cast<std::int64_t>(size_of(system[t].dtype));
}

/// Bytes of the tensors in memory that a kernel and those after it visit.
std::int64_t bytes_visited_from(const spec::System& system, const Plan& plan, std::size_t kernel) {
  std::set<TensorId> visited;
  for (std::size_t k = kernel; k < plan.kernels.size(); ++k) {
    for (const Statement& s : plan.kernels[k].statements) {
      const spec::Equation& e = system.equations[s.equation];
      visited.insert(e.target);
      for (const Access& a : accesses_of(e.value).elements) visited.insert(a.tensor);
    }
  }
  std::int64_t bytes = 0;
  for (const TensorId t : visited) {
    const Home home = plan.residences.at(static_cast<std::size_t>(t)).home;
    if (home != Home::turn && home != Home::in_register) bytes += bytes_of(system, t);
  }
  return bytes;
}

/// Whether an expression computes a function of what differs from lane to lane.
bool computes_function(const Expr& e, const std::set<spec::VariableId>& in_lanes) {
  bool found = false;
  if (!e.valid()) return false;
  spec::for_each(e, [&](const Expr& x) {
    if (found || x.form() != spec::Form::apply || !takes_long(x->primitive)) return;
    found = std::any_of(in_lanes.begin(), in_lanes.end(), [&](spec::VariableId v) { return mentions(x, v); });
  });
  return found;
}

/// Whether some loop in lanes does.
bool computes_functions(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) {
    const Loop* lanes = lanes_loop(s);
    if (lanes == nullptr) {
      const auto* loop = std::get_if<Loop>(&s.is);
      return loop != nullptr && computes_functions(loop->steps);
    }
    std::set<spec::VariableId> in_lanes{lanes->binder.variable};
    bool found = false;
    for (const Step& inner : lanes->steps) {
      if (const auto* d = std::get_if<Define>(&inner.is)) {
        found = found || computes_function(d->value, in_lanes);
        in_lanes.insert(d->target);
      }
      if (const auto* store = std::get_if<Store>(&inner.is)) found = found || computes_function(store->value, in_lanes);
    }
    const auto* r = std::get_if<Reduce>(&s.is);
    return found || (r != nullptr && computes_function(r->body, in_lanes));
  });
}

bool is_read(const spec::System& system, TensorId t) {
  return std::any_of(system.equations.begin(), system.equations.end(), [&](const spec::Equation& e) {
    const std::vector<Access> read = accesses_of(e.value).elements;
    return std::any_of(read.begin(), read.end(), [&](const Access& a) { return a.tensor == t; });
  });
}

class Streaming {
 public:
  Streaming(const spec::System& system, std::set<TensorId> results) : system_(system), results_(std::move(results)) {}

  void within(std::vector<Step>& steps) const {
    for (Step& s : steps) {
      if (Loop* lanes = lanes_loop(s)) {
        stores(*lanes);
      } else if (auto* loop = std::get_if<Loop>(&s.is)) {
        within(loop->steps);
      }
    }
  }

 private:
  void stores(Loop& lanes) const {
    for (Step& s : lanes.steps) {
      auto* store = std::get_if<Store>(&s.is);
      if (store != nullptr && results_.contains(store->tensor)) store->streamed = may_stream(system_, lanes, *store);
    }
  }

  const spec::System& system_;
  std::set<TensorId> results_;
};

}  // namespace

void stream_results(const spec::System& system, const Plan& plan, std::int64_t last_cache, std::size_t kernel, Nest& nest) {
  std::set<TensorId> results;
  for (const Statement& s : plan.kernels.at(kernel).statements) {
    const TensorId t = system.equations[s.equation].target;
    if (plan.residences.at(static_cast<std::size_t>(t)).home == Home::output && bytes_of(system, t) * threshold("large_part_of_the_last_cache") >= last_cache) results.insert(t);
  }
  if (results.empty() || bytes_visited_from(system, plan, kernel) < threshold("times_the_last_cache") * last_cache || computes_functions(nest.steps)) return;
  std::erase_if(results, [&](TensorId t) { return is_read(system, t); });
  Streaming(system, std::move(results)).within(nest.steps);
  verify(system, nest);
}

}  // namespace etalon::compiled::loops
