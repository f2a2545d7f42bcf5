#include "passes_execution.hpp"
#include "spec/system/recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <unordered_map>

namespace etalon::test {

using namespace etalon::spec;

namespace {

struct Scalar {
  double real = 0;
  std::int64_t integer = 0;
};

using Environment = std::unordered_map<VariableId, std::int64_t>;
using Reader = std::function<Scalar(TensorId, const std::vector<std::int64_t>&)>;

/// Evaluates the expressions of one equation.
class Evaluation {
 public:
  Evaluation(DType arithmetic, Reader reader) : single_(arithmetic == DType::f32), reader_(std::move(reader)) {}

  Scalar operator()(const Expr& e, Environment& at) {
    switch (e.form()) {
      case Form::number:
        return number(e);
      case Form::variable:
        return {0, at.at(e->variable)};
      case Form::read:
        return read(e, at);
      case Form::apply:
        return apply(e, at);
      case Form::select:
        return (*this)(e->args[0], at).integer != 0 ? (*this)(e->args[1], at) : (*this)(e->args[2], at);
      case Form::reduce:
        return reduce(e, at);
      case Form::detach:
        return (*this)(e->args[0], at);
    }
    throw std::logic_error("no such form");
  }

 private:
  double rounded(double x) const { return single_ ? static_cast<double>(static_cast<float>(x)) : x; }

  Scalar number(const Expr& e) const {
    const Number& n = e->number;
    if (e.kind() != Kind::real) return {0, n.mantissa};
    if (n.is_binary) return {rounded(n.binary), 0};
    return {rounded(static_cast<double>(static_cast<long double>(n.mantissa) * std::pow(10.0L, n.exponent))), 0};
  }

  Scalar read(const Expr& e, Environment& at) {
    std::vector<std::int64_t> index;
    for (const Expr& a : e->args) index.push_back((*this)(a, at).integer);
    Scalar s = reader_(e->tensor, index);
    s.real = rounded(s.real);
    return s;
  }

  double real_result(Primitive p, double a, double b) const {
    const auto fa = static_cast<float>(a);
    const auto fb = static_cast<float>(b);
    switch (p) {
      case Primitive::add:
        return single_ ? static_cast<double>(fa + fb) : a + b;
      case Primitive::sub:
        return single_ ? static_cast<double>(fa - fb) : a - b;
      case Primitive::mul:
        return single_ ? static_cast<double>(fa * fb) : a * b;
      case Primitive::div:
        return single_ ? static_cast<double>(fa / fb) : a / b;
      case Primitive::neg:
        return -a;
      case Primitive::abs:
        return std::abs(a);
      case Primitive::floor:
        return std::floor(a);
      case Primitive::exp:
        return single_ ? static_cast<double>(std::exp(fa)) : std::exp(a);
      case Primitive::sqrt:
        return single_ ? static_cast<double>(std::sqrt(fa)) : std::sqrt(a);
      case Primitive::maximum:
        return std::isnan(a) || std::isnan(b) ? a + b : (a >= b ? a : b);
      case Primitive::minimum:
        return std::isnan(a) || std::isnan(b) ? a + b : (a <= b ? a : b);
      default:
        throw std::logic_error("the interpreter of the tests lacks a real primitive");
    }
  }

  static std::int64_t wrapped(Primitive p, std::int64_t a, std::int64_t b) {
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    switch (p) {
      case Primitive::add:
        return static_cast<std::int64_t>(ua + ub);
      case Primitive::sub:
        return static_cast<std::int64_t>(ua - ub);
      case Primitive::mul:
        return static_cast<std::int64_t>(ua * ub);
      case Primitive::neg:
        return static_cast<std::int64_t>(-ua);
      case Primitive::abs:
        return a < 0 ? static_cast<std::int64_t>(-ua) : a;
      case Primitive::sign:
        return (a > 0) - (a < 0);
      case Primitive::maximum:
        return std::max(a, b);
      case Primitive::minimum:
        return std::min(a, b);
      case Primitive::floor_div:
        return floor_div(a, b);
      case Primitive::modulo:
        return a - floor_div(a, b) * b;
      default:
        throw std::logic_error("the interpreter of the tests lacks an integer primitive");
    }
  }

  static std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    const std::int64_t q = a / b;
    return a % b != 0 && ((a % b < 0) != (b < 0)) ? q - 1 : q;
  }

  template <class T>
  static bool compared(Primitive p, T a, T b) {
    switch (p) {
      case Primitive::eq:
        return a == b;
      case Primitive::ne:
        return a != b;
      case Primitive::lt:
        return a < b;
      case Primitive::le:
        return a <= b;
      case Primitive::gt:
        return a > b;
      default:
        return a >= b;
    }
  }

