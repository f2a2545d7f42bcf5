#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/nearest.hpp"
#include "spec/notation/definition.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/fault.hpp"
#include "spec/program/name.hpp"
#include "spec/program/wishes.hpp"
#include "spec/quoted.hpp"
#include "spec/system/written_once.hpp"

namespace etalon::spec {
namespace {

/// Walks the steps in order and keeps what is known of each value.
class Verifier {
 public:
  explicit Verifier(Program program) : program_(std::move(program)), library_(library_of(program_)) {}

  Analysis run() {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i)
      in_part(Part::input, i, {program_.inputs[i].name, true}, [&] { declare(program_.inputs[i]); });
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
      in_part(Part::buffer, i, {program_.buffers[i].name, true}, [&] { declare(program_.buffers[i]); });
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      analysis_.reads.emplace_back();
      std::visit([&](const auto& s) { in_part(Part::step, i, {word_of(s)}, [&] { take(s); }); }, program_.steps[i]);
    }
    check_outputs();
    check_updates();
    check_wishes(program_, [this](const std::string& value, const std::string& what) { require_known(value, what); });
    return std::move(analysis_);
  }

 private:
  /// What a step is known by.
  [[nodiscard]] static std::string word_of(const Call& call) { return call.operation; }
  [[nodiscard]] static std::string word_of(const Differentiate& step) { return step.mode == Differentiate::Mode::vjp ? "vjp" : "jvp"; }
  [[nodiscard]] static std::string word_of(const Assign&) { return {}; }

  void declare(const Input& input) {
    const std::string what = "input " + as_quoted(input.name) + at(input.source);
    name(input.name, {input.dtype, input.dims}, input.source, what);
    for (const std::int64_t extent : input.dims) {
      if (extent < 0) throw SpecViolation(fmt::format("{}: extents are not negative, found {}", what, to_string(input.dims)));
    }
    check_size({input.dtype, input.dims}, what);
    if (input.role == Role::index) check_index(input, what);
    else if (input.range) throw SpecViolation(what + ": only an index has a range");
    if (input.role == Role::constant) check_constant(input, what);
    else if (input.value) throw SpecViolation(what + ": only a constant has a value");
    inputs_.emplace(input.name, &input);
    if (input.role == Role::index && input.range) ranges_.emplace(input.name, *input.range);
  }

  void declare(const Assign& step, const std::string& what) {
    ValueType type;
    try {
      type = declared_type(step, {analysis_.types, ranges_, false, false});
    } catch (const WordViolation& error) {
      throw WordViolation(fmt::format("{}: {}", what, error.what()), error.culprit());
    } catch (const SpecViolation& error) {
      throw SpecViolation(fmt::format("{}: {}", what, error.what()));
    }
    name(step.buffer, type, step.source, what);
    check_size(type, what);
    System& places = unwritten_[step.buffer];
    (void)places.add_tensor(step.buffer, type.dtype, type.dims);
    buffers_.insert(step.buffer);
  }

  void declare(const Buffer& buffer) {
    const std::string what = "buffer " + as_quoted(buffer.name) + at(buffer.source);
    name(buffer.name, {buffer.dtype, buffer.dims}, buffer.source, what);
    for (const std::int64_t extent : buffer.dims) {
      if (extent < 0) throw SpecViolation(fmt::format("{}: extents are not negative, found {}", what, to_string(buffer.dims)));
    }
    check_size({buffer.dtype, buffer.dims}, what);
    System& places = unwritten_[buffer.name];
    (void)places.add_tensor(buffer.name, buffer.dtype, buffer.dims);
    buffers_.insert(buffer.name);
  }

  static void check_size(const ValueType& type, const std::string& what) {
    if (!addressable(type))
      throw SpecViolation(fmt::format("{}: {} is more than 64 bits can address", what, to_string(type)));
  }

  static void check_index(const Input& input, const std::string& what) {
    if (kind_of(input.dtype) != Kind::integer || input.dims.rank != 0)
      throw SpecViolation(fmt::format("{}: an index is an integer scalar, found {}", what,
                                      to_string(ValueType{input.dtype, input.dims})));
    if (input.range && input.range->first > input.range->second)
      throw SpecViolation(fmt::format("{}: the range {}..{} is empty", what, input.range->first, input.range->second));
  }

