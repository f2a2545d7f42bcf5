#include "conformance/integers.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

std::set<spec::TensorId> tensors_read(const Expr& e) {
  std::set<spec::TensorId> ids;
  spec::for_each(e, [&](const Expr& sub) {
    if (sub.form() == Form::read) ids.insert(sub->tensor);
  });
  return ids;
}

// An equality between the operand and an expression of variables means that it selects one of its values.
std::optional<std::int64_t> extent_compared(const Expr& other, const std::vector<spec::Binder>& scope) {
  std::optional<std::int64_t> extent;
  if (!tensors_read(other).empty()) return extent;
  for (const spec::VariableId v : spec::free_variables(other)) {
    for (const spec::Binder& b : scope) {
      if (b.variable == v) extent = std::max(extent.value_or(0), b.extent);
    }
  }
  return extent;
}

class RoleReader {
 public:
  explicit RoleReader(const spec::System& system) : system_(system), roles_(system.tensors.size()) {}

  std::vector<IntegerRole> read() {
    for (const spec::Equation& equation : system_.equations) {
      scope_ = equation.binders;
      spec::for_each(equation.value, [&](const Expr& e) {
        if (e.form() == Form::reduce) scope_.insert(scope_.end(), e->binders.begin(), e->binders.end());
      });
      spec::for_each(equation.value, [&](const Expr& e) { visit(e); });
    }
    std::vector<IntegerRole> of_inputs;
    for (const spec::TensorId id : system_.inputs) of_inputs.push_back(roles_[static_cast<std::size_t>(id)]);
    return of_inputs;
  }

 private:
  void visit(const Expr& e) {
    if (e.form() == Form::read) {
      const Dims& dims = system_[e->tensor].dims;
      for (std::size_t axis = 0; axis < e->args.size(); ++axis) mark_index(e->args[axis], dims[axis]);
    } else if (e.form() == Form::apply && (e->primitive == Primitive::eq || e->primitive == Primitive::ne) &&
               e->args[0].kind() == Kind::integer) {
      for (const std::size_t side : {0u, 1u}) {
        if (const auto extent = extent_compared(e->args[1 - side], scope_)) mark_index(e->args[side], *extent);
        if (e->args[1 - side].form() == Form::number) set_apart(e->args[side], e->args[1 - side]->number.mantissa);
      }
    } else if (e.is(Primitive::to_real)) {
      for (const auto id : tensors_read(e->args[0])) roles_[static_cast<std::size_t>(id)].counts = true;
    } else if (e.is(Primitive::philox)) {
      for (const Expr& arg : e->args) {
        for (const auto id : tensors_read(arg)) roles_[static_cast<std::size_t>(id)].is_key = true;
      }
    }
  }
  void set_apart(const Expr& element, std::int64_t number) {
    if (element.form() == Form::read) roles_[static_cast<std::size_t>(element->tensor)].apart = number;
  }
  void mark_index(const Expr& index, std::int64_t extent) {
    for (const spec::TensorId id : tensors_read(index)) {
      auto& known = roles_[static_cast<std::size_t>(id)].extent;
      known = known ? std::min(*known, extent) : extent;
    }
  }

  const spec::System& system_;
  std::vector<IntegerRole> roles_;
  std::vector<spec::Binder> scope_;
};

