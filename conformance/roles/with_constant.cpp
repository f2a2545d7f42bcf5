#include <cmath>
#include <limits>
#include <utility>

#include "conformance/constant_tensor.hpp"
#include "conformance/roles/parts.hpp"
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

/// A call of the program's definition for a constant to be an operand of.
std::optional<DrawnCall> drawn_reader(Composition& c, std::uint64_t turn) {
  const spec::Definition& d = *c.wish.about;
  return c.calls.drawn(d, c.calls.size_wish(), [&](Assignment& choices) {
    // Of three, so that operands and numbers, which come in twos, each meet either.
    if (turn % 3 == 1 && takes_integers(d)) choices.shared_type = turn % 2 == 1 ? DType::i32 : DType::i64;
    // Who keeps constants by value finds those of one shape again.
    if (is_elementwise(d)) make_equal(choices, {3, 4});
  });
}

std::vector<std::size_t> numeric_operands(const DrawnCall& call) {
  std::vector<std::size_t> numeric;
  for (std::size_t i = 0; i < call.types.operands.size(); ++i) {
    if (const auto& type = call.types.operands[i]; type && type->dtype != DType::boolean) numeric.push_back(i);
  }
  return numeric;
}

}  // namespace

void add_with_constant(Composition& c) {
  const std::uint64_t turn = c.turn++;
  const auto reader = drawn_reader(c, turn);
  const std::vector<std::size_t> numeric = reader ? numeric_operands(*reader) : std::vector<std::size_t>{};
  if (numeric.empty()) return;
  const std::size_t operand = numeric[static_cast<std::size_t>(turn % numeric.size())];
  const std::uint64_t place = turn / numeric.size();
  const std::vector<double> numbers = constants_of(c.wish.dtype);
  const double number = numbers[static_cast<std::size_t>(place % numbers.size())];
  // Compilers know constants by who makes them: the operands by turns, and the other way round in the second round.
  const spec::Definition* maker = maker_of(c.catalogue.constants, number, operand + place + place / numbers.size());
  const spec::ValueType type = *reader->types.operands[operand];
  const auto constant = maker == nullptr ? std::nullopt : c.calls.typed(*maker, constant_tensor(*maker)->of(type, number));
  if (!constant || !c.draft.add(*constant)) return;
  Taken taken(reader->types.operands.size());
  taken[operand] = c.draft.results().back().name;
  c.draft.add(*reader, std::move(taken));
}

}  // namespace etalon::conformance
