#include "conformance/shapes.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "conformance/signature.hpp"
#include "spec/error.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/typing.hpp"

namespace etalon::conformance {
namespace {

using spec::Definition;
using spec::NodeId;

std::string text_of(const Definition& d, spec::Slice s) { return std::string(d.at(s)); }

DType operand_type(spec::Range range, const Assignment& a, DType dtype) {
  switch (range) {
    case spec::Range::integer:
      return DType::i64;
    case spec::Range::boolean:
      return DType::boolean;
    case spec::Range::number:
    case spec::Range::any:
      return a.shared_type.value_or(dtype);
    default:
      return dtype;
  }
}

spec::Typing typed(const Definition& definition, const CallTypes& call) {
  return spec::type_call(definition, call.operands, call.packs, spec::bind_attributes(definition, call.attributes));
}

std::vector<std::int64_t> tensor_sizes(const Definition& definition, const CallTypes& call) {
  const spec::Typing typing = typed(definition, call);
  std::vector<std::int64_t> sizes;
  for (std::size_t r = 0; r < typing.result_count; ++r) sizes.push_back(typing.results[r].dims.count());
  for (const auto& type : call.operands) {
    if (type) sizes.push_back(type->dims.count());
  }
  return sizes;
}

/// Whether the sizes are of the class that is wished for.
bool grants(const SizeWish& wish, const std::vector<std::int64_t>& sizes) {
  if (wish.empty && std::count(sizes.begin(), sizes.end(), 0) == 0) return false;
  if (wish.least > 0 && std::none_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n >= wish.least; })) return false;
  return wish.elements != 1 || std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n == 1; });
}

/// Whether something is computed from nothing: an operand has no elements, a result (they stand first) has some.
bool reduces_nothing(const Definition& definition, const std::vector<std::int64_t>& sizes) {
  const auto operands = sizes.begin() + static_cast<std::ptrdiff_t>(definition.result_count);
  return operands < sizes.end() && std::count(operands, sizes.end(), 0) > 0 &&
         std::count(sizes.begin(), operands, 0) < operands - sizes.begin();
}

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

}  // namespace

std::optional<CallTypes> call_of(const Definition& d, const Assignment& a, DType dtype) {
  CallTypes call{std::string(d.name), {}, {}, a.attributes};
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const spec::OperandText& operand = d.operands[i];
    const std::string name = text_of(d, operand.name);
    if (a.absent.contains(name)) {
      call.operands.emplace_back();
      continue;
    }
    std::size_t members = 1;
    if (operand.pack) {
      const auto found = a.packs.find(name);
      if (found == a.packs.end()) return std::nullopt;
      members = found->second;
      call.packs.push_back(members);
    }
    for (std::size_t m = 0; m < members; ++m) {
      const auto extents = extents_of_axes(d, operand.axes, a, m);
      if (!extents || extents->size() > Dims::max_rank) return std::nullopt;
      spec::ValueType type{operand_type(operand.range, a, dtype), {}};
      for (const std::int64_t e : *extents) type.dims.push_back(e);
      call.operands.emplace_back(type);
    }
  }
  if (!well_typed(d, call)) return std::nullopt;
  return call;
}

std::optional<Assignment> draw_assignment(const Definition& definition, Draw& draw, const SizeWish& wish, DType dtype) {
  const Names names = names_of(definition);
  for (int attempt = 0; attempt < 400; ++attempt) {
    const Assignment assignment = draw_once(definition, names, draw, wish);
    const auto call = call_of(definition, assignment, dtype);
    if (!call) continue;
    const std::vector<std::int64_t> sizes = tensor_sizes(definition, *call);
    const std::int64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    if (largest > 3 * wish.elements) continue;
    constexpr int patience = 100;
    if (attempt < patience && !grants(wish, sizes)) continue;
    if (attempt < patience / 2 && wish.empty && !reduces_nothing(definition, sizes)) continue;
    // Empty cases are wanted, but rarely: they compare nothing.
    if (largest == 0 && !wish.edges) continue;
    return assignment;
  }
  return std::nullopt;
}

bool well_typed(const Definition& definition, const CallTypes& call) {
  if (!typed(definition, call).ok()) return false;
  if (definition.callee_count == 0) return true;
  // What is called has rules of its own, which elaboration knows.
  try {
    (void)spec::instantiate(definition, call.operands, call.packs, call.attributes);
    return true;
  } catch (const SpecViolation&) {
    return false;
  }
}

std::optional<CallTypes> break_call(const Definition& definition, const CallTypes& call, Draw& draw) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    CallTypes broken = call;
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

std::vector<std::optional<std::size_t>> state_links(const Definition& d) {
  std::vector<std::optional<std::size_t>> links(d.result_count);
  bool any = false;
  std::set<int> taken;
  for (std::size_t r = 0; r < d.result_count; ++r) {
    const std::string name = text_of(d, d.results[r].name);
    if (name.size() < 2 || name.back() != '1') continue;
    const int operand = d.operand_named(std::string_view(name).substr(0, name.size() - 1));
    if (operand < 0) continue;
    links[r] = static_cast<std::size_t>(operand);
    taken.insert(operand);
    any = true;
  }
  if (!any) return {};
  // The first result that continues no named state continues the first operand of the same axes.
  const auto axes_text = [&](NodeId first) {
    std::string text;
    for (NodeId item = first; item >= 0; item = d[item].next) text += std::string(d.at(item)) + ",";
    return text;
  };
  for (std::size_t r = 0; r < d.result_count; ++r) {
    if (!links[r] && !taken.contains(0) && axes_text(d.results[r].axes) == axes_text(d.operands[0].axes)) {
      links[r] = 0;
      break;
    }
  }
  return links;
}

}  // namespace etalon::conformance
