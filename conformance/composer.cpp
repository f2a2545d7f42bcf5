#include "conformance/composer.hpp"

#include <algorithm>
#include <array>

#include "conformance/constant_tensor.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {

namespace {

bool has_attribute(const spec::Definition& d, spec::AttributeKind kind) {
  return std::any_of(d.attributes, d.attributes + d.attribute_count, [&](const spec::AttributeText& a) { return a.kind == kind; });
}

}  // namespace

Composer::Composer(std::span<const spec::Definition* const> definitions, const ProgramWish& wish, Draw& draw, const Admission& admits)
    : wish_(wish), draw_(draw), admits_(admits), all_(definitions.begin(), definitions.end()), turn_(wish.turn) {
  for (const spec::Definition* d : all_) {
    if (is_elementwise(*d)) elementwise_.push_back(d);
    else if (is_move(*d)) moves_.push_back(d);
    if (is_move(*d) && has_attribute(*d, spec::AttributeKind::value)) surrounding_.push_back(d);
    if (constant_tensor(*d)) constants_.push_back(d);
    if (wish_.about != nullptr && is_consumer(*d, *wish_.about)) consumers_.push_back(d);
    if (wish_.about != nullptr && is_feeder(*d, *wish_.about)) feeders_.push_back(d);
  }
}

std::optional<RandomProgram> Composer::run() {
  // Most draws of any definition do not fit what is there.
  constexpr std::size_t patience = 60;
  for (const Role role : wish_.roles) {
    const std::size_t before = program_.steps.size();
    for (std::size_t attempt = 0; attempt < patience && program_.steps.size() == before; ++attempt) {
      doubles_ = wish_.doubled && attempt < patience / 2;
      twins_ = wish_.twins && attempt < patience / 2;
      alike_ = wish_.alike && attempt < patience / 2;
      add_call(role);
      if (is_optional(role)) break;
    }
    if (program_.steps.size() == before && !is_optional(role)) return std::nullopt;
  }
  if (program_.steps.empty()) return std::nullopt;
  for (const auto& [name, type] : results_) {
    if (!read_.contains(name) || (!hidden_.contains(name) && draw_.chance(wish_.read_outputs))) program_.outputs.push_back(name);
  }
  if (!program_.inputs.empty() && draw_.chance(wish_.input_outputs)) program_.outputs.push_back(draw_.pick(program_.inputs).name);
  return RandomProgram{std::move(program_), std::move(assignments_)};
}

bool Composer::may_hold(spec::Range range, DType dtype, DType of_case) {
  switch (range) {
    case spec::Range::integer: return dtype == DType::i64;
    case spec::Range::boolean: return dtype == DType::boolean;
    case spec::Range::any: return true;
    case spec::Range::number: return dtype != DType::boolean;
    default: return dtype == of_case;
  }
}

void Composer::add_call(Role role) {
  switch (role) {
    case Role::again: return repeat_call();
    case Role::nearly: return add_nearly();
    case Role::exchanged: return exchange_operands();
    case Role::with_constant: return add_with_constant();
    case Role::anew: return add_anew();
    case Role::feeder: return add_feeder();
    case Role::sharing: return add_sharing();
    case Role::other_view: return add_other_view();
    case Role::once_more: return add_once_more();
    case Role::between_moves: return add_between_moves();
    case Role::over_itself: return add_over_itself();
    case Role::read_twice: return add_read_twice();
    case Role::epilogue: return add_epilogue();
    case Role::rejoined: return add_rejoined();
    case Role::surrounded: return add_surrounded();
    case Role::there_and_back: return add_there_and_back();
    case Role::consumer:
    case Role::reader: return add_consumer(role);
    default: break;
  }
  if (role == Role::move || role == Role::fed) first_readable_ = results_.empty() ? 0 : results_.size() - 1;
  if (role == Role::on_view && view_) first_readable_ = *view_, behind_readable_ = *view_ + 1;
  if (role == Role::beside && view_) first_readable_ = *view_ - std::min<std::size_t>(*view_, 1), behind_readable_ = *view_ + 1;
  const std::size_t before = results_.size();
  if (const spec::Definition* d = chosen(role)) add_call(*d, role);
  if (role == Role::move && results_.size() > before && !view_) view_ = before, viewing_ = program_.steps.size() - 1;
  if (role != Role::fed) first_readable_ = 0;
  behind_readable_ = std::string::npos;
}

