#include <cmath>
#include <limits>
#include <utility>

#include "conformance/constant_tensor.hpp"
#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

/// Small ones, both infinities, and powers of two at the ends of the type, whose reciprocals it may not hold. Zeros of both signs
/// are near each other, for who takes them for equal; that of sign + comes again where the turn has another maker.
std::vector<double> constants_of(DType dtype) {
  const spec::Format f = spec::format_of(dtype);
  const double subnormal = std::ldexp(1.0, f.emin - f.precision / 2), power = std::ldexp(1.0, f.emax), inf = std::numeric_limits<double>::infinity();
  return {0, -0.0, subnormal, 1, -1, 0, 2, power, inf, -2, 4, -subnormal, -4, 0.5, 3, power * (2 - std::ldexp(1.0, 1 - f.precision)), -inf};
}

/// The definition that makes the number, others in other turns; nothing where the library has none.
const spec::Definition* maker_of(const Definitions& constants, double number, std::uint64_t turn) {
  Definitions makers;
  for (const spec::Definition* d : constants) {
    if (constant_tensor(*d)->makes(number)) makers.push_back(d);
  }
  return makers.empty() ? nullptr : makers[static_cast<std::size_t>(turn % makers.size())];
}

std::optional<DrawnCall> drawn_beside_constant(Composition& c, std::uint64_t turn) {
  const spec::Definition& d = *c.wish.about;
  auto choices = draw_assignment(d, c.draw, size_wish(c), c.wish.dtype);
  // Of three, so that operands and numbers, which come in twos, each meet either.
  if (choices && turn % 3 == 1 && takes_integers(d)) choices->shared_type = turn % 2 == 1 ? DType::i32 : DType::i64;
  // Who keeps constants by value finds those of one shape again.
  if (choices && is_elementwise(d)) make_equal(*choices, {3, 4});
  return typed(c.wish, d, std::move(choices));
}

/// The constant for an operand of the call, and which operand that is.
struct Constant {
  DrawnCall call;
  std::size_t operand = 0;
};

std::optional<Constant> constant_for(const Composition& c, const DrawnCall& reader, std::uint64_t turn) {
  const auto& operands = reader.types.operands;
  std::vector<std::size_t> numeric;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] && operands[i]->dtype != DType::boolean) numeric.push_back(i);
  }
  if (numeric.empty()) return std::nullopt;
  const std::vector<double> numbers = constants_of(c.wish.dtype);
  const std::size_t operand = numeric[static_cast<std::size_t>(turn % numeric.size())];
  const double number = numbers[static_cast<std::size_t>(turn / numeric.size() % numbers.size())];
  // Compilers know constants by who makes them: the operands by turns, and the other way round in the second round.
  const std::uint64_t round = turn / (numeric.size() * numbers.size());
  const spec::Definition* maker = maker_of(c.catalogue.constants, number, operand + turn / numeric.size() + round);
  if (maker == nullptr) return std::nullopt;
  auto call = typed(c.wish, *maker, constant_tensor(*maker)->of(*operands[operand], number));
  return call ? std::optional(Constant{std::move(*call), operand}) : std::nullopt;
}

}  // namespace

void add_with_constant(Composition& c) {
  const std::uint64_t turn = c.turn++;
  auto reader = drawn_beside_constant(c, turn);
  auto constant = reader ? constant_for(c, *reader, turn) : std::nullopt;
  if (!constant || !c.draft.add(std::move(constant->call))) return;
  Taken taken(reader->types.operands.size());
  taken[constant->operand] = c.draft.results().back().name;
  c.draft.add(std::move(*reader), std::move(taken));
}

}  // namespace etalon::conformance