  static void check_constant(const Input& input, const std::string& what) {
    if (!input.value) throw SpecViolation(what + ": a constant has a value, found none");
    const HostTensor& value = *input.value;
    if (value.dtype != input.dtype || !(value.dims == input.dims))
      throw SpecViolation(fmt::format("{}: expected a value of type {}, found {}", what,
                                      to_string(ValueType{input.dtype, input.dims}),
                                      to_string(ValueType{value.dtype, value.dims})));
    if (value.bytes.size() != static_cast<std::size_t>(value.dims.count()) * size_of(value.dtype))
      throw SpecViolation(fmt::format("{}: expected {} bytes, found {}", what,
                                      static_cast<std::size_t>(value.dims.count()) * size_of(value.dtype),
                                      value.bytes.size()));
  }

  void name(const std::string& value, const ValueType& type, const Source& source, const std::string& what) {
    if (!is_value_name(value))
      throw SpecViolation(fmt::format("{}: a name is letters, digits, _ and ., and starts with a letter, found '{}'", what, as_quoted(value)));
    if (!analysis_.types.emplace(value, type).second)
      throw WordViolation(fmt::format("{}: {} is named a second time; each value is named once", what, value), {value, true});
    sources_.emplace(value, source);
  }

  void require_known(const std::string& value, const std::string& what) const {
    if (unwritten_.count(value) != 0)
      throw WordViolation(fmt::format("{}: {} is read, but not each of its elements is written", what, value), {value});
    require_named(value, what);
  }

  void require_named(const std::string& value, const std::string& what) const {
    if (analysis_.types.count(value) != 0) return;
    std::vector<std::string> names;
    for (const auto& [known, type] : analysis_.types) names.push_back(known);
    throw WordViolation(what + ": " + unknown_name("value", value, names), {value});
  }

