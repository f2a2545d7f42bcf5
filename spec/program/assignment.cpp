#include "spec/program/assignment.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/error.hpp"
#include "spec/notation/parse.hpp"
#include "spec/notation/resolve.hpp"
#include "spec/program/fault.hpp"
#include "spec/program/name.hpp"
#include "spec/quoted.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/written_once.hpp"

namespace etalon::spec {
namespace {

/// An assignment as a definition: the values that it names are the operands, the buffer's next content the result.
class Elaboration {
 public:
  Elaboration(const Assign& step, const AssignmentScope& scope) : step_(step), scope_(scope) {}

  Assignment run() {
    check_text();
    find_reads();
    next_ = free_name(step_.buffer + "_next");
    return {instance(signature() + "\n" + clause(), 1), reads_, {}};
  }

  /// The buffer is a local, of which a result makes use.
  ValueType declared_type() {
    check_text();
    if (step_.accumulation != Accumulation::set) throw SpecViolation("a buffer begins with =, found " + sign_of(step_));
    find_reads();
    reads_.erase(reads_.begin());
    next_ = step_.buffer;
    const std::string row = free_name("row"), use = free_name("use");
    const std::string all = step_.buffer + (step_.places.empty() ? "" : "[.." + row + "]");
    const std::string used = fmt::format("(if {} == {} then 1 else 0)", all, all);
    const Instance found = instance(fmt::format("assignment({}) -> {} : int\n{}\n{} = {}", fmt::join(operands(), ", "), use, clause(), use,
                                                step_.places.empty() ? used : "sum[.." + row + "] " + used), 2);
    const TensorId id = found.system.find(step_.buffer);
    if (id < 0) throw SpecViolation("the equation gives " + step_.buffer + " nothing");
    const TensorInfo& local = found.system[id];
    return {local.dtype, local.dims};
  }

 private:
  [[nodiscard]] Instance instance(const std::string& text, std::size_t clauses) const {
    const Definition definition = parse(text);
    if (!definition.ok()) refuse(std::string(definition.diagnosis.message()));
    if (definition.clause_count != clauses || definition.part_count != 0 || definition.clauses[0].form != ClauseText::Form::equation)
      throw SpecViolation("expected one expression on the right side");
    if (const Diagnosis wrong = undefined_name(definition); !wrong.ok())
      refuse(std::string(wrong.message()));
    std::vector<std::optional<ValueType>> types;
    for (const std::string& name : reads_) types.emplace_back(scope_.types.at(name));
    try {
      return elaborate(definition, types);
    } catch (const SpecViolation& error) {
      refuse(error.what());
    }
  }

  void check_text() const {
    if (!is_value_name(step_.buffer)) throw SpecViolation("a name is letters, digits, _ and ., found '" + as_quoted(step_.buffer) + "'");
    if (step_.buffer.find('.') != std::string::npos)
      throw SpecViolation(step_.buffer + " is a name with a point, which the notation does not have");
    for (const std::string* text : {&step_.places, &step_.value}) {
      if (text->find_first_of("\n@#\"") != std::string::npos)
        throw SpecViolation("an assignment is one line without @, # and quotes");
    }
  }

  /// The buffer first, which gives the result its element type.
  void find_reads() {
    reads_ = {step_.buffer};
    const auto take = [&](std::string& name) {
      if (scope_.types.count(name) != 0 && std::find(reads_.begin(), reads_.end(), name) == reads_.end()) reads_.push_back(name);
      reads_old_ = reads_old_ || name == step_.buffer;
    };
    (void)with_values(step_.places, take);
    (void)with_values(step_.value, take);
    if (!scope_.written && (reads_old_ || (step_.accumulation != Accumulation::set && !step_.reset)))
      throw SpecViolation(fmt::format("{} is read, but not each of its elements is written; set it, or reset it by :{}", step_.buffer,
                                      step_.accumulation == Accumulation::set ? "+=" : sign_of(step_)));
  }

  [[nodiscard]] std::string free_name(std::string name) const {
    while (scope_.types.count(name) != 0 || name == step_.buffer) name += '_';
    return name;
  }

  [[nodiscard]] std::string declared(const std::string& name, const ValueType& type) const {
    constexpr std::string_view kinds[] = {"", " : int", " : bool"};
    const Kind kind = kind_of(type.dtype);
    return name + (type.dims.rank > 0 ? to_string(type.dims) : "") +
           std::string(kinds[kind == Kind::real ? 0 : kind == Kind::integer ? 1 : 2]);
  }

  [[nodiscard]] std::vector<std::string> operands() const {
    std::vector<std::string> all;
    for (const std::string& name : reads_) all.push_back(declared(name, scope_.types.at(name)));
    return all;
  }

  [[nodiscard]] std::string signature() const {
    return fmt::format("assignment({}) -> {}", fmt::join(operands(), ", "), declared(next_, scope_.types.at(step_.buffer)));
  }

