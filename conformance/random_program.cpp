#include "conformance/random_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/collapse.hpp"
#include "conformance/constant_tensor.hpp"
#include "conformance/shapes.hpp"
#include "conformance/sibling.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_skipped = 12;
const std::vector<std::int64_t> constant_extents{3, 4};

/// Whether an operand may hold numbers of this element type, in a case of another.
bool may_hold(spec::Range range, DType dtype, DType of_case) {
  switch (range) {
    case spec::Range::integer: return dtype == DType::i64;
    case spec::Range::boolean: return dtype == DType::boolean;
    case spec::Range::any: return true;
    case spec::Range::number: return dtype != DType::boolean;
    default: return dtype == of_case;
  }
}

class Composer {
 public:
  Composer(std::span<const spec::Definition* const> definitions, const ProgramWish& wish, Draw& draw, const Admission& admits)
      : wish_(wish), draw_(draw), admits_(admits), all_(definitions.begin(), definitions.end()), turn_(wish.turn) {
    for (const spec::Definition* d : all_) {
      if (is_elementwise(*d)) elementwise_.push_back(d);
      else if (is_move(*d)) moves_.push_back(d);
      if (constant_ == nullptr && constant_tensor(*d)) constant_ = d;
      if (wish_.about != nullptr && is_consumer(*d, *wish_.about)) consumers_.push_back(d);
      if (wish_.about != nullptr && is_feeder(*d, *wish_.about)) feeders_.push_back(d);
    }
  }

  std::optional<RandomProgram> run() {
    // Most draws of any definition do not fit what is there.
    constexpr std::size_t patience = 60;
    for (const Role role : wish_.roles) {
      const std::size_t before = program_.steps.size();
      for (std::size_t attempt = 0; attempt < patience && program_.steps.size() == before; ++attempt) {
        doubles_ = wish_.doubled && attempt < patience / 2;
        twins_ = wish_.twins && attempt < patience / 2;
        add_call(role);
        if (is_optional(role)) break;
      }
      if (program_.steps.size() == before && !is_optional(role)) return std::nullopt;
    }
    if (program_.steps.empty()) return std::nullopt;
    for (const auto& [name, type] : results_) {
      if (!read_.contains(name) || draw_.chance(wish_.read_outputs)) program_.outputs.push_back(name);
    }
    if (!program_.inputs.empty() && draw_.chance(wish_.input_outputs)) program_.outputs.push_back(draw_.pick(program_.inputs).name);
    return RandomProgram{std::move(program_), std::move(assignments_)};
  }

