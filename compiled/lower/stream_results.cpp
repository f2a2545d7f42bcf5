#include "compiled/lower/stream_results.hpp"

#include <algorithm>
#include <set>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/whole_lines.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

namespace {

/// Tensors that equations read.
std::set<TensorId> tensors_read(const spec::System& system) {
  std::set<TensorId> read;
  for (const spec::Equation& e : system.equations) {
    for (const Access& a : accesses_of(e.value).elements) read.insert(a.tensor);
  }
  return read;
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
    if (home != Home::turn && home != Home::in_register) bytes += static_cast<std::int64_t>(bytes_of(system[t]));
  }
  return bytes;
}

/// Whether an expression computes a function of what differs from lane to lane.
bool computes_function(const Expr& e, const std::set<spec::VariableId>& in_lanes) {
  return e.valid() && holds(e, [&](const Expr& x) {
    const bool function = x.form() == spec::Form::apply && takes_long(x->primitive);
    return function && std::any_of(in_lanes.begin(), in_lanes.end(), [&](spec::VariableId v) { return mentions(x, v); });
  });
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

/// The stores to a tensor that may go around the caches.
void collect_stores(const spec::System& system, std::vector<Step>& steps, TensorId t, std::vector<Store*>& into) {
  for (Step& s : steps) {
    Loop* lanes = lanes_loop(s);
    auto* loop = std::get_if<Loop>(&s.is);
    if (lanes == nullptr && loop != nullptr) collect_stores(system, loop->steps, t, into);
    if (lanes == nullptr) continue;
    for (Step& inner : lanes->steps) {
      auto* store = std::get_if<Store>(&inner.is);
      if (store != nullptr && store->tensor == t && may_stream(system, *lanes, *store)) into.push_back(store);
    }
  }
}

class Streaming {
 public:
  Streaming(const spec::System& system, const Plan& plan, std::int64_t last_cache, Deciding& deciding)
      : system_(system), plan_(plan), last_cache_(last_cache), deciding_(deciding), names_(addresses(system)), read_(tensors_read(system)) {}

  void kernel(std::size_t k, Nest& nest) {
    std::set<TensorId> seen;
    for (const Statement& s : plan_.kernels[k].statements) {
      const TensorId t = system_.equations[s.equation].target;
      if (plan_.residences.at(static_cast<std::size_t>(t)).home != Home::output || read_.contains(t) || !seen.insert(t).second) continue;
      std::vector<Store*> stores;
      collect_stores(system_, nest.steps, t, stores);
      if (stores.empty()) continue;
      const bool on = deciding_.on("stream", names_[s.equation], is_worth_it(k, nest, t));
      deciding_.take(switched("stream", names_[s.equation], on));
      for (Store* store : stores) store->streamed = on;
    }
    verify(system_, nest);
  }

 private:
  bool is_worth_it(std::size_t k, const Nest& nest, TensorId t) const {
    return static_cast<std::int64_t>(bytes_of(system_[t])) * threshold("large_part_of_the_last_cache") >= last_cache_ &&
           bytes_visited_from(system_, plan_, k) >= threshold("times_the_last_cache") * last_cache_ && !computes_functions(nest.steps);
  }

  const spec::System& system_;
  const Plan& plan_;
  std::int64_t last_cache_;
  Deciding& deciding_;
  std::vector<std::string> names_;
  std::set<TensorId> read_;
};

}  // namespace

void stream_results(const spec::System& system, const Plan& plan, std::int64_t last_cache, std::vector<Nest>& nests, Deciding& deciding) {
  Streaming streaming(system, plan, last_cache, deciding);
  for (std::size_t k = 0; k < nests.size(); ++k) {
    if (plan.kernels[k].kind == KernelKind::loops && !plan.kernels[k].schedule) streaming.kernel(k, nests[k]);
  }
}

}  // namespace etalon::compiled::loops