  /// Laid out so that columns are those of the assignment, moved by the longer name.
  [[nodiscard]] std::string clause() const {
    const bool scalar = step_.places.empty();
    return next_ + (scalar ? "  " : "[" + step_.places + "]") + std::string(sign_of(step_).size(), ' ') + "= " + step_.value;
  }

  /// Throws the message with the column in the assignment instead of the place in the definition made of it.
  [[noreturn]] void refuse(std::string message) const {
    constexpr std::string_view own = "assignment: ", mark = " (at ";
    if (message.starts_with(own)) message.erase(0, own.size());
    const std::size_t at = message.rfind(mark);
    if (at == std::string::npos) throw SpecViolation(message);
    std::size_t line = 0, column = 0;
    const char* const end = message.data() + message.size();
    const auto first = std::from_chars(message.data() + at + mark.size(), end, line);
    if (first.ptr != end) std::from_chars(first.ptr + 1, end, column);
    message.erase(at);
    const std::size_t moved = next_.size() - step_.buffer.size();
    if (line == 2 && step_.declares) column += std::string_view("buffer ").size();
    if (line != 2) throw SpecViolation(message);
    column = column > next_.size() ? column - moved : std::size_t{1};
    throw WordViolation(fmt::format("{} (column {})", message, column), {{}, false, column});
  }

  const Assign& step_;
  const AssignmentScope& scope_;
  std::vector<std::string> reads_;
  std::string next_;
  bool reads_old_ = false;
};

[[nodiscard]] Expr zero(Kind kind) {
  return kind == Kind::real ? decimal(0) : kind == Kind::integer ? integer(0) : boolean(false);
}

/// What the whole buffer holds after the equation of an assignment.
class Merge {
 public:
  Merge(System& system, const Assign& step, bool begun) : s_(system), step_(step), begun_(begun) {}

  /// \returns the equation with its places
  Equation run() {
    const TensorId out = s_.outputs[0];
    check_kind(s_[out].dtype);
    std::optional<Equation> writer;
    for (Equation& e : s_.equations) {
      const bool empty = std::any_of(e.binders.begin(), e.binders.end(), [](const Binder& b) { return b.extent == 0; });
      if (e.target == out && !empty) writer = std::move(e);
    }
    s_.equations.clear();
    if (!writer) {
      std::vector<Binder> all = s_.bind_all(out);
      Expr same = old(variables(all));
      s_.define(out, std::move(all), std::move(same), 0);
      return {out, {}, {}, {}, -1};
    }
    check_places(*writer);
    Equation result = is_whole(*writer) ? whole(*writer) : partial(*writer);
    result.origin = writer->origin;
    s_.equations.push_back(std::move(result));
    return std::move(*writer);
  }

 private:
  void check_kind(DType type) const {
    const Kind kind = kind_of(type);
    const Accumulation a = step_.accumulation;
    const bool logical = a == Accumulation::conjunction || a == Accumulation::disjunction;
    if (a == Accumulation::set || (logical && kind == Kind::boolean) || (!logical && kind == Kind::real)) return;
    if (!logical && kind == Kind::integer && a != Accumulation::divide) return;
    throw SpecViolation(fmt::format("{} does not accumulate elements of type {}", sign_of(step_), name_of(type)));
  }

  void check_places(const Equation& e) const {
    Ranges known;
    known.bind(e.binders);
    const Dims& dims = s_[e.target].dims;
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      const Interval found = interval(e.place[axis], known);
      if (found.low < 0 || found.high >= dims[axis])
        throw SpecViolation(fmt::format("{}: axis {} has places {} to {}, its extent is {}", step_.buffer, axis, found.low,
                                        found.high, dims[axis]));
    }
    if (step_.accumulation != Accumulation::set) return;
    if (why_written_twice(s_, e))
      throw SpecViolation("it is not proved that each element of " + step_.buffer +
                          " is written at most once; accumulate them, as += does, or reduce on the right side");
  }

  /// One binder per axis, over the whole of it.
  [[nodiscard]] bool is_whole(const Equation& e) const {
    if (e.binders.size() != e.place.size()) return false;
    return std::all_of(e.binders.begin(), e.binders.end(), [&](const Binder& b) {
      for (std::size_t axis = 0; axis < e.place.size(); ++axis) {
        if (e.place[axis].form() == Form::variable && e.place[axis]->variable == b.variable)
          return b.extent == s_[e.target].dims[axis];
      }
      return false;
    });
  }

  [[nodiscard]] Equation whole(const Equation& e) {
    Equation result = e;
    if (step_.accumulation == Accumulation::set) return result;
    result.value = step_.reset ? after_reset(e.value) : joined(old(e.place), e.value);
    return result;
  }

