#include "compiled/loops/stream_results.hpp"

#include <algorithm>
#include <set>

#include "compiled/loops/accesses.hpp"

namespace etalon::compiled::loops {

namespace {

constexpr std::int64_t line_bytes = 64;
/// Of a vector; smaller pieces leave a line half written for long.
constexpr std::int64_t least_vector_bytes = 32;

/// Tensors that a kernel and those after it visit.
std::set<TensorId> visited_from(const spec::System& system, const Plan& plan, std::size_t kernel) {
  std::set<TensorId> visited;
  for (std::size_t k = kernel; k < plan.kernels.size(); ++k) {
    for (const Statement& s : plan.kernels[k].statements) {
      const spec::Equation& e = system.equations[s.equation];
      visited.insert(e.target);
      for (const Access& a : accesses_of(e.value).elements) visited.insert(a.tensor);
    }
  }
  return visited;
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

bool may_stream(const spec::System& system, const Loop& lanes, const Store& store) {
  const auto bytes = static_cast<std::int64_t>(size_of(system[store.tensor].dtype));
  const std::int64_t vector = lanes.width * bytes;
  if (store.add || store.guard.valid() || lanes.binder.extent % lanes.width != 0 || vector < least_vector_bytes) return false;
  const Affine number = element_number(store.place, system[store.tensor].dims);
  if (!number.opaque.empty() || number.coefficient(lanes.binder.variable) != 1 || number.constant * bytes % line_bytes != 0) return false;
  return std::all_of(number.variables.begin(), number.variables.end(), [&](const auto& term) {
    return term.first == lanes.binder.variable || term.second * bytes % line_bytes == 0;
  });
}

void stream_results(const spec::System& system, const Plan& plan, const Machine& machine, std::size_t kernel, Nest& nest) {
  const auto bytes_of = [&](TensorId t) { return system[t].dims.count() * static_cast<std::int64_t>(size_of(system[t].dtype)); };
  std::set<TensorId> results;
  for (const Statement& s : plan.kernels.at(kernel).statements) {
    const TensorId t = system.equations[s.equation].target;
    if (plan.residences.at(static_cast<std::size_t>(t)).home == Home::output && bytes_of(t) > machine.middle_bytes) results.insert(t);
  }
  if (results.empty()) return;
  std::int64_t visited = 0;
  for (const TensorId t : visited_from(system, plan, kernel)) {
    const Home home = plan.residences.at(static_cast<std::size_t>(t)).home;
    if (home != Home::turn && home != Home::in_register) visited += bytes_of(t);
  }
  if (visited < machine.last_bytes) return;
  std::erase_if(results, [&](TensorId t) { return is_read(system, t); });
  Streaming(system, std::move(results)).within(nest.steps);
  verify(system, nest);
}

}  // namespace etalon::compiled::loops