  Scalar apply(const Expr& e, Environment& at) {
    const Primitive p = e->primitive;
    const Scalar a = (*this)(e->args[0], at);
    if (p == Primitive::logical_and) return a.integer == 0 ? a : (*this)(e->args[1], at);
    if (p == Primitive::logical_or) return a.integer != 0 ? a : (*this)(e->args[1], at);
    if (p == Primitive::logical_not) return {0, a.integer == 0};
    if (p == Primitive::is_nan) return {0, std::isnan(a.real)};
    if (p == Primitive::to_integer) return {0, a.integer};
    if (p == Primitive::to_real) return {rounded(static_cast<double>(a.integer)), 0};
    const Scalar b = e->args.size() > 1 ? (*this)(e->args[1], at) : a;
    if (p >= Primitive::eq && p <= Primitive::ge) {
      const bool real = e->args[0].kind() == Kind::real;
      return {0, real ? compared(p, a.real, b.real) : compared(p, a.integer, b.integer)};
    }
    if (e.kind() == Kind::real) return {real_result(p, a.real, b.real), 0};
    return {0, wrapped(p, a.integer, b.integer)};
  }

  /// Calls visit for every value of the binders in row-major order.
  template <class Visit>
  static void loop(const std::vector<Binder>& binders, std::size_t depth, Environment& at, Visit visit) {
    if (depth == binders.size()) {
      visit();
      return;
    }
    for (std::int64_t i = 0; i < binders[depth].extent; ++i) {
      at[binders[depth].variable] = i;
      loop(binders, depth + 1, at, visit);
    }
  }

  Scalar reduce(const Expr& e, Environment& at) {
    const Reduction r = e->reduction;
    Scalar value;
    value.real = r == Reduction::prod ? 1 : 0;
    value.integer = r == Reduction::prod || r == Reduction::all;
    bool empty = true;
    std::int64_t position = -1;
    loop(e->binders, 0, at, [&] {
      ++position;
      if ((*this)(e->args[0], at).integer == 0) return;
      const Scalar x = (*this)(e->args[1], at);
      combine(e, value, x, empty, position);
      empty = false;
    });
    if (empty && e->args.size() > 2) return (*this)(e->args[2], at);
    if (r == Reduction::argmax || r == Reduction::argmin) return {0, value.integer};
    return value;
  }

  void combine(const Expr& e, Scalar& value, const Scalar& x, bool first, std::int64_t position) const {
    const bool real = e->args[1].kind() == Kind::real;
    const auto larger = [&] { return real ? x.real > value.real : x.integer > value.integer; };
    const auto smaller = [&] { return real ? x.real < value.real : x.integer < value.integer; };
    switch (e->reduction) {
      case Reduction::sum:
        value = real ? Scalar{real_result(Primitive::add, value.real, x.real), 0}
                     : Scalar{0, wrapped(Primitive::add, value.integer, x.integer)};
        break;
      case Reduction::prod:
        value = real ? Scalar{real_result(Primitive::mul, value.real, x.real), 0}
                     : Scalar{0, wrapped(Primitive::mul, value.integer, x.integer)};
        break;
      case Reduction::max:
        value = first || larger() ? x : value;
        break;
      case Reduction::min:
        value = first || smaller() ? x : value;
        break;
      case Reduction::any:
        value.integer |= x.integer;
        break;
      case Reduction::all:
        value.integer &= x.integer;
        break;
      case Reduction::argmax:
        if (first || larger()) value = {x.real, position};
        break;
      case Reduction::argmin:
        if (first || smaller()) value = {x.real, position};
        break;
    }
  }

  bool single_;
  Reader reader_;
};

std::size_t flat(const Dims& dims, const std::vector<std::int64_t>& index) {
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < dims.rank; ++axis) {
    if (index[axis] < 0 || index[axis] >= dims[axis])
      throw std::logic_error("the interpreter of the tests reads out of range");
    at = at * static_cast<std::size_t>(dims[axis]) + static_cast<std::size_t>(index[axis]);
  }
  return at;
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

Scalar load(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::f32:
      return {static_cast<double>(get<float>(from)), 0};
    case DType::f64:
      return {get<double>(from), 0};
    case DType::i32:
      return {0, get<std::int32_t>(from)};
    case DType::i64:
      return {0, get<std::int64_t>(from)};
    case DType::boolean:
      return {0, get<std::uint8_t>(from)};
    default:
      throw std::logic_error("the interpreter of the tests lacks a type");
  }
}

void store(DType dtype, std::byte* to, const Scalar& s) {
  switch (dtype) {
    case DType::f32:
      return put(to, static_cast<float>(s.real));
    case DType::f64:
      return put(to, s.real);
    case DType::i32:
      return put(to, static_cast<std::int32_t>(static_cast<std::uint32_t>(s.integer)));
    case DType::i64:
      return put(to, s.integer);
    case DType::boolean:
      return put(to, static_cast<std::uint8_t>(s.integer != 0));
    default:
      throw std::logic_error("the interpreter of the tests lacks a type");
  }
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
    });
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

/// The memory that a plan asks for. A register is as large as its tensor, but forgets at each iteration.
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
        return registers[static_cast<std::size_t>(t)].data();
      case Home::none:
        break;
    }
    throw std::logic_error("a tensor without a home is used: " + system[t].name);
  }

  void forget_registers(const compiled::Kernel& kernel) {
    for (const compiled::Statement& s : kernel.statements) {
      const TensorId t = system.equations[s.equation].target;
      if (plan.residences[static_cast<std::size_t>(t)].home != compiled::Home::in_register) continue;
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
