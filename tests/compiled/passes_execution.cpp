#include "tests/compiled/passes_execution.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "spec/system/recurrence.hpp"
#include "tests/compiled/element.hpp"
#include "tests/compiled/expression_interpreter.hpp"

namespace etalon::test {

using namespace etalon::spec;

namespace {

std::size_t flat(const Dims& dims, const std::vector<std::int64_t>& index) {
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    if (index[axis] < 0 || index[axis] >= dims[axis])
      throw std::logic_error("the interpreter of the tests reads out of range");
    at = at * static_cast<std::size_t>(dims[axis]) + static_cast<std::size_t>(index[axis]);
  }
  return at;
}

/// All values of some binders, each as a list.
std::vector<std::vector<std::int64_t>> points(const std::vector<std::int64_t>& extents) {
  std::vector<std::vector<std::int64_t>> all{{}};
  for (const std::int64_t n : extents) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& p : all) {
      for (std::int64_t i = 0; i < n; ++i) {
        longer.push_back(p);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Runs equations on tensors whose first byte `address` gives.
class Machine {
 public:
  Machine(const System& system, std::function<std::byte*(TensorId)> address)
      : system_(system), address_(std::move(address)) {}

  void assign(const Equation& equation, Environment& at, Evaluation& evaluate) const {
    std::vector<std::int64_t> place;
    for (const Expr& p : equation.place) place.push_back(evaluate(p, at).integer);
    const TensorInfo& target = system_[equation.target];
    const Scalar value = evaluate(equation.value, at);
    store(target.dtype, address_(equation.target) + flat(target.dims, place) * size_of(target.dtype), value);
  }

  Evaluation evaluation(const Equation& equation) const {
    return Evaluation(compiled::arithmetic_type(system_, equation), [this](TensorId t, const auto& index) {
      const TensorInfo& tensor = system_[t];
      return load(tensor.dtype, address_(t) + flat(tensor.dims, index) * size_of(tensor.dtype));
    }, [this](TensorId t) { return system_[t].dtype == DType::f64; });
  }

  void scatter(const Equation& equation, const compiled::Scatter& s) const {
    const TensorInfo& target = system_[equation.target];
    Evaluation evaluate = evaluation(equation);
    const auto element = [&](Environment& at) {
      std::vector<std::int64_t> place;
      for (const Expr& p : equation.place) place.push_back(evaluate(p, at).integer);
      return address_(equation.target) + flat(target.dims, place) * size_of(target.dtype);
    };
    std::memset(address_(equation.target), 0, static_cast<std::size_t>(target.dims.count()) * size_of(target.dtype));
    std::vector<Binder> loops;
    for (std::size_t b = 0; b < equation.binders.size(); ++b) {
      const bool hit = std::any_of(s.hits.begin(), s.hits.end(), [b](const auto& h) { return h.binder == b; });
      if (!hit) loops.push_back(equation.binders[b]);
    }
    for (const Binder& b : equation.value->binders) loops.push_back(b);
    std::vector<std::int64_t> extents;
    for (const Binder& b : loops) extents.push_back(b.extent);
    for (const auto& p : points(extents)) {
      Environment at;
      for (std::size_t b = 0; b < loops.size(); ++b) at[loops[b].variable] = p[b];
      if (evaluate(s.precondition, at).integer == 0) continue;
      bool inside = true;
      Environment full = at;
      for (const auto& h : s.hits) {
        const std::int64_t k = evaluate(h.index, at).integer;
        inside = inside && k >= 0 && k < equation.binders[h.binder].extent;
        full[equation.binders[h.binder].variable] = k;
      }
      if (!inside || evaluate(s.guard, at).integer == 0) continue;
      std::byte* to = element(full);
      Scalar sum = load(target.dtype, to);
      const Scalar x = evaluate(s.body, at);
      sum.real = target.dtype == DType::f32
                     ? static_cast<double>(static_cast<float>(sum.real) + static_cast<float>(x.real))
                     : sum.real + x.real;
      sum.integer += x.integer;
      store(target.dtype, to, sum);
    }
  }

  void statement(const compiled::Statement& s, const std::vector<std::int64_t>& shared) const {
    const Equation& equation = system_.equations[s.equation];
    std::vector<std::size_t> own;
    std::vector<std::int64_t> extents;
    for (std::size_t b = 0; b < equation.binders.size(); ++b) {
      if (std::find(s.shared.begin(), s.shared.end(), b) != s.shared.end()) continue;
      own.push_back(b);
      extents.push_back(equation.binders[b].extent);
    }
    Evaluation evaluate = evaluation(equation);
    for (const auto& p : points(extents)) {
      Environment at;
      for (std::size_t a = 0; a < shared.size(); ++a) at[equation.binders[s.shared[a]].variable] = shared[a];
      for (std::size_t b = 0; b < own.size(); ++b) at[equation.binders[own[b]].variable] = p[b];
      assign(equation, at, evaluate);
    }
  }

 private:
  const System& system_;
  std::function<std::byte*(TensorId)> address_;
};

std::vector<std::byte> garbage(std::size_t bytes) { return std::vector<std::byte>(bytes + 1, std::byte{0xA5}); }

}  // namespace

std::vector<HostTensor> execute(const System& system, const std::vector<HostTensor>& inputs) {
  std::vector<std::vector<std::byte>> memory;
  for (const TensorInfo& t : system.tensors)
    memory.push_back(garbage(static_cast<std::size_t>(t.dims.count()) * size_of(t.dtype)));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].bytes.begin(), inputs[i].bytes.end(),
              memory[static_cast<std::size_t>(system.inputs[i])].begin());
  }
  const Machine machine(system, [&](TensorId t) { return memory[static_cast<std::size_t>(t)].data(); });
  const std::vector<spec::Recurrence> recurrences = spec::recurrences(system);
  auto next = recurrences.begin();
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    if (next == recurrences.end() || next->equations.front().equation != i) {
      machine.statement({i, {}}, {});
      continue;
    }
    for (std::int64_t n = 0; n < next->steps; ++n) {
      const std::int64_t step = next->backwards ? next->steps - 1 - n : n;
      for (const auto& e : next->equations) machine.statement({e.equation, {e.binder}}, {step});
    }
    i = next++->equations.back().equation;
  }
  std::vector<HostTensor> outputs;
  for (const TensorId t : system.outputs) {
    HostTensor out(system[t].dtype, system[t].dims);
    std::copy_n(memory[static_cast<std::size_t>(t)].begin(), out.bytes.size(), out.bytes.begin());
    outputs.push_back(std::move(out));
  }
  return outputs;
}