std::span<const std::pair<std::string, spec::ValueType>> Composer::readable() const {
  return std::span(results_).subspan(first_readable_, std::min(behind_readable_, results_.size()) - first_readable_);
}

bool Composer::is_optional(Role role) {
  static constexpr std::array optional{Role::sharing, Role::exchanged, Role::nearly, Role::consumer, Role::reader, Role::fed, Role::other_view, Role::beside, Role::with_constant, Role::once_more, Role::between_moves, Role::over_itself, Role::read_twice, Role::epilogue, Role::rejoined, Role::surrounded, Role::there_and_back};
  return std::find(optional.begin(), optional.end(), role) != optional.end();
}

const spec::Definition* Composer::chosen(Role role) {
  if (role == Role::about || role == Role::same || role == Role::fed || role == Role::on_view) return wish_.about;
  const auto& from = role == Role::any ? all_ : role == Role::move ? moves_ : elementwise_;
  return from.empty() ? nullptr : draw_.pick(from);
}

void Composer::add_call(const spec::Definition& definition, Role role) {
  const auto read = some_read(definition);
  SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults && role != Role::reader};
  if (read) wish.fit = read->fit;
  auto assignment = draw_assignment(definition, draw_, wish, wish_.dtype);
  if (!assignment) return;
  if (read && read->dtype != wish_.dtype) assignment->shared_type = read->dtype;
  if (wish_.there_and_back) convert(definition, role, *assignment);
  const auto types = call_of(definition, *assignment, wish_.dtype);
  if (!types) return;
  const bool around = role == Role::consumer || role == Role::reader;
  const std::vector<std::optional<std::string>> taken = around ? around_the_first(*types) : results_for(*types, 0.8);
  const bool joined = std::any_of(taken.begin(), taken.end(), [](const auto& name) { return name.has_value(); });
  if (program_.steps.empty() || joined) add(*types, taken, *assignment);
}

void Composer::convert(const spec::Definition& d, Role role, Assignment& assignment) {
  static const std::vector<DType> away{DType::i32, DType::i64, DType::f32, DType::i32, DType::boolean};
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    if (d.attributes[i].kind != spec::AttributeKind::dtype) continue;
    const DType to = role == Role::same && draw_.chance(0.6) ? wish_.dtype : draw_.pick(away);
    assignment.attributes[std::string(d.at(d.attributes[i].name))] = std::string(name_of(to));
  }
}

std::optional<Composer::Reading> Composer::some_read(const spec::Definition& d) {
  if (program_.steps.empty() && !wish_.extents.empty()) return Reading{{0, wish_.extents}, wish_.dtype};
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    for (const auto& [name, type] : readable()) {
      if (!may_hold(d.operands[i].range, type.dtype, wish_.dtype)) continue;
      const bool shares = d.operands[i].range == spec::Range::any || d.operands[i].range == spec::Range::number;
      readings.push_back({{i, {type.dims.begin(), type.dims.end()}}, shares ? type.dtype : wish_.dtype});
    }
  }
  if (readings.empty()) return std::nullopt;
  return draw_.pick(readings);
}

std::vector<std::optional<std::string>> Composer::around_the_first(const CallTypes& call) {
  std::vector<std::optional<std::string>> taken(call.operands.size());
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    std::vector<std::string> fitting;
    for (const auto& [name, type] : readable()) {
      if (call.operands[i] && type == *call.operands[i] && of_first_.contains(name)) fitting.push_back(name);
    }
    // Who alone reads a value mostly joins it with others.
    if (first_readable_ > 0 && draw_.chance(i > 0 ? 0.7 : 0.1)) fitting.clear();
    // The first operand reads a result for sure, others mostly.
    if (first_readable_ == 0 && i > 0 && (fitting.empty() || draw_.chance(0.3))) {
      for (const spec::Input& input : program_.inputs) {
        if (call.operands[i] && input.dtype == call.operands[i]->dtype && input.dims == call.operands[i]->dims) fitting.push_back(input.name);
      }
    }
    if (!fitting.empty()) taken[i] = draw_.pick(fitting);
  }
  return taken;
}

