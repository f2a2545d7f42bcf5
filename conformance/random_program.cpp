#include "conformance/random_program.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_skipped = 12;

/// The attributes of a definition that makes a tensor of one number.
struct Constant {
  std::string shape, number, dtype;

  [[nodiscard]] Assignment of(const spec::ValueType& type, double value) const {
    Assignment a;
    a.attributes[shape] = std::vector<std::int64_t>(type.dims.begin(), type.dims.end());
    if (kind_of(type.dtype) == Kind::real) a.attributes[number] = value;
    else a.attributes[number] = static_cast<std::int64_t>(value);
    a.attributes[dtype] = std::string(name_of(type.dtype));
    return a;
  }
};

/// Nothing of a definition that is none: it reads nothing, and each element is an attribute.
std::optional<Constant> constant_of(const spec::Definition& d) {
  if (d.operand_count != 0 || d.result_count != 1 || d.attribute_count != 3 || d.clause_count != 1) return std::nullopt;
  if (d.clauses[0].form != spec::ClauseText::Form::equation || d[d.clauses[0].value].form != spec::NodeForm::name) return std::nullopt;
  Constant found;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    const auto& attribute = d.attributes[i];
    std::string name(d.at(attribute.name));
    if (attribute.kind == spec::AttributeKind::value) found.number = std::move(name);
    else if (attribute.kind == spec::AttributeKind::dtype) found.dtype = std::move(name);
    else if (attribute.row.length != 0) found.shape = std::move(name);
  }
  if (found.shape.empty() || found.number.empty() || found.dtype.empty()) return std::nullopt;
  return found;
}

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
      if (constant_ == nullptr && constant_of(*d)) constant_ = d;
      if (wish_.about != nullptr && is_consumer(*d, *wish_.about)) consumers_.push_back(d);
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
    if (role == Role::again) return repeat_call();
    if (role == Role::exchanged) return exchange_operands();
    if (role == Role::with_constant) return add_with_constant();
    if (role == Role::anew) return add_anew();
    if (role != Role::consumer && role != Role::reader) {
      if (const spec::Definition* d = chosen(role)) add_call(*d, role);
      return;
    }
    add_consumer(role);
  }

  /// The next that can read what is there.
  void add_consumer(Role role) {
    const std::size_t before = program_.steps.size();
    constexpr std::size_t draws = 3;
    // What does the same again is joined first of all.
    if (role == Role::reader && draw_.chance(0.15)) add_call(*wish_.about, role);
    for (std::size_t skipped = 0; skipped < consumers_.size() && program_.steps.size() == before; ++skipped) {
      const spec::Definition& d = *consumers_[static_cast<std::size_t>(turn_++ % consumers_.size())];
      for (std::size_t k = 0; k < draws && program_.steps.size() == before; ++k) add_call(d, role);
      if (skipped == most_skipped) break;
    }
  }

  /// One call of the program's definition, on inputs of its own; what it gives is for the reader.
  void add_anew() {
    SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults && draw_.chance(0.3)};
    if (!wish_.extents.empty()) wish.fit = Fit{0, wish_.extents};
    const auto assignment = draw_assignment(*wish_.about, draw_, wish, wish_.dtype);
    const auto types = assignment ? call_of(*wish_.about, *assignment, wish_.dtype) : std::nullopt;
    if (!types) return;
    const std::size_t before = results_.size();
    add(*types, std::vector<std::optional<std::string>>(types->operands.size()), *assignment);
    if (results_.size() > before) first_readable_ = before;
  }

  [[nodiscard]] std::span<const std::pair<std::string, spec::ValueType>> readable() const {
    return std::span(results_).subspan(first_readable_);
  }

  /// What such a call may be missing without harm.
  static bool is_optional(Role role) { return role == Role::exchanged || role == Role::consumer || role == Role::reader || role == Role::with_constant; }

  /// Elementwise functions of what is elementwise; after moves moves again, reductions, and what joins two operands; after
  /// others what moves or changes each element.
  static bool is_consumer(const spec::Definition& d, const spec::Definition& after) {
    if (is_elementwise(after)) return is_elementwise(d);
    if (!is_move(after)) return is_move(d) || is_elementwise(d);
    return is_move(d) || (d.operand_count > 0 && d.operand_count <= 2 && (!is_elementwise(d) || d.operand_count == 2));
  }

  const spec::Definition* chosen(Role role) {
    if (role == Role::about || role == Role::same) return wish_.about;
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
    static const std::vector<double> numbers{0, 1, -1, 2, -2, 4, -4, 0.5, 3, -0.0};
    SizeWish wish{.elements = wish_.elements, .edges = false, .defaults = wish_.defaults};
    auto assignment = draw_assignment(*wish_.about, draw_, wish, wish_.dtype);
    const std::uint64_t turn = turn_++;
    if (assignment && turn % 2 == 1 && takes_integers(*wish_.about)) assignment->shared_type = turn % 4 == 1 ? DType::i32 : DType::i64;
    const auto types = assignment && constant_ != nullptr ? call_of(*wish_.about, *assignment, wish_.dtype) : std::nullopt;
    if (!types) return;
    std::vector<std::size_t> numeric;
    for (std::size_t i = 0; i < types->operands.size(); ++i) {
      if (types->operands[i] && types->operands[i]->dtype != DType::boolean) numeric.push_back(i);
    }
    if (numeric.empty()) return;
    const std::size_t operand = numeric[static_cast<std::size_t>(turn % numeric.size())];
    const double number = numbers[static_cast<std::size_t>(turn / numeric.size() % numbers.size())];
    const Assignment constant = constant_of(*constant_)->of(*types->operands[operand], number);
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
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      std::vector<std::string> fitting;
      for (const auto& [name, type] : results_) {
        if (call.operands[i] && type == *call.operands[i]) fitting.push_back(name);
      }
      if (!fitting.empty() && draw_.chance(taking)) taken[i] = draw_.pick(fitting);
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
  const spec::Definition* constant_ = nullptr;  ///< makes a tensor of one number
  std::uint64_t turn_;
  std::set<std::string> of_first_;  ///< what calls of the program's definition gave
  std::vector<Assignment> assignments_;
  spec::Program program_;
  std::vector<std::pair<std::string, spec::ValueType>> results_;
  std::set<std::string> read_;
  std::size_t first_readable_ = 0;  ///< of the results
  bool doubles_ = false;
  bool twins_ = false;
};

}  // namespace

std::optional<RandomProgram> random_program(std::span<const spec::Definition* const> definitions,
                                            const ProgramWish& wish, Draw& draw, const Admission& admits) {
  return Composer(definitions, wish, draw, admits).run();
}

}  // namespace etalon::conformance
