#include "conformance/composer.hpp"

#include <algorithm>

#include "conformance/collapse.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_skipped = 12;
constexpr std::size_t most_skipped_by_others = 3;  // by results that are no real numbers, which most cannot read

struct Way {
  Assignment assignment;
  CallTypes types;
  std::vector<Link> links;
};

}  // namespace

void Composer::add_consumer(Role role) {
  const std::size_t before = program_.steps.size();
  const auto is_added = [&] { return program_.steps.size() > before; };
  // What does the same again is joined first of all.
  if (role == Role::reader && draw_.chance(0.15)) add_call(*wish_.about, role);
  const bool is_other = role == Role::reader && !results_.empty() && kind_of(results_.back().second.dtype) != Kind::real;
  // Whom the type of one result kept from reading reads another.
  constexpr std::size_t most_returning = 2;
  for (std::size_t k = 0; role == Role::reader && !is_other && k < most_returning && !passed_.empty() && !is_added(); ++k) {
    const spec::Definition& d = *passed_.front();
    passed_.pop_front();
    join(d, role);
  }
  for (std::size_t skipped = 0; skipped < consumers_.size() && !is_added(); ++skipped) {
    const spec::Definition& d = *consumers_[static_cast<std::size_t>(turn_ % consumers_.size())];
    turn_ += wish_.stride;
    join(d, role);
    if (!is_added()) passed_.push_back(&d);
    if (skipped == (is_other ? most_skipped_by_others : most_skipped)) break;
  }
}

void Composer::join(const spec::Definition& d, Role role) {
  constexpr std::size_t draws = 3;
  const std::size_t before = program_.steps.size();
  if (role == Role::reader && is_elementwise(d) && is_elementwise(*wish_.about)) add_rewritten(d);
  for (std::size_t k = 0; k < draws && program_.steps.size() == before; ++k) add_call(d, role);
}

void Composer::add_anew() { add_alone(*wish_.about, is_elementwise(*wish_.about)); }

void Composer::add_feeder() {
  for (std::size_t skipped = 0; skipped < most_skipped && !feeders_.empty(); ++skipped) {
    const std::size_t before = results_.size();
    const spec::Definition& d = *feeders_[static_cast<std::size_t>(turn_ % feeders_.size())];
    turn_ += wish_.stride;
    add_alone(d, false, what_is_read());
    if (results_.size() > before) return;
  }
}

/// About what the program's definition reads first: some read tensors of one rank only.
std::optional<Fit> Composer::what_is_read() {
  const auto read = drawn_alone(wish_.elements, false);
  if (!read || read->types.operands.empty() || !read->types.operands.front()) return std::nullopt;
  const Dims& dims = read->types.operands.front()->dims;
  return Fit{0, {dims.begin(), dims.end()}};
}

void Composer::add_sharing() {
  const spec::Definition& d = *wish_.about;
  if (d.operand_count == 0 || program_.inputs.empty()) return;
  const spec::Input shared = program_.inputs.front();
  const auto operand = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(d.operand_count) - 1));
  if (!may_hold(d.operands[operand].range, shared.dtype, wish_.dtype)) return;
  SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults};
  wish.fit = Fit{operand, {shared.dims.begin(), shared.dims.end()}};
  const auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
  const auto types = assignment ? call_of(d, *assignment, wish_.dtype) : std::nullopt;
  if (!types) return;
  std::vector<std::optional<std::string>> taken(types->operands.size());
  const auto place = std::find(types->operands.begin(), types->operands.end(), spec::ValueType{shared.dtype, shared.dims});
  if (place == types->operands.end()) return;
  taken[static_cast<std::size_t>(place - types->operands.begin())] = shared.name;
  add(*types, std::move(taken), *assignment);
}

void Composer::add_alone(const spec::Definition& d, bool at_levels, std::optional<Fit> first) {
  SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults && draw_.chance(0.3)};
  wish.fit = std::move(first);
  if (!wish_.extents.empty() && d.operand_count > 0) wish.fit = Fit{0, wish_.extents};
  if (at_levels && draw_.chance(0.7)) wish.turn = draw_.bits() % turns_in_step, wish.insistence = 0.5;
  // A function of one number meets one class of numbers.
  constexpr std::int64_t several = 5;
  const int draws = at_levels ? 4 : 1;
  std::optional<Assignment> assignment;
  std::optional<CallTypes> types;
  for (int k = 0; k < draws && (!types || types->operands.empty() || !types->operands[0] || types->operands[0]->dims.count() < several); ++k) {
    assignment = draw_assignment(d, draw_, wish, wish_.dtype);
    if (!assignment) continue;
    if (at_levels && takes_integers(d) && draw_.chance(0.25)) assignment->shared_type = draw_.chance(0.5) ? DType::i64 : DType::i32;
    if (at_levels && draw_.chance(0.8)) make_equal(d, *assignment);
    types = call_of(d, *assignment, wish_.dtype);
  }
  if (!assignment || !types) return;
  const std::size_t before = results_.size();
  add(*types, std::vector<std::optional<std::string>>(types->operands.size()), *assignment);
  if (results_.size() > before) first_readable_ = before;
}

