#include "compiled/memory/order.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiled/ir/flow.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

using spec::System;

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

/// For each statement the first one of its part.
std::vector<std::size_t> parts_of(const System& system, const Kernel& kernel) {
  std::vector<std::size_t> part(kernel.statements.size());
  std::iota(part.begin(), part.end(), std::size_t{0});
  std::unordered_map<TensorId, std::size_t> writer;
  for (std::size_t s = 0; s < kernel.statements.size(); ++s) {
    const spec::Equation& e = system.equations[kernel.statements[s].equation];
    const auto join = [&](TensorId t) {
      const auto other = writer.find(t);
      if (other == writer.end()) return;
      const std::size_t from = std::max(part[s], part[other->second]);
      const std::size_t to = std::min(part[s], part[other->second]);
      std::replace(part.begin(), part.end(), from, to);
    };
    for_each_read(e, [&](const spec::Expr& x) { join(x->tensor); });
    join(e.target);
    writer.emplace(e.target, s);
  }
  return part;
}

class Ordering {
 public:
  Ordering(const System& system, const PlanOptions& options, Plan& plan)
      : plan_(plan), flow_(flow_of(system, plan.kernels)), after_(plan.kernels.size()), waits_(plan.kernels.size()),
        done_(plan.kernels.size()), readers_left_(system.tensors.size()) {
    for (std::size_t t = 0; t < system.tensors.size(); ++t) {
      readers_left_[t] = flow_.readers[t].size();
      for (const std::size_t w : flow_.writers[t]) {
        for (const std::size_t r : flow_.readers[t]) edge(w, r);
        edge(flow_.writers[t].front(), w);
      }
    }
    for (const auto& u : options.updates) {
      for (const std::size_t w : flow_.writers[at(system.outputs[u.output])]) {
        for (const std::size_t r : flow_.readers[at(system.inputs[u.input])]) {
          if (r < w) edge(r, w);
        }
      }
    }
    for (const Commit& c : plan.commits) ++readers_left_[at(system.outputs[c.output])];
  }

  void run() {
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      if (waits_[k] == 0) ready_.insert(k);
    }
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      if (done_[k]) continue;
      emit(k);
      while (move_ahead()) {}
    }
    std::vector<Kernel> ordered;
    for (const std::size_t k : order_) ordered.push_back(std::move(plan_.kernels[k]));
    plan_.kernels = std::move(ordered);
  }

 private:
  void edge(std::size_t from, std::size_t to) {
    if (from != to && after_[from].insert(to).second) ++waits_[to];
  }

  std::int64_t bytes_of(TensorId t) const {
    const Residence& r = plan_.residences[at(t)];
    return r.home == Home::arena ? static_cast<std::int64_t>(r.bytes) : 0;
  }

  void emit(std::size_t k) {
    ready_.erase(k);
    done_[k] = true;
    order_.push_back(k);
    for (const TensorId t : flow_.reads[k]) --readers_left_[at(t)];
    for (const std::size_t next : after_[k]) {
      if (--waits_[next] == 0) ready_.insert(next);
    }
  }

  struct Chain {
    std::vector<std::size_t> kernels;
    std::int64_t grown = 0;  ///< bytes that are live afterwards beyond those before
  };

  /// Emits the chain of kernels that frees most, if one frees any. \returns whether there was one.
  bool move_ahead() {
    Chain best;
    for (const std::size_t k : ready_) {
      Chain chain = freeing_chain(k);
      if (chain.grown < best.grown) best = std::move(chain);
    }
    for (const std::size_t k : best.kernels) emit(k);
    return !best.kernels.empty();
  }

  /// The shortest chain from a kernel on after which less is live than before, or nothing.
  Chain freeing_chain(std::size_t first) const {
    std::vector<std::size_t> chain{first};
    std::unordered_map<std::size_t, std::size_t> waits;
    std::unordered_map<TensorId, std::size_t> left;
    std::int64_t grown = 0;
    for (std::size_t i = 0; i < chain.size() && i < threshold<std::size_t>("longest_chain"); ++i) {
      for (const TensorId t : flow_.writes[chain[i]]) grown += bytes_of(t);
      for (const TensorId t : flow_.reads[chain[i]]) {
        const std::size_t others = --left.emplace(t, readers_left_[at(t)]).first->second;
        if (others == 0) grown -= bytes_of(t);
      }
      if (grown < 0) return {{chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(i) + 1}, grown};
      for (const std::size_t next : after_[chain[i]]) {
        if (--waits.emplace(next, waits_[next]).first->second == 0) chain.push_back(next);
      }
    }
    return {};
  }

  Plan& plan_;
  Flow flow_;
  std::vector<std::set<std::size_t>> after_;
  std::vector<std::size_t> waits_;
  std::vector<bool> done_;
  std::vector<std::size_t> readers_left_;
  std::set<std::size_t> ready_;
  std::vector<std::size_t> order_;
};

}  // namespace

void split_parts(const System& system, Plan& plan) {
  std::vector<Kernel> kernels;
  for (Kernel& kernel : plan.kernels) {
    const std::vector<std::size_t> part = parts_of(system, kernel);
    const std::set<std::size_t> firsts(part.begin(), part.end());
    if (kernel.kind != KernelKind::loops || kernel.schedule || !kernel.lanes || firsts.size() == 1) {
      kernels.push_back(std::move(kernel));
      continue;
    }
    for (const std::size_t first : firsts) {
      Kernel own = kernel;
      own.statements.clear();
      for (std::size_t s = 0; s < part.size(); ++s) {
        if (part[s] == first) own.statements.push_back(kernel.statements[s]);
      }
      if (own.statements.size() < kernel.statements.size()) own.reason = "a part of its own: " + kernel.reason;
      kernels.push_back(std::move(own));
    }
  }
  plan.kernels = std::move(kernels);
}

void order_for_memory(const System& system, const PlanOptions& options, Plan& plan) { Ordering(system, options, plan).run(); }

}  // namespace etalon::compiled