  /// At each element, what the places that are this element give.
  [[nodiscard]] Equation partial(const Equation& e) {
    const Dims& dims = s_[e.target].dims;
    Equation result;
    result.target = e.target;
    result.binders = s_.bind_all(e.target);
    result.place = variables(result.binders);
    Substitution by;
    Expr hit = boolean(true);
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      const Expr& place = e.place[axis];
      const Expr& here = result.place[axis];
      if (place.form() == Form::variable && by.count(place->variable) == 0) by.emplace(place->variable, here);
    }
    std::vector<Binder> inner;
    for (const Binder& b : e.binders) {
      const auto found = by.find(b.variable);
      if (found == by.end()) inner.push_back(b);
      else hit = conjunction(hit, apply(Primitive::lt, {found->second, integer(b.extent)}));
    }
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      const Expr place = substitute(e.place[axis], by);
      if (!(place == result.place[axis])) hit = conjunction(hit, apply(Primitive::eq, {place, result.place[axis]}));
    }
    result.value = found_or_old(inner, hit, substitute(e.value, by), old(result.place));
    return result;
  }

  [[nodiscard]] static Expr conjunction(const Expr& a, const Expr& b) { return a == boolean(true) ? b : a && b; }

  [[nodiscard]] Expr found_or_old(const std::vector<Binder>& inner, const Expr& hit, const Expr& value, const Expr& before) {
    if (inner.empty()) return select(hit, step_.reset ? after_reset(value) : joined(before, value), before);
    if (step_.accumulation == Accumulation::set && value.kind() != Kind::boolean)
      return reduce(Reduction::max, inner, hit, value, before);  // of one element
    const Expr any = refresh(s_, reduce(Reduction::any, inner, hit, boolean(true)));
    const Expr all = reduce(reduction(), inner, hit, value, otherwise(value.kind()));
    return select(any, step_.reset ? after_reset(all) : joined(before, all), before);
  }

  [[nodiscard]] Reduction reduction() const {
    switch (step_.accumulation) {
      case Accumulation::add:
      case Accumulation::subtract: return Reduction::sum;
      case Accumulation::multiply:
      case Accumulation::divide: return Reduction::prod;
      case Accumulation::maximum: return Reduction::max;
      case Accumulation::minimum: return Reduction::min;
      case Accumulation::conjunction: return Reduction::all;
      case Accumulation::set:
      case Accumulation::disjunction: return Reduction::any;
    }
    throw InternalError("assignment: no such accumulation");
  }

  /// Only max and min over nothing need a value; it does not show.
  [[nodiscard]] Expr otherwise(Kind kind) const {
    const bool extremum = step_.accumulation == Accumulation::maximum || step_.accumulation == Accumulation::minimum;
    return extremum ? zero(kind) : Expr{};
  }

  [[nodiscard]] Expr joined(const Expr& a, const Expr& b) const {
    if (step_.accumulation == Accumulation::set) return b;
    constexpr Primitive primitives[] = {Primitive::add, Primitive::add, Primitive::sub, Primitive::mul, Primitive::div,
                                        Primitive::maximum, Primitive::minimum, Primitive::logical_and, Primitive::logical_or};
    return apply(primitives[static_cast<std::size_t>(step_.accumulation)], {a, b});
  }

  /// The value joined to the neutral element, which changes it for differences and quotients only.
  [[nodiscard]] Expr after_reset(const Expr& value) const {
    const bool inverse = step_.accumulation == Accumulation::subtract || step_.accumulation == Accumulation::divide;
    return inverse ? joined(neutral(value.kind()), value) : value;
  }

  [[nodiscard]] Expr neutral(Kind kind) const {
    const bool low = step_.accumulation == Accumulation::maximum;
    switch (step_.accumulation) {
      case Accumulation::multiply:
      case Accumulation::divide: return kind == Kind::real ? decimal(1) : integer(1);
      case Accumulation::maximum:
      case Accumulation::minimum: {
        if (kind == Kind::real) return binary64(low ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
        if (s_[s_.outputs[0]].dtype == DType::i32)
          return integer(low ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max());
        return integer(low ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max());
      }
      case Accumulation::conjunction: return boolean(true);
      default: return zero(kind);
    }
  }

  /// What the element holds before.
  [[nodiscard]] Expr old(std::vector<Expr> place) const {
    const Kind kind = kind_of(s_[s_.outputs[0]].dtype);
    if (step_.reset) return neutral(kind);
    return begun_ ? s_.at(s_.inputs[0], std::move(place)) : zero(kind);
  }

  System& s_;
  const Assign& step_;
  bool begun_;
};

}  // namespace

ValueType declared_type(const Assign& step, const AssignmentScope& scope) { return Elaboration(step, scope).declared_type(); }

Assignment elaborate_assignment(const Assign& step, const AssignmentScope& scope) {
  Assignment result = Elaboration(step, scope).run();
  System& system = result.instance.system;
  const ValueType& type = scope.types.at(step.buffer);
  system.tensors[static_cast<std::size_t>(system.outputs[0])].dtype = type.dtype;  // i32 where the notation has i64
  result.instance.results = {type};
  for (std::size_t i = 0; i < result.reads.size(); ++i) {
    const auto range = scope.ranges.find(result.reads[i]);
    if (range != scope.ranges.end()) system.tensors[static_cast<std::size_t>(system.inputs[i])].range = range->second;
  }
  result.writes = Merge(system, step, scope.begun).run();
  verify(system);
  return result;
}

}  // namespace etalon::spec
