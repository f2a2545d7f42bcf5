#include "conformance/shapes.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "conformance/choices.hpp"
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

/// Of the results first, then of the operands.
std::vector<std::int64_t> tensor_sizes(const spec::Typing& typing, const CallTypes& call) {
  std::vector<std::int64_t> sizes;
  for (std::size_t r = 0; r < typing.result_count; ++r) sizes.push_back(typing.results[r].dims.count());
  for (const auto& type : call.operands) {
    if (type) sizes.push_back(type->dims.count());
  }
  return sizes;
}

/// What the equations of a call take: how many nodes are evaluated in all, how often the body that is evaluated most, and
/// the elements of the largest reduction.
struct Work {
  double nodes = 0;
  double times = 0;
  std::int64_t longest = 0;
};

void add_work(const spec::Expr& e, double times, Work& work) {
  work.nodes += times;
  if (e.form() == spec::Form::reduce) {
    std::int64_t count = 1;
    for (const spec::Binder& b : e->binders) count *= b.extent;
    work.longest = std::max(work.longest, count);
    times *= static_cast<double>(count);
  }
  work.times = std::max(work.times, times);
  for (const spec::Expr& arg : e->args) add_work(arg, times, work);
}

/// Nothing where typing does not say what elaboration knows: that a tensor between has more axes than there may be.
std::optional<Work> work_of(const Definition& definition, const CallTypes& call) {
  try {
    const spec::Instance instance = spec::instantiate(definition, call.operands, call.packs, call.attributes);
    Work work;
    for (const spec::Equation& equation : instance.system.equations) {
      double times = 1;
      for (const spec::Binder& b : equation.binders) times *= static_cast<double>(b.extent);
      add_work(equation.value, times, work);
    }
    return work;
  } catch (const SpecViolation&) {
    return std::nullopt;
  }
}

/// Whether the call takes no more than is wished for, and sums beyond so many terms where that is. In every other turn it is
/// enough that an axis is as long: derivatives sum over others.
bool suits(const Work& work, const SizeWish& wish, std::int64_t largest) {
  constexpr double moderate = 6000;
  const bool any_axis = wish.turn && *wish.turn % 2 == 1;
  return wish.longest > 0 ? (any_axis ? largest : work.longest) > wish.longest && work.times <= moderate : work.nodes <= wish.nodes;
}

/// Whether the definition has sums or their like; `plain` where none stands in another one and none is a product: those take
/// the square of the time, in derivatives or parts.
struct Reductions {
  bool any = false, plain = true;
};
Reductions reductions_of(const Definition& d) {
  Reductions found;
  for (NodeId id = 0; id < static_cast<NodeId>(d.node_count); ++id) {
    if (d[id].form != spec::NodeForm::reduce) continue;
    found.any = true;
    if (static_cast<spec::Reduction>(d[id].op) == spec::Reduction::prod) found.plain = false;
    for (const NodeId inner : below(d, id)) {
      if (inner != id && d[inner].form == spec::NodeForm::reduce) found.plain = false;
    }
  }
  return found;
}

/// Whether the sizes are of the class that is wished for.
bool grants(const SizeWish& wish, const std::vector<std::int64_t>& sizes) {
  if (wish.empty && std::count(sizes.begin(), sizes.end(), 0) == 0) return false;
  if (!wish.empty && !wish.edges && std::count(sizes.begin(), sizes.end(), 0) > 0) return false;
  if (wish.least > 0 && std::none_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n >= wish.least; })) return false;
  return wish.elements != 1 || std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n == 1; });
}

/// Whether a list of numbers for axes has one below 0, or the definition has no such list.
bool runs_backwards(const Definition& d, const Assignment& a) {
  bool listed = false;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    if (d.attributes[i].row.length == 0) continue;
    const auto found = a.attributes.find(std::string(d.at(d.attributes[i].name)));
    const auto* list = found == a.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
    listed = true;
    if (list != nullptr && std::any_of(list->begin(), list->end(), [](std::int64_t k) { return k < 0; })) return true;
  }
  return !listed;
}

/// Whether something is computed from nothing: an operand has no elements, a result (they stand first) has some.
bool reduces_nothing(const Definition& definition, const std::vector<std::int64_t>& sizes) {
  const auto operands = sizes.begin() + static_cast<std::ptrdiff_t>(definition.result_count);
  return operands < sizes.end() && std::count(operands, sizes.end(), 0) > 0 &&
         std::count(sizes.begin(), operands, 0) < operands - sizes.begin();
}

