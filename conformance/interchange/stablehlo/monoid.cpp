#include "conformance/interchange/stablehlo/monoid.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "conformance/values.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::stablehlo {
namespace {

struct Monoid {
  std::string_view instruction, of_numbers, of_truths;
};
constexpr std::array monoids{Monoid{"stablehlo.add", "sum", "any"},     Monoid{"stablehlo.multiply", "prod", "all"},
                             Monoid{"stablehlo.maximum", "max", "any"}, Monoid{"stablehlo.minimum", "min", "all"},
                             Monoid{"stablehlo.or", "", "any"},         Monoid{"stablehlo.and", "", "all"}};

constexpr std::string_view other_form =
    "a region is offered that is one instruction of its two arguments, add, multiply, maximum, minimum, and, or";

/// The only instruction before the end, whose result is answered.
[[nodiscard]] const Operation& only_instruction(const Block& region) {
  refuse(region.arguments.size() != 2 || region.operations.size() != 2, std::string(other_form));
  const Operation &first = region.operations[0], &end = region.operations[1];
  refuse(end.name != "stablehlo.return" || end.operands != first.results || first.operands.size() != 2,
         std::string(other_form));
  return first;
}

}  // namespace

std::string_view reduction_of(const Block& region, DType dtype) {
  const Operation& joins = only_instruction(region);
  const std::string &a = region.arguments[0].first, &b = region.arguments[1].first;
  const bool in_order = joins.operands[0] == a && joins.operands[1] == b,
             turned = joins.operands[0] == b && joins.operands[1] == a;
  refuse(!in_order && !turned, std::string(other_form));
  for (const auto& [name, type] : region.arguments) {
    const auto* found = std::get_if<TensorType>(&type);
    refuse(found == nullptr || !found->extents.empty() || found->dtype != dtype,
           "a region joins elements of another type");
  }
  for (const Monoid& monoid : monoids) {
    if (monoid.instruction != joins.name) continue;
    const std::string_view reduction = dtype == DType::boolean ? monoid.of_truths : monoid.of_numbers;
    if (!reduction.empty()) return reduction;
  }
  throw Refused(std::string(other_form));
}

bool is_identity(std::string_view reduction, const HostTensor& number) {
  const double value = element(number, 0);
  const bool is_real = kind_of(number.dtype) == Kind::real;
  if (reduction == "sum" || reduction == "any") return value == 0;
  if (reduction == "prod" || reduction == "all") return value == 1;
  const bool is_max = reduction == "max";
  if (is_real) return std::isinf(value) && std::signbit(value) == is_max;
  const double end = number.dtype == DType::i64 ? 0x1p63 : 0x1p31;
  return is_max                       ? value == -end
         : number.dtype == DType::i64 ? number.view<std::int64_t>()[0] == std::numeric_limits<std::int64_t>::max()
                                      : value == end - 1;
}

}  // namespace etalon::conformance::stablehlo