  void take(const Call& call) {
    const std::string what = summary(call) + at(call.source);
    for (const auto& operand : call.operands) {
      if (operand) require_known(*operand, what);
    }
    for (const std::string& attribute : runtime_attributes(call)) {
      const std::string& value = std::get<ValueName>(call.attributes.at(attribute)).name;
      require_known(value, what);
      const ValueType& type = analysis_.types.at(value);
      if (type.dims.rank != 0 || kind_of(type.dtype) == Kind::boolean)
        throw SpecViolation(fmt::format("{}: attribute {}: expected a numeric scalar, found {} {}", what, as_quoted(attribute), value,
                                        to_string(type)));
    }
    Instance instance = instance_of(call, analysis_.types, library_);
    if (instance.results.size() != call.results.size())
      throw SpecViolation(fmt::format("{}: expected {} results, found {}", what, instance.results.size(), call.results.size()));
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      name(call.results[i], instance.results[i], call.source, what);
      if (is_detached(instance.system, instance.system.outputs[i])) detached_.insert(call.results[i]);
      made_at_[call.results[i]] = analysis_.reads.size();
    }
    analysis_.instances.emplace_back(std::move(instance));
  }

  void take(const Assign& step) {
    const std::string what = on_one_line(summary(step)) + at(step.source);
    if (step.declares) declare(step, what);
    else check_assigned(step.buffer, what);
    const auto buffer = unwritten_.find(step.buffer);
    const bool written = buffer == unwritten_.end();
    const bool begun = inputs_.count(step.buffer) != 0 || assigned_at_.count(step.buffer) != 0;
    Assignment found = elaborated(step, {analysis_.types, ranges_, written, begun}, what);
    for (const std::string& value : found.reads) {
      if (value != step.buffer) require_known(value, what);
    }
    if (buffer != unwritten_.end()) note_writes(buffer, found.writes, step.reset);
    const System& system = found.instance.system;
    detached_.erase(step.buffer);
    if (is_detached(system, system.outputs[0])) detached_.insert(step.buffer);
    assigned_at_[step.buffer] = made_at_[step.buffer] = analysis_.reads.size();
    analysis_.reads.back() = std::move(found.reads);
    analysis_.instances.emplace_back(std::move(found.instance));
  }

  [[nodiscard]] static Assignment elaborated(const Assign& step, const AssignmentScope& scope, const std::string& what) {
    try {
      return elaborate_assignment(step, scope);
    } catch (const WordViolation& error) {
      throw WordViolation(fmt::format("{}: {}", what, error.what()), error.culprit());
    } catch (const SpecViolation& error) {
      throw SpecViolation(fmt::format("{}: {}", what, error.what()));
    }
  }

  void check_assigned(const std::string& value, const std::string& what) const {
    require_named(value, what);
    const auto input = inputs_.find(value);
    const bool parameter = input != inputs_.end() && input->second->role == Role::parameter;
    if (!parameter && buffers_.count(value) == 0)
      throw SpecViolation(fmt::format("{}: only a parameter or a buffer is assigned, {} is none", what, described(value)));
  }

  /// The buffer may be read once its places cover it.
  void note_writes(std::map<std::string, System>::iterator buffer, const Equation& writes, bool whole) {
    System& places = buffer->second;
    if (writes.place.size() == places[0].dims.rank) places.equations.push_back({0, writes.binders, writes.place, {}, -1});
    std::vector<const Equation*> writers;
    for (const Equation& e : places.equations) writers.push_back(&e);
    if (whole || places[0].dims.count() == 0 || (!writers.empty() && !why_not_written_once(places, 0, writers))) unwritten_.erase(buffer);
  }

  void take(const Differentiate& step) {
    const bool reverse = step.mode == Differentiate::Mode::vjp;
    const std::string what = summary(step) + at(step.source);
    if (step.of.empty() || step.wrt.empty())
      throw SpecViolation(what + ": expected at least one value to differentiate and one to differentiate by");
    for (const std::string& value : step.of) check_differentiated(value, what);
    for (const std::string& value : step.wrt) {
      check_wrt(value, what);
      check_age(step, value, what);
    }
    const std::vector<std::string>& seeded = reverse ? step.of : step.wrt;
    const std::vector<std::string>& differentiated = reverse ? step.wrt : step.of;
    check_seeds(step, seeded, what);
    if (step.results.size() != differentiated.size())
      throw SpecViolation(fmt::format("{}: expected {} results, found {}", what, differentiated.size(), step.results.size()));
    for (std::size_t i = 0; i < step.results.size(); ++i)
      name(step.results[i], analysis_.types.at(differentiated[i]), step.source, what);
    for (const std::string& result : step.results) made_at_[result] = analysis_.reads.size();
    analysis_.instances.emplace_back(std::nullopt);
  }

  void check_differentiated(const std::string& value, const std::string& what) const {
    require_known(value, what);
    if (kind_of(analysis_.types.at(value).dtype) != Kind::real)
      throw SpecViolation(fmt::format("{}: {} is {}, only real values have derivatives", what, described(value),
                                      name_of(analysis_.types.at(value).dtype)));
  }

  /// What was made of a buffer's content before it was assigned anew does not depend on the new content.
  void check_age(const Differentiate& step, const std::string& wrt, const std::string& what) const {
    const auto assigned = assigned_at_.find(wrt);
    if (assigned == assigned_at_.end()) return;
    for (const std::string& value : step.of) {
      const auto made = made_at_.find(value);
      if (made != made_at_.end() && made->second >= assigned->second) return;
    }
    throw SpecViolation(fmt::format("{}: {} is assigned after {} was computed; differentiate before the assignment", what, wrt,
                                    fmt::join(step.of, ", ")));
  }

  void check_wrt(const std::string& value, const std::string& what) const {
    require_known(value, what);
    const DType dtype = analysis_.types.at(value).dtype;
    if (kind_of(dtype) != Kind::real)
      throw SpecViolation(fmt::format("{}: {} is {}, derivatives are taken by real values", what, described(value), name_of(dtype)));
    const auto input = inputs_.find(value);
    if (input != inputs_.end() && input->second->role == Role::constant)
      throw SpecViolation(fmt::format("{}: {} is a constant, derivatives are taken by inputs, parameters and results", what,
                                      described(value)));
    if (detached_.count(value) != 0)
      throw SpecViolation(fmt::format("{}: {} is detached, it has no derivative", what, described(value)));
  }

  void check_seeds(const Differentiate& step, const std::vector<std::string>& seeded, const std::string& what) const {
    const bool reverse = step.mode == Differentiate::Mode::vjp;
    const std::string_view seed_name = reverse ? "cotangent" : "tangent";
    if (!step.seeds.empty() && step.seeds.size() != seeded.size())
      throw SpecViolation(fmt::format("{}: expected {} {}s, found {}", what, seeded.size(), seed_name, step.seeds.size()));
    for (std::size_t i = 0; i < seeded.size(); ++i) {
      const ValueType& type = analysis_.types.at(seeded[i]);
      if (step.seeds.empty() || !step.seeds[i]) {
        if (reverse && seeded.size() == 1 && type.dims.rank == 0) continue;
        throw SpecViolation(fmt::format("{}: expected a {} of {} {}, found none{}", what, seed_name, described(seeded[i]),
                                        to_string(type), reverse ? "; only a lone scalar has the default 1" : ""));
      }
      require_known(*step.seeds[i], what);
      const ValueType& found = analysis_.types.at(*step.seeds[i]);
      if (!(found == type))
        throw SpecViolation(fmt::format("{}: the {} of {} is {}, found {} {}", what, seed_name, seeded[i], to_string(type),
                                        *step.seeds[i], to_string(found)));
    }
  }

  /// The name, with the line that made the value where it is known.
  [[nodiscard]] std::string described(const std::string& value) const {
    const std::string where = position(sources_.at(value));
    return where.empty() ? value : value + " (from " + where + ")";
  }

  /// Every equation of the tensor is `detach(…)`, by form.
  [[nodiscard]] static bool is_detached(const System& system, TensorId tensor) {
    bool any = false;
    for (const Equation& e : system.equations) {
      if (e.target != tensor) continue;
      if (e.value.form() != Form::detach) return false;
      any = true;
    }
    return any;
  }

  void check_outputs() const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const std::string& output = program_.outputs[i];
      in_part(Part::output, i, {output}, [&] {
        require_known(output, "output " + as_quoted(output));
        if (!seen.insert(output).second) throw SpecViolation("output " + output + ": named a second time; outputs are distinct");
      });
    }
  }

  void check_updates() const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < program_.updates.size(); ++i) {
      const Update& update = program_.updates[i];
      in_part(Part::update, i, {update.parameter, true}, [&] { check(update, seen); });
    }
  }

  void check(const Update& update, std::set<std::string>& seen) const {
    const std::string what = fmt::format("update {} := {}", as_quoted(update.parameter), as_quoted(update.value));
    require_known(update.parameter, what);
    require_known(update.value, what);
    const auto input = inputs_.find(update.parameter);
    if (input == inputs_.end() || input->second->role != Role::parameter)
      throw SpecViolation(what + ": only a parameter is updated, " + update.parameter + " is none");
    if (assigned_at_.count(update.parameter) != 0 && update.value != update.parameter)
      throw SpecViolation(what + ": the parameter is assigned, and holds what its assignments leave");
    if (!seen.insert(update.parameter).second) throw SpecViolation(what + ": the parameter is updated a second time");
    const ValueType& expected = analysis_.types.at(update.parameter);
    const ValueType& found = analysis_.types.at(update.value);
    if (!(expected == found))
      throw SpecViolation(fmt::format("{}: expected {}, found {}", what, to_string(expected), to_string(found)));
  }

  Program program_;
  Library library_;
  Analysis analysis_;
  std::map<std::string, const Input*> inputs_;
  std::map<std::string, Source> sources_;
  std::set<std::string> detached_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges_;  ///< of indices
  std::set<std::string> buffers_;
  std::map<std::string, System> unwritten_;           ///< buffers that may not be read, with the places written so far
  std::map<std::string, std::size_t> made_at_;        ///< the step, from 1, that made a value last
  std::map<std::string, std::size_t> assigned_at_;    ///< the step, from 1, that assigned a buffer last
};

}  // namespace

std::vector<Update> all_updates(const Program& program) {
  std::vector<Update> all = program.updates;
  std::set<std::string_view> assigned;
  for (const auto& step : program.steps) {
    if (const auto* assign = std::get_if<Assign>(&step)) assigned.insert(assign->buffer);
  }
  for (const Update& update : program.updates) assigned.erase(update.parameter);
  for (const Input& input : program.inputs) {
    if (assigned.contains(input.name)) all.push_back({input.name, input.name});
  }
  return all;
}

Analysis analyse(const Program& program) {
  return has_open_extents(program) ? Verifier(with_extents(program)).run() : Verifier(program).run();
}

void verify(const Program& program) { (void)analyse(program); }

std::map<std::string, ValueType> types_of(const Program& program) { return analyse(program).types; }

}  // namespace etalon::spec