/// The call that the choices state, whether it is well-typed or not; nothing where they do not say how many axes an operand has.
std::optional<CallTypes> stated_call(const Definition& d, const Assignment& a, DType dtype) {
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
  return call;
}

bool has_larger_operand(const CallTypes& call, std::int64_t elements) {
  return std::any_of(call.operands.begin(), call.operands.end(),
                     [&](const auto& type) { return type && !(spec::addressable(*type) && type->dims.count() <= elements); });
}

}  // namespace

std::optional<CallTypes> call_of(const Definition& d, const Assignment& a, DType dtype) {
  std::optional<CallTypes> call = stated_call(d, a, dtype);
  return call && well_typed(d, *call) ? call : std::nullopt;
}

std::optional<Assignment> draw_assignment(const Definition& definition, Draw& draw, const SizeWish& wish, DType dtype) {
  const Names names = names_of(definition);
  const TurnLevels levels = wish.turn ? levels_in_turn(definition, *wish.turn) : TurnLevels{};
  // Beyond some hundred terms only what takes no square of the time.
  constexpr std::int64_t moderate = 16;
  const Reductions reductions = reductions_of(definition);
  const std::int64_t longest = reductions.any && (reductions.plain || wish.longest <= moderate) ? wish.longest : 0;
  // What no call may have, or not together, is given up by and by, the rarest first.
  constexpr int most = 800, idle_until = 15, longest_until = 30, reducing_until = 50, insistent_until = 80,
                sized_until = 100, half_until = 160, some_until = 300, until_next = 35;
  const int patience = wish.empty || wish.elements == 1 ? 500 : sized_until;
  int idle = 0;
  for (int attempt = 0; attempt < most; ++attempt) {
    SizeWish now = wish;
    now.longest = attempt < longest_until ? longest : 0;
    now.insistence = attempt < insistent_until ? 1 : attempt < half_until ? 0.6 : attempt < some_until ? 0.2 : 0;
    now.passed_over = attempt < half_until ? 0 : static_cast<std::uint64_t>(1 + (attempt - half_until) / until_next);
    const Assignment assignment = draw_once(definition, names, levels, draw, now);
    // What is refused soonest stands first: most draws are.
    const auto call = stated_call(definition, assignment, dtype);
    if (!call || has_larger_operand(*call, 3 * wish.elements)) continue;
    const spec::Typing typing = typed(definition, *call);
    if (!typing.ok()) continue;
    const std::vector<std::int64_t> sizes = tensor_sizes(typing, *call);
    const std::int64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    if (largest > 3 * wish.elements) continue;
    if (attempt < patience && !grants(wish, sizes)) continue;
    if (attempt < insistent_until && wants_backwards(wish) && !runs_backwards(definition, assignment)) continue;
    if (attempt < reducing_until && wish.empty && !reduces_nothing(definition, sizes)) continue;
    // Empty cases are wanted, but rarely: they compare nothing.
    if (largest == 0 && !wish.edges) continue;
    // Last, since they make the equations, which know rules of what is called beyond typing.
    const auto work = work_of(definition, *call);
    if (!work || work->nodes > wish.far_beyond * wish.nodes || ((now.longest > 0 || attempt < patience) && !suits(*work, now, largest))) continue;
    if (wish.turn && largest > 1 && idle < idle_until && !choices_show(definition, *call)) {
      ++idle;
      continue;
    }
    return assignment;
  }
  return std::nullopt;
}

std::optional<Assignment> with_axis_of_one(const Definition& definition, const Assignment& assignment, DType dtype) {
  const auto is_call = [&](const Assignment& a) {
    const auto call = call_of(definition, a, dtype);
    return call && work_of(definition, *call);
  };
  for (const auto& [row, extents] : assignment.rows) {
    if (extents.empty() || extents.back() < 2) continue;
    Assignment longer = assignment;
    longer.rows[row].insert(longer.rows[row].end() - 1, 1);
    if (is_call(longer)) return longer;
    if (extents.size() < 2) continue;
    Assignment shorter = assignment;
    *(shorter.rows[row].end() - 2) = 1;
    if (is_call(shorter)) return shorter;
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