void set_integer(HostTensor& tensor, std::size_t i, std::int64_t value) {
  if (tensor.dtype == DType::i64) tensor.view<std::int64_t>()[i] = value;
  else if (tensor.dtype == DType::i32) tensor.view<std::int32_t>()[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  else set_element(tensor, i, static_cast<double>(value));
}

// Where a significand or a narrower integer ends: next to powers of two, of either sign, the last ones of the type among them.
std::int64_t beside_power(Draw& draw, std::size_t turn, int bits) {
  constexpr std::array powers{63, 24, 53, 31, 22, 62, 8, 32, 16, 11};
  const int power = std::min(powers[turn % powers.size()], bits - 1);
  const auto magnitude = (std::uint64_t{1} << power) + static_cast<std::uint64_t>(draw.integer(-1, 1));
  return static_cast<std::int64_t>(draw.chance(0.5) ? magnitude : 0 - magnitude);
}

// Just off the middle between two numbers of 24 or 11 bits, by less than what 53 bits keep.
std::int64_t beside_middle(Draw& draw) {
  const auto high = static_cast<int>(draw.integer(55, 62));
  const int low = high - (draw.chance(0.8) ? 24 : 11);
  const std::int64_t even = draw.integer(0, 3) << (low + 1);
  const std::int64_t magnitude = (std::int64_t{1} << high) + even + (std::int64_t{1} << low) + (draw.chance(0.5) ? 1 : -1);
  return draw.chance(0.5) ? magnitude : -magnitude;
}

// In turn 0 one of the last of the type.
std::int64_t any_integer(Draw& draw, std::size_t turn, int bits) {
  if (bits == 64 && turn > 0 && draw.chance(0.15)) return beside_middle(draw);
  if (turn == 0 || draw.chance(0.6)) return beside_power(draw, turn, bits);
  return static_cast<std::int64_t>(draw.bits()) >> draw.integer(64 - bits, 60);
}

// The i-th element of a tensor whose integers come from the whole range, mixed with small ones and with neighbours of the one
// before, which are equal for who keeps fewer bits. One of the last of the type and a neighbour of it are never missing where
// there is room for others.
std::int64_t small_integer(Draw& draw) { return draw.chance(0.4) ? draw.integer(-1, 2) : draw.integer(-5, 5); }

std::int64_t wide_integer(Draw& draw, std::size_t i, std::int64_t previous, std::size_t turn, int bits) {
  constexpr std::size_t end_at = 7;
  if (i == end_at) return any_integer(draw, 0, bits);
  if (i == end_at + 1 || (i > 0 && draw.chance(0.15))) return previous >= 0 ? previous - draw.integer(0, 2) : previous + draw.integer(0, 2);
  return draw.chance(0.7) ? any_integer(draw, turn + i, bits) : small_integer(draw);
}

std::int64_t outside(Draw& draw, std::int64_t extent) {
  if (draw.chance(0.4)) return draw.integer(extent, extent + 2);
  if (draw.chance(0.6)) return draw.integer(-3, -1);
  // Far away, but inside for who keeps 32 bits.
  const std::int64_t inside = extent > 0 ? draw.integer(0, extent - 1) : 0;
  const std::int64_t sign = draw.chance(0.5) ? 1 : -1;
  return sign * (std::int64_t{1} << draw.integer(32, 40)) + inside;
}

std::int64_t count_of(Draw& draw) {
  if (draw.chance(0.5)) return draw.integer(1, 10);
  if (draw.chance(0.5)) return draw.integer(11, 1000);
  if (draw.chance(0.5)) return 1000 + (std::int64_t{1} << draw.integer(0, 19));  // slow averages are still on their way
  const std::int64_t power = std::int64_t{1} << (draw.chance(0.3) ? 22 : 24);
  return power + draw.integer(-1, 3);
}

}  // namespace

std::vector<IntegerRole> integer_roles(const spec::System& system) { return RoleReader(system).read(); }

HostTensor draw_integer(Draw& draw, const IntegerRole& role, DType dtype, const Dims& dims, Straying straying) {
  HostTensor tensor(dtype, dims);
  const auto count = static_cast<std::size_t>(dims.count());
  const bool strict = !draw.chance(straying.chance);
  const bool some_apart = role.apart && draw.chance(0.5);
  const bool whole_range = draw.chance(count < 8 ? 0.75 : 0.9);
  const int bits = dtype == DType::i32 ? 32 : 64;
  // All equal for who keeps fewer bits.
  std::optional<std::int64_t> crowd;
  if (whole_range && draw.chance(0.2)) {
    const std::int64_t sign = draw.chance(0.5) ? 1 : -1;
    crowd = sign * (std::int64_t{1} << draw.pick(bits == 32 ? std::vector<int>{24, 30} : std::vector<int>{24, 31, 53, 62}));
  }
  std::int64_t previous = 0;
  const auto turn = static_cast<std::size_t>(draw.integer(1, 10));  // powers follow each other from here
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = 0;
    if (role.extent) {
      const std::int64_t n = *role.extent;
      const bool beyond = (!strict && draw.chance(0.25)) || n == 0;
      value = beyond ? outside(draw, n) : draw.integer(0, n - 1);
      if (some_apart && draw.chance(0.25)) value = *role.apart;
    } else if (role.is_key) {
      value = draw.integer(0, std::numeric_limits<std::int32_t>::max());
      if (bits == 64 && draw.chance(0.5)) value += draw.integer(1, std::numeric_limits<std::int32_t>::max()) << 32;
    } else if (role.counts && dims.rank == 0) {
      value = count_of(draw);
    } else {
      value = crowd ? *crowd + draw.integer(-2, 2) : whole_range ? wide_integer(draw, i, previous, turn, bits) : small_integer(draw);
    }
    set_integer(tensor, i, value);
    previous = value;
  }
  return tensor;
}

}  // namespace etalon::conformance
