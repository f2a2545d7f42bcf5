#include "conformance/composer.hpp"

#include <cmath>
#include <limits>

#include "conformance/constant_tensor.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

const std::vector<std::int64_t> constant_extents{3, 4};

/// Small ones, both infinities, and powers of two at the ends of the type, whose reciprocals it may not hold. Zeros of both signs
/// are near each other, for who takes them for equal; that of sign + comes again where the turn has another maker.
std::vector<double> constants_of(DType dtype) {
  const spec::Format f = spec::format_of(dtype);
  const double subnormal = std::ldexp(1.0, f.emin - f.precision / 2), power = std::ldexp(1.0, f.emax), inf = std::numeric_limits<double>::infinity();
  return {0, -0.0, subnormal, 1, -1, 0, 2, power, inf, -2, 4, -subnormal, -4, 0.5, 3, power * (2 - std::ldexp(1.0, 1 - f.precision)), -inf};
}

}  // namespace

const spec::Definition* Composer::maker_of(double number, std::uint64_t turn) const {
  std::vector<const spec::Definition*> makers;
  for (const spec::Definition* d : constants_) {
    if (constant_tensor(*d)->makes(number)) makers.push_back(d);
  }
  return makers.empty() ? nullptr : makers[static_cast<std::size_t>(turn % makers.size())];
}

void Composer::add_with_constant() {
  const std::vector<double> numbers = constants_of(wish_.dtype);
  SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults};
  auto assignment = draw_assignment(*wish_.about, draw_, wish, wish_.dtype);
  const std::uint64_t turn = turn_++;
  // Of three, so that operands and numbers, which come in twos, each meet either.
  if (assignment && turn % 3 == 1 && takes_integers(*wish_.about)) assignment->shared_type = turn % 2 == 1 ? DType::i32 : DType::i64;
  // Who keeps constants by value finds those of one shape again.
  if (assignment && is_elementwise(*wish_.about)) make_equal(*wish_.about, *assignment, constant_extents);
  const auto types = assignment ? call_of(*wish_.about, *assignment, wish_.dtype) : std::nullopt;
  if (!types) return;
  std::vector<std::size_t> numeric;
  for (std::size_t i = 0; i < types->operands.size(); ++i) {
    if (types->operands[i] && types->operands[i]->dtype != DType::boolean) numeric.push_back(i);
  }
  if (numeric.empty()) return;
  const std::size_t operand = numeric[static_cast<std::size_t>(turn % numeric.size())];
  const double number = numbers[static_cast<std::size_t>(turn / numeric.size() % numbers.size())];
  // Compilers know constants by who makes them: the operands by turns, and the other way round in the second round.
  const spec::Definition* maker = maker_of(number, operand + turn / numeric.size() + turn / (numeric.size() * numbers.size()));
  if (maker == nullptr) return;
  const Assignment constant = constant_tensor(*maker)->of(*types->operands[operand], number);
  const auto made = call_of(*maker, constant, wish_.dtype);
  if (!made) return;
  const std::size_t before = program_.steps.size();
  add(*made, {}, constant);
  if (program_.steps.size() == before) return;
  std::vector<std::optional<std::string>> taken(types->operands.size());
  taken[operand] = results_.back().first;
  add(*types, std::move(taken), *assignment);
}

}  // namespace etalon::conformance