void Composer::make_equal(const spec::Definition& d, Assignment& a, std::optional<std::vector<std::int64_t>> extents) {
  if (!extents) extents = extents_of_axes(d, d.operands[0].axes, a);
  for (auto& [row, of_row] : a.rows) of_row = *extents;
}

void Composer::add_rewritten(const spec::Definition& d) {
  const Assignment first_choices = assignments_.back();
  const auto first_call = std::get<spec::Call>(program_.steps.back());
  const auto first_types = call_of(wish_.library.named(first_call.operation), first_choices, wish_.dtype);
  if (!first_types || results_.size() <= first_readable_) return;
  const auto [name, type] = results_.back();
  const spec::Instance first = instance_of(*first_types, wish_.library);
  std::optional<Way> chosen_way;
  const int draws = d.attribute_count > 0 ? 5 : 1;
  for (int k = 0; k < draws; ++k) {
    SizeWish wish{.elements = wish_.elements, .edges = false, .turn = draw_.bits() % turns_in_step, .defaults = false, .insistence = 0.5};
    auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
    if (!assignment) continue;
    make_equal(d, *assignment, std::vector<std::int64_t>(type.dims.begin(), type.dims.end()));
    const bool shares = std::any_of(d.operands, d.operands + d.operand_count, [](const auto& o) { return o.range == spec::Range::number || o.range == spec::Range::any; });
    if (shares && type.dtype != wish_.dtype && (d.operands[0].range != spec::Range::boolean)) assignment->shared_type = type.dtype;
    const auto types = call_of(d, *assignment, wish_.dtype);
    if (!types) continue;
    const std::vector<std::vector<Link>> links = ways_to_read(types->operands, first_types->operands, type);
    if (links.empty()) continue;
    const spec::Instance second = instance_of(*types, wish_.library);
    std::vector<std::vector<Link>> collapsing;
    for (const auto& way : links) {
      if (collapses(first, second, way)) collapsing.push_back(way);
    }
    const bool better = !collapsing.empty() || !chosen_way;
    if (better) chosen_way = Way{*assignment, *types, draw_.pick(collapsing.empty() ? links : collapsing)};
    if (!collapsing.empty()) break;
  }
  if (!chosen_way) return;
  std::vector<std::optional<std::string>> taken;
  for (const Link& link : chosen_way->links) {
    taken.emplace_back();
    if (link.to == Link::To::result) taken.back() = name;
    if (link.to == Link::To::operand) taken.back() = first_call.operands[link.place];
  }
  const auto own = std::find(taken.begin(), taken.end(), std::nullopt);
  // Two results of one function, joined, may be that of the joined operands.
  if (own != taken.end() && chosen_way->types.operands[static_cast<std::size_t>(own - taken.begin())] == type && draw_.chance(0.5)) {
    const std::size_t before = results_.size();
    add(*first_types, std::vector<std::optional<std::string>>(first_types->operands.size()), first_choices);
    if (results_.size() > before) *own = results_.back().first;
  }
  add(chosen_way->types, std::move(taken), chosen_way->assignment);
}

bool Composer::is_consumer(const spec::Definition& d, const spec::Definition& after) {
  if (is_elementwise(after)) return is_elementwise(d);
  if (!is_move(after)) return is_move(d) || is_elementwise(d) || (is_fold(after) && is_fold(d) && d.operand_count == 1);
  return is_move(d) || (d.operand_count > 0 && d.operand_count <= 2);
}

bool Composer::is_feeder(const spec::Definition& d, const spec::Definition& before) {
  if (d.operand_count == 0 || d.result_count != 1 || d.operand_count > 2) return false;
  return is_move(d) || is_elementwise(d) || (is_fold(d) && is_fold(before));
}

}  // namespace etalon::conformance
