#include "conformance/breaking.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "conformance/shapes.hpp"
#include "spec/notation/attributes.hpp"

namespace etalon::conformance {
namespace {

using spec::Definition;

void break_operand(std::vector<std::optional<spec::ValueType>>& operands, Draw& draw) {
  auto& operand = operands[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(operands.size()) - 1))];
  if (!operand) return;
  const std::int64_t how = draw.integer(0, 3);
  Dims& dims = operand->dims;
  if (how == 0 && dims.rank > 0) {
    dims[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(dims.rank) - 1))] += draw.integer(1, 2);
  } else if (how == 1 && dims.rank > 0) {
    --dims.rank;
  } else if (how == 2 && dims.rank < Dims::max_rank) {
    dims.push_back(2);
  } else {
    operand->dtype = operand->dtype == DType::boolean ? DType::f32 : DType::boolean;
  }
}

void break_attribute(spec::Attributes& attributes, Draw& draw) {
  auto chosen = attributes.begin();
  std::advance(chosen, draw.integer(0, static_cast<std::int64_t>(attributes.size()) - 1));
  if (auto* integer = std::get_if<std::int64_t>(&chosen->second)) {
    *integer = draw.chance(0.5) ? *integer - 9 : *integer + draw.integer(1, 9);
  } else if (auto* list = std::get_if<std::vector<std::int64_t>>(&chosen->second)) {
    list->push_back(draw.integer(0, 1));
  } else if (std::holds_alternative<std::string>(chosen->second)) {
    chosen->second = std::string("unheard_of");
  } else {
    chosen->second = std::vector<std::int64_t>{1, 2};
  }
}

/// Reals in their order as integers, so that halving finds neighbours; both zeros are 0.
std::int64_t ordinal(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}
double at_ordinal(std::int64_t n) {
  return std::bit_cast<double>(n >= 0 ? n : std::numeric_limits<std::int64_t>::min() - n);
}

/// Moves one number of an attribute just beyond an end of what typing accepts.
class Beyond {
 public:
  Beyond(const Definition& d, CallTypes& call, std::int64_t direction) : d_(d), call_(call), direction_(direction) {}

  bool move(std::int64_t& number) const {
    const std::int64_t before = number;
    constexpr int farthest = 12;
    for (int k = 1; k <= farthest; ++k) {
      number = before + direction_ * k;
      if (!well_typed(d_, call_)) return true;
    }
    number = before;
    return false;
  }

  bool move(double& number) const {
    const double before = number;
    if (!std::isfinite(before)) return false;
    std::int64_t inside = ordinal(before);
    number = static_cast<double>(direction_) * std::numeric_limits<double>::max();
    if (well_typed(d_, call_)) {
      number = before;
      return false;
    }
    std::int64_t beyond = ordinal(number);
    while (std::max(inside, beyond) > std::min(inside, beyond) + 1) {
      const std::int64_t middle = std::midpoint(inside, beyond);
      number = at_ordinal(middle);
      (well_typed(d_, call_) ? inside : beyond) = middle;
    }
    number = at_ordinal(beyond);
    return true;
  }

 private:
  const Definition& d_;
  CallTypes& call_;
  std::int64_t direction_;
};

bool move_beyond(const Definition& d, CallTypes& call, Draw& draw) {
  call.attributes = spec::to_attributes(d, spec::bind_attributes(d, call.attributes));
  auto chosen = call.attributes.begin();
  std::advance(chosen, draw.integer(0, static_cast<std::int64_t>(call.attributes.size()) - 1));
  const Beyond beyond(d, call, draw.chance(0.5) ? 1 : -1);
  if (auto* integer = std::get_if<std::int64_t>(&chosen->second)) return beyond.move(*integer);
  if (auto* real = std::get_if<double>(&chosen->second)) return beyond.move(*real);
  auto* list = std::get_if<std::vector<std::int64_t>>(&chosen->second);
  if (list == nullptr || list->empty()) return false;
  return beyond.move((*list)[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(list->size()) - 1))]);
}

}  // namespace

std::optional<CallTypes> break_call(const Definition& definition, const CallTypes& call, Draw& draw) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    CallTypes broken = call;
    // Just beyond what a condition allows, else anything that is refused.
    constexpr int patience = 6;
    if (attempt < patience && definition.attribute_count > 0 && draw.chance(0.6)) {
      if (move_beyond(definition, broken, draw)) return broken;
      continue;
    }
    const bool of_attributes = !call.attributes.empty() && (call.operands.empty() || draw.chance(0.3));
    if (of_attributes) {
      break_attribute(broken.attributes, draw);
    } else if (!call.operands.empty()) {
      break_operand(broken.operands, draw);
    }
    if (!well_typed(definition, broken)) return broken;
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
