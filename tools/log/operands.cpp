#include "tools/log/operands.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "tools/log/log.hpp"

namespace etalon::logging {

using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::TensorId;

namespace {

constexpr std::size_t most_operands = 24;   ///< of a line
constexpr std::size_t most_terms = 3;       ///< of a reduction
constexpr std::size_t most_tries = 4096;    ///< places where its guard is asked

std::int64_t wrap(std::uint64_t x) { return static_cast<std::int64_t>(x); }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

std::int64_t floor_division(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap(0 - bits(a));
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<std::int64_t> element_of(const HostTensor& t, std::size_t i) {
  switch (t.dtype) {
    case DType::i32: return t.view<std::int32_t>()[i];
    case DType::i64: return t.view<std::int64_t>()[i];
    case DType::boolean: return t.view<std::uint8_t>()[i] != 0 ? 1 : 0;
    default: return std::nullopt;
  }
}

bool has_read(const Expr& e) {
  bool found = false;
  spec::for_each(e, [&](const Expr& x) { found = found || x.form() == Form::read; });
  return found;
}

/// Counts the binders up, the last one fastest. \returns false at the end.
bool advance(const std::vector<spec::Binder>& binders, Indices& indices) {
  for (std::size_t b = binders.size(); b-- > 0;) {
    std::int64_t& i = indices[binders[b].variable];
    if (++i < binders[b].extent) return true;
    i = 0;
  }
  return false;
}

}  // namespace

std::string Operands::text(const Expr& value, const Indices& indices) {
  words_ = {};
  room_ = most_operands;
  const Expr e = shown(value, indices);
  return spec::to_text(words_, e);
}

std::optional<std::size_t> Operands::position(TensorId tensor, const std::vector<Expr>& place, const Indices& indices) const {
  const Dims& dims = system_[tensor].dims;
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    const auto i = integer(place[axis], indices);
    if (!i || *i < 0 || *i >= dims[axis]) return std::nullopt;
    at = at * static_cast<std::size_t>(dims[axis]) + static_cast<std::size_t>(*i);
  }
  return at;
}

std::optional<std::int64_t> Operands::integer(const Expr& e, const Indices& indices) const {
  if (e.kind() == Kind::real) return std::nullopt;
  switch (e.form()) {
    case Form::number: return e->number.mantissa;
    case Form::variable: {
      const auto found = indices.find(e->variable);
      return found == indices.end() ? std::nullopt : std::optional(found->second);
    }
    case Form::read: {
      const HostTensor* tensor = values_[static_cast<std::size_t>(e->tensor)];
      const auto at = position(e->tensor, e->args, indices);
      return tensor == nullptr || !at ? std::nullopt : element_of(*tensor, *at);
    }
    case Form::select: {
      const auto condition = integer(e->args[0], indices);
      return condition ? integer(e->args[*condition != 0 ? 1 : 2], indices) : std::nullopt;
    }
    case Form::apply: return primitive(e, indices);
    case Form::detach: return integer(e->args[0], indices);
    case Form::reduce: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Operands::primitive(const Expr& e, const Indices& indices) const {
  if (e->args.empty() || e->args.size() > 2) return std::nullopt;
  const auto first = integer(e->args[0], indices);
  const auto second = e->args.size() > 1 ? integer(e->args[1], indices) : std::optional<std::int64_t>(0);
  if (!first || !second) return std::nullopt;
  const std::int64_t a = *first;
  const std::int64_t b = *second;
  switch (e->primitive) {
    case Primitive::add: return wrap(bits(a) + bits(b));
    case Primitive::sub: return wrap(bits(a) - bits(b));
    case Primitive::mul: return wrap(bits(a) * bits(b));
    case Primitive::neg: return wrap(0 - bits(a));
    case Primitive::maximum: return std::max(a, b);
    case Primitive::minimum: return std::min(a, b);
    case Primitive::floor_div: return floor_division(a, b);
    case Primitive::modulo: return b == 0 ? 0 : wrap(bits(a) - bits(floor_division(a, b)) * bits(b));
    case Primitive::eq: return a == b;
    case Primitive::ne: return a != b;
    case Primitive::lt: return a < b;
    case Primitive::le: return a <= b;
    case Primitive::gt: return a > b;
    case Primitive::ge: return a >= b;
    case Primitive::logical_and: return a != 0 && b != 0;
    case Primitive::logical_or: return a != 0 || b != 0;
    case Primitive::logical_not: return a == 0;
    case Primitive::to_integer: return a;
    default: return std::nullopt;
  }
}

/// The expression with index variables replaced by their values and reads by words.
Expr Operands::shown(const Expr& e, const Indices& indices) {
  if (e.form() == Form::number) return e;
  if (e.kind() == Kind::integer && !has_read(e)) {
    if (const auto known = integer(e, indices)) return spec::integer(*known);
  }
  switch (e.form()) {
    case Form::read: return shown_read(e, indices);
    case Form::reduce: return shown_reduction(e, indices);
    case Form::variable: return word(e->name, e.kind());
    case Form::select:
      if (const auto condition = integer(e->args[0], indices); condition) return shown(e->args[*condition != 0 ? 1 : 2], indices);
      break;
    default: break;
  }
  std::vector<Expr> args;
  args.reserve(e->args.size());
  for (const Expr& a : e->args) args.push_back(shown(a, indices));
  return spec::with_args(e, std::move(args));
}

Expr Operands::shown_read(const Expr& e, const Indices& indices) {
  if (room_ == 0) return word("…", e.kind());
  --room_;
  const spec::TensorInfo& info = system_[e->tensor];
  const HostTensor* tensor = values_[static_cast<std::size_t>(e->tensor)];
  if (const auto at = position(e->tensor, e->args, indices)) {
    const std::string name = element_name(info.name, info.dims, *at);
    return word(tensor == nullptr ? name : fmt::format("({} = {})", name, element_text(*tensor, *at)), e.kind());
  }
  std::string places;
  for (const Expr& a : e->args) {
    const auto i = integer(a, indices);
    places += (places.empty() ? "" : ", ") + (i ? std::to_string(*i) : std::string("?"));
  }
  return word(fmt::format("({}[{}] outside)", info.name, places), e.kind());
}

/// `sum(t, t, t, … of 100)`
Expr Operands::shown_reduction(const Expr& e, const Indices& outer) {
  Indices indices = outer;
  double all = 1;
  for (const spec::Binder& b : e->binders) {
    indices[b.variable] = 0;
    all *= static_cast<double>(b.extent);
  }
  std::string terms;
  std::size_t found = 0;
  bool more = all > 0;
  for (std::size_t tried = 0; more && tried < most_tries && found < most_terms && room_ > 0; ++tried) {
    if (integer(e->args[0], indices).value_or(1) != 0) {
      terms += (terms.empty() ? "" : ", ") + spec::to_text(words_, shown(e->args[1], indices));
      ++found;
    }
    more = advance(e->binders, indices);
  }
  if (more) terms += fmt::format("{}… of {:.0f}", terms.empty() ? "" : ", ", all);
  return word(fmt::format("{}({})", name_of(e->reduction), terms), e.kind());
}

Expr Operands::word(std::string text, Kind kind) { return spec::read(words_.add_tensor(std::move(text), DType::f32, {}), kind, {}); }

}  // namespace etalon::logging