void Composer::add(const CallTypes& types, std::vector<std::optional<std::string>> taken, const Assignment& assignment) {
  share_inputs(types, taken);
  if (program_.steps.empty() && (doubles_ || twins_) && !has_twins(types)) return;
  if (program_.steps.empty() && alike_) {
    const auto other = with_another_attribute(*wish_.about, assignment, types);
    if (!other || !other->alike || !other->tells) return;
  }
  const spec::Instance instance = instance_of(types, wish_.library);
  const std::size_t inputs_before = program_.inputs.size();
  // Complete, so that a backend needs no table of defaults.
  spec::Call call{types.operation, {}, types.packs, instance.attributes, {}, {}};
  for (std::size_t i = 0; i < types.operands.size(); ++i) {
    call.operands.emplace_back();
    if (!types.operands[i]) continue;
    const bool again = i > 0 && types.operands[i] == types.operands[i - 1] && (doubles_ || (!program_.steps.empty() && draw_.chance(wish_.shared_inputs / 2)));
    call.operands.back() = taken[i] ? *taken[i] : again ? *call.operands[i - 1] : add_input(*types.operands[i]);
  }
  for (std::size_t r = 0; r < instance.results.size(); ++r) call.results.push_back("v" + std::to_string(results_.size() + r));
  program_.steps.emplace_back(std::move(call));
  if (admits_ && !admits_(program_, instance)) {
    program_.steps.pop_back();
    program_.inputs.resize(inputs_before);
    return;
  }
  keep(instance, taken, assignment);
}

bool Composer::has_twins(const CallTypes& types) {
  const auto& all = types.operands;
  return std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; }) != all.end();
}

void Composer::keep(const spec::Instance& instance, const std::vector<std::optional<std::string>>& taken, const Assignment& assignment) {
  for (const auto& name : taken) {
    if (name) read_.insert(*name);
  }
  const auto& call = std::get<spec::Call>(program_.steps.back());
  for (std::size_t r = 0; r < instance.results.size(); ++r) {
    results_.emplace_back(call.results[r], instance.results[r]);
    if (wish_.about != nullptr && call.operation == wish_.about->name) of_first_.insert(call.results[r]);
  }
  assignments_.push_back(assignment);
}

std::vector<std::optional<std::string>> Composer::results_for(const CallTypes& call, double taking) {
  std::vector<std::optional<std::string>> taken(call.operands.size());
  bool any = false;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    std::vector<std::string> fitting;
    for (const auto& [name, type] : readable()) {
      if (call.operands[i] && type == *call.operands[i]) fitting.push_back(name);
    }
    // Who may read little reads other things besides.
    const bool enough = readable().size() < results_.size() && any;
    if (!fitting.empty() && draw_.chance(enough ? 0.4 : taking)) taken[i] = draw_.pick(fitting), any = true;
  }
  return taken;
}

void Composer::share_inputs(const CallTypes& call, std::vector<std::optional<std::string>>& taken) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (taken[i] || !call.operands[i] || !draw_.chance(wish_.shared_inputs)) continue;
    std::vector<std::string> fitting;
    for (const spec::Input& input : program_.inputs) {
      if (input.dtype == call.operands[i]->dtype && input.dims == call.operands[i]->dims) fitting.push_back(input.name);
    }
    if (!fitting.empty()) taken[i] = draw_.pick(fitting);
  }
}

std::string Composer::add_input(const spec::ValueType& type) {
  spec::Input input;
  input.name = "x" + std::to_string(program_.inputs.size());
  input.dtype = type.dtype;
  input.dims = type.dims;
  program_.inputs.push_back(input);
  return input.name;
}

}  // namespace etalon::conformance