 private:
  void add_call(Role role) {
    switch (role) {
      case Role::again: return repeat_call();
      case Role::nearly: return add_nearly();
      case Role::exchanged: return exchange_operands();
      case Role::with_constant: return add_with_constant();
      case Role::anew: return add_anew();
      case Role::feeder: return add_feeder();
      case Role::sharing: return add_sharing();
      case Role::other_view: return add_other_view();
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

  /// The next that can read what is there.
  void add_consumer(Role role) {
    const std::size_t before = program_.steps.size();
    constexpr std::size_t draws = 3;
    // What does the same again is joined first of all.
    if (role == Role::reader && draw_.chance(0.15)) add_call(*wish_.about, role);
    for (std::size_t skipped = 0; skipped < consumers_.size() && program_.steps.size() == before; ++skipped) {
      const spec::Definition& d = *consumers_[static_cast<std::size_t>(turn_ % consumers_.size())];
      turn_ += wish_.stride;
      if (role == Role::reader && is_elementwise(d) && is_elementwise(*wish_.about)) add_rewritten(d);
      for (std::size_t k = 0; k < draws && program_.steps.size() == before; ++k) add_call(d, role);
      if (skipped == most_skipped) break;
    }
  }

  /// One call of the program's definition, on inputs of its own; what it gives is for the reader.
  void add_anew() { add_alone(*wish_.about, is_elementwise(*wish_.about)); }

  /// The next of those whose results are rewritten with who reads them, on inputs of its own.
  void add_feeder() {
    for (std::size_t skipped = 0; skipped < most_skipped && !feeders_.empty(); ++skipped) {
      const std::size_t before = results_.size();
      const spec::Definition& d = *feeders_[static_cast<std::size_t>(turn_ % feeders_.size())];
      turn_ += wish_.stride;
      add_alone(d, false);
      if (results_.size() > before) return;
    }
  }

  /// One call of the program's definition that reads the first input.
  void add_sharing() {
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

  void add_alone(const spec::Definition& d, bool at_levels) {
    SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults && draw_.chance(0.3)};
    if (!wish_.extents.empty() && d.operand_count > 0) wish.fit = Fit{0, wish_.extents};
    if (at_levels && draw_.chance(0.7)) wish.turn = draw_.bits() % turns_in_step, wish.insistence = 0.5;
    auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
    if (!assignment) return;
    if (at_levels && takes_integers(d) && draw_.chance(0.25)) assignment->shared_type = draw_.chance(0.5) ? DType::i64 : DType::i32;
    if (at_levels && draw_.chance(0.8)) make_equal(d, *assignment);
    const auto types = call_of(d, *assignment, wish_.dtype);
    if (!types) return;
    const std::size_t before = results_.size();
    add(*types, std::vector<std::optional<std::string>>(types->operands.size()), *assignment);
    if (results_.size() > before) first_readable_ = before;
  }

  /// Rows of the extents of the first, or of those given.
  static void make_equal(const spec::Definition& d, Assignment& a, std::optional<std::vector<std::int64_t>> extents = {}) {
    if (!extents) extents = extents_of_axes(d, d.operands[0].axes, a);
    for (auto& [row, of_row] : a.rows) of_row = *extents;
  }

  /// An elementwise function of what the last call gave: of the ways to read that, and what that read, one which gives back
  /// something simpler among ordinary numbers, where there is one.
  void add_rewritten(const spec::Definition& d) {
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

  struct Way {
    Assignment assignment;
    CallTypes types;
    std::vector<Link> links;
  };

  [[nodiscard]] std::span<const std::pair<std::string, spec::ValueType>> readable() const {
    return std::span(results_).subspan(first_readable_, std::min(behind_readable_, results_.size()) - first_readable_);
  }

  /// What such a call may be missing without harm.
  static bool is_optional(Role role) {
    static constexpr std::array optional{Role::sharing, Role::exchanged, Role::nearly, Role::consumer, Role::reader, Role::fed, Role::other_view, Role::beside, Role::with_constant};
    return std::find(optional.begin(), optional.end(), role) != optional.end();
  }

  /// Elementwise functions of what is elementwise; after moves moves again, and what reads one operand or two; after
  /// others what moves or changes each element; after reductions also these of one operand.
  static bool is_consumer(const spec::Definition& d, const spec::Definition& after) {
    if (is_elementwise(after)) return is_elementwise(d);
    if (!is_move(after)) return is_move(d) || is_elementwise(d) || (is_fold(after) && is_fold(d) && d.operand_count == 1);
    return is_move(d) || (d.operand_count > 0 && d.operand_count <= 2);
  }

  /// What gives operands that are rewritten with who reads them.
  static bool is_feeder(const spec::Definition& d, const spec::Definition& before) {
    if (d.operand_count == 0 || d.result_count != 1 || d.operand_count > 2) return false;
    return is_move(d) || is_elementwise(d) || (is_fold(d) && is_fold(before));
  }

  const spec::Definition* chosen(Role role) {
    if (role == Role::about || role == Role::same || role == Role::fed || role == Role::on_view) return wish_.about;
    const auto& from = role == Role::any ? all_ : role == Role::move ? moves_ : elementwise_;
    return from.empty() ? nullptr : draw_.pick(from);
  }

  void add_call(const spec::Definition& definition, Role role) {
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

  /// One call of the program's definition, with a constant of the program as an operand.
  void add_with_constant() {
    static const std::vector<double> numbers{0, 1, -1, -0.0, 2, std::numeric_limits<double>::infinity(), -2, 4, -4, 0.5, 3, -std::numeric_limits<double>::infinity()};
    SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults};
    auto assignment = draw_assignment(*wish_.about, draw_, wish, wish_.dtype);
    const std::uint64_t turn = turn_++;
    if (assignment && turn % 2 == 1 && takes_integers(*wish_.about)) assignment->shared_type = turn % 4 == 1 ? DType::i32 : DType::i64;
    // Who keeps constants by value finds those of one shape again.
    if (assignment && is_elementwise(*wish_.about)) make_equal(*wish_.about, *assignment, constant_extents);
    const auto types = assignment && constant_ != nullptr ? call_of(*wish_.about, *assignment, wish_.dtype) : std::nullopt;
    if (!types) return;
    std::vector<std::size_t> numeric;
    for (std::size_t i = 0; i < types->operands.size(); ++i) {
      if (types->operands[i] && types->operands[i]->dtype != DType::boolean) numeric.push_back(i);
    }
    if (numeric.empty()) return;
    const std::size_t operand = numeric[static_cast<std::size_t>(turn % numeric.size())];
    const double number = numbers[static_cast<std::size_t>(turn / numeric.size() % numbers.size())];
    const Assignment constant = constant_tensor(*constant_)->of(*types->operands[operand], number);
    const auto made = call_of(*constant_, constant, wish_.dtype);
    if (!made) return;
    const std::size_t before = program_.steps.size();
    add(*made, {}, constant);
    if (program_.steps.size() == before) return;
    std::vector<std::optional<std::string>> taken(types->operands.size());
    taken[operand] = results_.back().first;
    add(*types, std::move(taken), *assignment);
  }

  /// To another element type first, and then to the program's.
  void convert(const spec::Definition& d, Role role, Assignment& assignment) {
    static const std::vector<DType> away{DType::i32, DType::i64, DType::f32, DType::i32, DType::boolean};
    for (std::size_t i = 0; i < d.attribute_count; ++i) {
      if (d.attributes[i].kind != spec::AttributeKind::dtype) continue;
      const DType to = role == Role::same && draw_.chance(0.6) ? wish_.dtype : draw_.pick(away);
      assignment.attributes[std::string(d.at(d.attributes[i].name))] = std::string(name_of(to));
    }
  }

  /// What an operand of a call is to be so that it can read a result.
  struct Reading {
    Fit fit;
    DType dtype;
  };

  /// One for a result that may be read, or with the extents wished for.
  std::optional<Reading> some_read(const spec::Definition& d) {
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

  /// Per operand a value that a call of the program's definition read or gave: all alike, or different ones.
  std::vector<std::optional<std::string>> around_the_first(const CallTypes& call) {
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

  // The last call once more, at the same types: on other numbers, or on what it gave.
  void repeat_call() {
    const Assignment assignment = assignments_.back();
    const auto& last = std::get<spec::Call>(program_.steps.back());
    const auto types = call_of(wish_.library.named(last.operation), assignment, wish_.dtype);
    if (types) add(*types, results_for(*types, draw_.chance(0.5) ? 0.8 : 0), assignment);
  }

  // Keys that hold few digits, narrower numbers or not all attributes take it for the first call.
  void add_nearly() {
    const auto& first = std::get<spec::Call>(program_.steps.front());
    const spec::Definition& d = wish_.library.named(first.operation);
    const auto before = call_of(d, assignments_.front(), wish_.dtype);
    std::optional<Assignment> assignment = with_other_digits(assignments_.front(), first.attributes);
    constexpr std::uint64_t kinds = 4, of_attributes = 1;
    if (!assignment || draw_.chance(0.3)) {
      if (auto other = sibling_of(d, assignments_.front(), kinds * (draw_.bits() % kinds) + of_attributes, 0, draw_, wish_.dtype)) assignment = std::move(other);
    }
    const auto types = assignment ? call_of(d, *assignment, wish_.dtype) : std::nullopt;
    if (types && before && types->operands == before->operands) add(*types, std::vector(first.operands), *assignment);
  }

  /// Nothing where no attribute is a real number but 0.
  [[nodiscard]] std::optional<Assignment> with_other_digits(Assignment assignment, const spec::Attributes& complete) const {
    bool differs = false;
    for (const auto& [name, value] : complete) {
      const auto* x = std::get_if<double>(&value);
      if (x == nullptr || *x == 0 || !std::isfinite(*x)) continue;
      assignment.attributes[name] = *x * (1 + (wish_.dtype == DType::f64 ? 0x1p-40 : 0x1p-19));
      differs = true;
    }
    return differs ? std::optional(std::move(assignment)) : std::nullopt;
  }

  // The value under the first view is viewed otherwise, and the last call repeated on that: who keeps what it made of an operand
  // may take one for the other.
  void add_other_view() {
    if (!view_) return;
    const auto viewing = std::get<spec::Call>(program_.steps[viewing_]);
    const auto reading = std::get<spec::Call>(program_.steps.back());
    const auto& [view, type] = results_[*view_];
    const std::string old = view;
    if (std::find(reading.operands.begin(), reading.operands.end(), old) == reading.operands.end()) return;
    const Assignment choices = assignments_.back();
    std::optional<std::string> other = another_view(viewing, type);
    const auto types = other ? call_of(wish_.library.named(reading.operation), choices, wish_.dtype) : std::nullopt;
    if (!types) return;
    std::vector<std::optional<std::string>> taken = reading.operands;
    std::replace(taken.begin(), taken.end(), std::optional(old), other);
    add(*types, std::move(taken), choices);
  }

  /// A view of this type of what the call views, or that itself; nothing where neither can be.
  std::optional<std::string> another_view(const spec::Call& viewing, const spec::ValueType type) {
    const spec::Definition& d = wish_.library.named(viewing.operation);
    const auto base = std::find_if(results_.begin(), results_.end(), [&](const auto& r) { return r.first == viewing.operands.front(); });
    if (base == results_.end()) return std::nullopt;
    const auto [name, of_base] = *base;
    constexpr int draws = 12;
    for (int k = 0; k < draws; ++k) {
      SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = false};
      wish.fit = Fit{0, {of_base.dims.begin(), of_base.dims.end()}};
      auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
      if (assignment && of_base.dtype != wish_.dtype) assignment->shared_type = of_base.dtype;
      const auto types = assignment ? call_of(d, *assignment, wish_.dtype) : std::nullopt;
      if (!types || types->operands.size() != viewing.operands.size() || types->operands.front() != of_base) continue;
      const spec::Instance instance = instance_of(*types, wish_.library);
      if (instance.results.front() != type || instance.attributes == viewing.attributes) continue;
      const std::size_t before = results_.size();
      std::vector<std::optional<std::string>> taken(viewing.operands.size());
      taken.front() = name;
      add(*types, std::move(taken), *assignment);
      if (results_.size() > before) return results_[before].first;
    }
    return of_base == type ? std::optional(name) : std::nullopt;
  }

  // Who keeps common subexpressions may take b - a for a - b.
  void exchange_operands() {
    const Assignment assignment = assignments_.front();
    const auto& first = std::get<spec::Call>(program_.steps.front());
    const auto types = call_of(wish_.library.named(first.operation), assignment, wish_.dtype);
    if (!types) return;
    const auto& all = types->operands;
    const auto twin = std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; });
    if (twin == all.end()) return;
    std::vector<std::optional<std::string>> taken = first.operands;
    std::swap(taken[static_cast<std::size_t>(twin - all.begin())], taken[static_cast<std::size_t>(twin - all.begin()) + 1]);
    add(*types, std::move(taken), assignment);
  }

  void add(const CallTypes& types, std::vector<std::optional<std::string>> taken, const Assignment& assignment) {
    share_inputs(types, taken);
    if (program_.steps.empty() && (doubles_ || twins_) && !has_twins(types)) return;
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

  /// Whether two operands beside each other, of several, have one type.
  static bool has_twins(const CallTypes& types) {
    const auto& all = types.operands;
    return std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; }) != all.end();
  }

  void keep(const spec::Instance& instance, const std::vector<std::optional<std::string>>& taken, const Assignment& assignment) {
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

  /// Per operand an earlier result of its type, or nothing; a result may serve twice.
  std::vector<std::optional<std::string>> results_for(const CallTypes& call, double taking) {
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

  /// Some operands that no result serves read an input that another call reads.
  void share_inputs(const CallTypes& call, std::vector<std::optional<std::string>>& taken) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      if (taken[i] || !call.operands[i] || !draw_.chance(wish_.shared_inputs)) continue;
      std::vector<std::string> fitting;
      for (const spec::Input& input : program_.inputs) {
        if (input.dtype == call.operands[i]->dtype && input.dims == call.operands[i]->dims) fitting.push_back(input.name);
      }
      if (!fitting.empty()) taken[i] = draw_.pick(fitting);
    }
  }

  std::string add_input(const spec::ValueType& type) {
    spec::Input input;
    input.name = "x" + std::to_string(program_.inputs.size());
    input.dtype = type.dtype;
    input.dims = type.dims;
    program_.inputs.push_back(input);
    return input.name;
  }

  const ProgramWish& wish_;
  Draw& draw_;
  const Admission& admits_;
  std::vector<const spec::Definition*> all_;
  std::vector<const spec::Definition*> elementwise_;
  std::vector<const spec::Definition*> moves_;
  std::vector<const spec::Definition*> consumers_;
  std::vector<const spec::Definition*> feeders_;
  const spec::Definition* constant_ = nullptr;  ///< makes a tensor of one number
  std::uint64_t turn_;
  std::set<std::string> of_first_;  ///< what calls of the program's definition gave
  std::vector<Assignment> assignments_;
  spec::Program program_;
  std::vector<std::pair<std::string, spec::ValueType>> results_;
  std::set<std::string> read_;
  std::size_t first_readable_ = 0;  ///< of the results
  std::size_t behind_readable_ = std::string::npos;
  std::optional<std::size_t> view_;  ///< the result of the first move
  std::size_t viewing_ = 0;          ///< the step that made it
  bool doubles_ = false;
  bool twins_ = false;
};

}  // namespace

std::optional<RandomProgram> random_program(std::span<const spec::Definition* const> definitions,
                                            const ProgramWish& wish, Draw& draw, const Admission& admits) {
  return Composer(definitions, wish, draw, admits).run();
}

}  // namespace etalon::conformance