namespace {

/// The memory that a plan asks for. A register, or memory of an iteration, is as large as its tensor, but forgets at each iteration.
struct PlannedMemory {
  const System& system;
  const compiled::Plan& plan;
  Outcome& outcome;
  std::vector<std::byte> arena = garbage(plan.arena_bytes);
  std::vector<std::vector<std::byte>> registers = std::vector<std::vector<std::byte>>(system.tensors.size());

  std::byte* address(TensorId t) {
    using compiled::Home;
    const auto& r = plan.residences[static_cast<std::size_t>(t)];
    switch (r.home) {
      case Home::input:
      case Home::in_place:
        return outcome.inputs[r.index].bytes.data();
      case Home::output:
        return outcome.outputs[r.index].bytes.data();
      case Home::arena:
        return arena.data() + r.offset;
      case Home::in_register:
      case Home::turn:
        return registers[static_cast<std::size_t>(t)].data();
      case Home::none:
        break;
    }
    throw std::logic_error("a tensor without a home is used: " + system[t].name);
  }

  void forget_registers(const compiled::Kernel& kernel) {
    for (const compiled::Statement& s : kernel.statements) {
      const TensorId t = system.equations[s.equation].target;
      const compiled::Home home = plan.residences[static_cast<std::size_t>(t)].home;
      if (home != compiled::Home::in_register && home != compiled::Home::turn) continue;
      registers[static_cast<std::size_t>(t)] =
          garbage(static_cast<std::size_t>(system[t].dims.count()) * size_of(system[t].dtype));
    }
  }
};

}  // namespace

Outcome execute(const System& system, const compiled::Plan& plan, const std::vector<HostTensor>& inputs,
                std::uint32_t seed) {
  Outcome outcome{{}, inputs};
  for (const TensorId t : system.outputs) outcome.outputs.emplace_back(system[t].dtype, system[t].dims);
  PlannedMemory memory{system, plan, outcome};
  const Machine machine(system, [&](TensorId t) { return memory.address(t); });
  std::mt19937 random(seed);
  for (const compiled::Kernel& kernel : plan.kernels) {
    std::vector<std::vector<std::int64_t>> order = points(kernel.loops);
    if (kernel.kind != compiled::KernelKind::sequence) std::shuffle(order.begin(), order.end(), random);
    if (kernel.backwards) std::reverse(order.begin(), order.end());
    for (const auto& shared : order) {
      memory.forget_registers(kernel);
      for (const compiled::Statement& s : kernel.statements) {
        if (kernel.kind == compiled::KernelKind::scatter) {
          machine.scatter(system.equations[s.equation], kernel.scatter);
        } else {
          machine.statement(s, shared);
        }
      }
    }
  }
  for (const auto& c : plan.commits) {
    const auto& r = plan.residences[static_cast<std::size_t>(system.outputs[c.output])];
    std::copy_n(memory.arena.begin() + static_cast<std::ptrdiff_t>(r.offset), r.bytes,
                outcome.inputs[c.input].bytes.begin());
  }
  return outcome;
}

namespace {

bool same_element(DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  return kind_of(dtype) == Kind::real && std::isnan(load(dtype, a).real) && std::isnan(load(dtype, b).real);
}

}  // namespace

bool same_bits(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t].dtype != b[t].dtype || !(a[t].dims == b[t].dims) || a[t].bytes.size() != b[t].bytes.size()) return false;
    for (std::size_t i = 0; i < a[t].bytes.size(); i += size_of(a[t].dtype)) {
      if (!same_element(a[t].dtype, a[t].bytes.data() + i, b[t].bytes.data() + i)) return false;
    }
  }
  return true;
}

std::vector<HostTensor> draw_inputs(const System& system, std::uint32_t seed) {
  std::mt19937 random(seed);
  const double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {0.0, -0.0, infinity, -infinity, std::nan(""), 1.0, -1.0, 1e-40, 3e38};
  std::vector<HostTensor> inputs;
  for (const TensorId t : system.inputs) {
    const TensorInfo& tensor = system[t];
    HostTensor in(tensor.dtype, tensor.dims);
    for (std::size_t i = 0; i < in.bytes.size(); i += size_of(tensor.dtype)) {
      const auto draw = static_cast<std::uint32_t>(random());
      Scalar s;
      s.real = draw % 4 == 0 ? special[(draw >> 8U) % std::size(special)]
                             : (static_cast<double>(draw >> 8U) - 8388608.0) / 1000003.0;
      s.integer = static_cast<std::int64_t>(draw >> 8U) % 9 - 3;
      if (tensor.range) {
        const std::int64_t width = tensor.range->second - tensor.range->first + 1;
        s.integer = tensor.range->first + static_cast<std::int64_t>(draw >> 8U) % width;
      }
      store(tensor.dtype, in.bytes.data() + i, s);
    }
    inputs.push_back(std::move(in));
  }
  return inputs;
}

}  // namespace etalon::test
