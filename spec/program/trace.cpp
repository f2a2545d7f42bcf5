#include "spec/program/trace.hpp"

#include <algorithm>
#include <array>

#include "spec/error.hpp"
#include "spec/library/operators.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/trace_state.hpp"

namespace etalon::spec {
namespace {

[[nodiscard]] HostTensor scalar(DType dtype, double value) {
  switch (dtype) {
    case DType::f32: return HostTensor::of<float>({}, {static_cast<float>(value)});
    case DType::f64: return HostTensor::of<double>({}, {value});
    default: throw SpecViolation("trace: a plain real number stands beside a tensor of type " + std::string(name_of(dtype)));
  }
}

[[nodiscard]] HostTensor scalar(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::i32: {
      const auto narrow = static_cast<std::int32_t>(value);
      if (narrow != value) throw SpecViolation("trace: " + std::to_string(value) + " does not fit i32");
      return HostTensor::of<std::int32_t>({}, {narrow});
    }
    case DType::i64: return HostTensor::of<std::int64_t>({}, {value});
    case DType::boolean: throw SpecViolation("trace: a plain number stands beside a tensor of type bool");
    default: return scalar(dtype, static_cast<double>(value));
  }
}

[[nodiscard]] const Traced* traced(const TracedOperand& operand) { return std::get_if<Traced>(&operand.value()); }

[[nodiscard]] bool is_real(const TracedOperand& operand) {
  if (const Traced* value = traced(operand)) return kind_of(value->dtype()) == Kind::real;
  if (const auto* value = std::get_if<HostTensor>(&operand.value())) return kind_of(value->dtype) == Kind::real;
  return std::holds_alternative<double>(operand.value());
}

/// The name of the operand's value; `beside` is the element type that plain numbers take.
[[nodiscard]] std::optional<std::string> operand_name(TraceState& state, const TracedOperand& operand, DType beside) {
  if (const Traced* value = traced(operand)) {
    if (value->state().get() != &state) throw SpecViolation("trace: " + value->name() + " belongs to another program");
    return value->name();
  }
  if (std::holds_alternative<std::nullopt_t>(operand.value())) return std::nullopt;
  if (const auto* value = std::get_if<HostTensor>(&operand.value())) return state.name(state.constant(*value, operand.line()));
  if (const auto* value = std::get_if<std::int64_t>(&operand.value()))
    return state.name(state.constant(scalar(beside, *value), operand.line()));
  const DType real = kind_of(beside) == Kind::real ? beside : state.real();
  return state.name(state.constant(scalar(real, std::get<double>(operand.value())), operand.line()));
}

/// The element type for plain numbers: that of the first real tensor, else of the first tensor.
[[nodiscard]] DType beside(const TraceState& state, std::span<const TracedOperand> operands) {
  std::optional<DType> first;
  for (const TracedOperand& operand : operands) {
    const Traced* value = traced(operand);
    if (value == nullptr) continue;
    if (is_real(operand)) return value->dtype();
    if (!first) first = value->dtype();
  }
  return first.value_or(state.real());
}

[[nodiscard]] std::vector<Traced> write_call(const std::shared_ptr<TraceState>& state, std::string_view operation,
                                             std::span<const TracedOperand> operands, std::span<const std::size_t> packs,
                                             const Attributes& attributes, SourceLine line) {
  Call call;
  call.operation = operation;
  const DType number_type = beside(*state, operands);
  for (const TracedOperand& operand : operands) call.operands.push_back(operand_name(*state, operand, number_type));
  call.packs.assign(packs.begin(), packs.end());
  call.attributes = attributes;
  call.source = state->source(line);
  call.results.push_back(state->numbered(call.operation));
  state->settle(&call);
  Instance instance = instance_of(call, state->types(), state->library());
  call.attributes = std::move(instance.attributes);
  std::vector<Traced> results;
  for (std::size_t i = 0; i < instance.results.size(); ++i) {
    if (i > 0) call.results.push_back(state->numbered(call.operation));
    results.emplace_back(state, state->add_value(call.results[i], instance.results[i]));
  }
  state->program().steps.emplace_back(std::move(call));
  return results;
}

[[nodiscard]] Traced as_dtype(const Traced& value, DType dtype, SourceLine line) {
  if (kind_of(value.dtype()) == Kind::real) return value;
  const TracedOperand operand(value, line);
  return write_call(value.state(), operation_of_real, {&operand, 1}, {}, {{"dtype", std::string(name_of(dtype))}}, line)[0];
}

/// The real element type of an operation on these two.
[[nodiscard]] DType real_beside(const TracedOperand& a, const TracedOperand& b, const TraceState& state) {
  for (const TracedOperand* operand : {&a, &b}) {
    const Traced* value = traced(*operand);
    if (value != nullptr && is_real(*operand)) return value->dtype();
    if (const auto* array = std::get_if<HostTensor>(&operand->value()); array != nullptr && is_real(*operand)) return array->dtype;
  }
  return state.real();
}

[[nodiscard]] Traced arithmetic(std::string_view operation, TracedOperand a, TracedOperand b) {
  const Traced& any = traced(a) != nullptr ? *traced(a) : *traced(b);
  const std::shared_ptr<TraceState> state = any.state();
  const SourceLine line = b.line();
  if (is_real(a) || is_real(b) || operation == operation_of_over) {
    const DType real = real_beside(a, b, *state);
    if (traced(a) != nullptr) a = {as_dtype(*traced(a), real, line), line};
    if (traced(b) != nullptr) b = {as_dtype(*traced(b), real, line), line};
  }
  const std::array<TracedOperand, 2> operands{std::move(a), std::move(b)};
  return write_call(state, operation, operands, {}, {}, line)[0];
}

[[nodiscard]] std::vector<std::string> names_of(std::span<const Traced> values) {
  std::vector<std::string> names;
  for (const Traced& value : values) names.push_back(value.name());
  return names;
}

/// Writes the step; its results are named after what they are derivatives of. The rules are checked at once.
[[nodiscard]] std::vector<Traced> write_derivative(const std::shared_ptr<TraceState>& state, Differentiate step,
                                                   std::span<const Traced> differentiated, const std::string& suffix) {
  std::vector<std::string> names;
  for (const Traced& value : differentiated) {
    std::string name = state->free_name(value.name() + suffix);
    for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n)
      name = state->free_name(value.name() + suffix + "." + std::to_string(n));
    names.push_back(std::move(name));
  }
  step.results = names;
  state->program().steps.emplace_back(step);
  try {
    verify(state->program());
  } catch (...) {
    state->program().steps.pop_back();
    throw;
  }
  std::vector<Traced> results;
  for (std::size_t i = 0; i < names.size(); ++i)
    results.emplace_back(state, state->add_value(names[i], differentiated[i].type()));
  return results;
}

[[nodiscard]] std::vector<std::optional<std::string>> seeds_of(std::span<const Traced> values) {
  std::vector<std::optional<std::string>> seeds;
  for (const Traced& value : values) seeds.emplace_back(value.name());
  return seeds;
}

}  // namespace

std::string Traced::name() const { return state_->name(id_); }
ValueType Traced::type() const { return state_->type(id_); }

const Traced& Traced::named(const std::string& name) const {
  state_->rename(id_, name);
  return *this;
}

Traced named(const std::string& name, const Traced& value, SourceLine line) {
  value.state()->capture(value.id(), name, line);
  return value;
}

Traced stored(const Traced& value, SourceLine line) {
  value.state()->ask(value.id(), Asked::stored, line);
  return value;
}

Traced inlined(const Traced& value, SourceLine line) {
  value.state()->ask(value.id(), Asked::inlined, line);
  return value;
}

Traced Traced::operator[](const TracedOperand& n) const {
  const std::array<TracedOperand, 2> operands{TracedOperand(*this, n.line()), 
    std::holds_alternative<std::int64_t>(n.value())
      ? TracedOperand(HostTensor::of<std::int64_t>({}, {std::get<std::int64_t>(n.value())}), n.line()) : n};
  return write_call(state_, operation_of_brackets, operands, {}, {{"axis", std::int64_t{0}}}, n.line())[0];
}

const Traced& TracedOperand::traced(std::string_view user) const {
  if (const Traced* value = std::get_if<Traced>(&value_)) return *value;
  throw SpecViolation(std::string(user) + ": expected a value of the program, found a constant; at " +
                      position({line_.file, line_.line, ""}));
}

std::vector<Traced> trace_call(std::string_view operation, std::span<const TracedOperand> operands,
                               std::span<const std::size_t> packs, const Attributes& attributes, SourceLine line) {
  for (const TracedOperand& operand : operands) {
    if (const Traced* value = traced(operand)) return write_call(value->state(), operation, operands, packs, attributes, line);
  }
  throw SpecViolation(std::string(operation) + ": no operand is a value of the program being traced");
}

std::vector<Traced> trace_call(const Library& library, std::string_view operation,
                               std::span<const TracedOperand> operands, std::span<const std::size_t> packs,
                               const Attributes& attributes, SourceLine line) {
  for (const TracedOperand& operand : operands) {
    if (const Traced* value = traced(operand)) value->state()->define(library, operation);
  }
  return trace_call(operation, operands, packs, attributes, line);
}

Traced operator+(const Traced& a, const TracedOperand& b) { return arithmetic(operation_of_plus, {a, b.line()}, b); }
Traced operator-(const Traced& a, const TracedOperand& b) { return arithmetic(operation_of_minus, {a, b.line()}, b); }
Traced operator*(const Traced& a, const TracedOperand& b) { return arithmetic(operation_of_times, {a, b.line()}, b); }
Traced operator/(const Traced& a, const TracedOperand& b) { return arithmetic(operation_of_over, {a, b.line()}, b); }
Traced operator-(const TracedOperand& a) { return trace_call(operation_of_sign, {&a, 1}, {}, {}, a.line())[0]; }

Traced detail::left_operand(const TracedOperand& a, const TracedOperand& b, char symbol) {
  const std::string_view operation = symbol == '+'   ? operation_of_plus
                                     : symbol == '-' ? operation_of_minus
                                     : symbol == '*' ? operation_of_times
                                                     : operation_of_over;
  return arithmetic(operation, a, b);
}

Traced real(const TracedOperand& value) {
  const Traced& integer = value.traced("real");
  return as_dtype(integer, integer.state()->real(), value.line());
}

std::vector<Traced> gradients(const TracedOperand& loss, std::span<const Traced> wrt) {
  const Traced& of = loss.traced("gradient");
  Differentiate step{Differentiate::Mode::vjp, {of.name()}, names_of(wrt), {}, {}, of.state()->source(loss.line())};
  return write_derivative(of.state(), std::move(step), wrt, ".grad");
}

std::vector<Traced> vjp(std::span<const Traced> of, std::span<const Traced> cotangents, std::span<const Traced> wrt,
                        SourceLine line) {
  if (of.empty()) throw SpecViolation("vjp: expected at least one value to differentiate");
  const std::shared_ptr<TraceState>& state = of[0].state();
  Differentiate step{Differentiate::Mode::vjp, names_of(of), names_of(wrt), seeds_of(cotangents), {}, state->source(line)};
  return write_derivative(state, std::move(step), wrt, ".grad");
}

std::vector<Traced> jvp(std::span<const Traced> of, std::span<const Traced> wrt, std::span<const Traced> tangents,
                        SourceLine line) {
  if (of.empty()) throw SpecViolation("jvp: expected at least one value to differentiate");
  const std::shared_ptr<TraceState>& state = of[0].state();
  Differentiate step{Differentiate::Mode::jvp, names_of(of), names_of(wrt), seeds_of(tangents), {}, state->source(line)};
  return write_derivative(state, std::move(step), of, ".tangent");
}

Section::Section(std::shared_ptr<TraceState> state, std::string label)
    : state_(std::move(state)), previous_(state_->enter_section(std::move(label))) {}
Section::~Section() { state_->leave_section(std::move(previous_)); }

Section section(const Traced& any, std::string label) { return {any.state(), std::move(label)}; }

Tracer::Tracer(DType real) : state_(std::make_shared<TraceState>(real)) {}

Traced Tracer::input(const std::string& name, DType dtype, const Dims& dims, SourceLine line) {
  return {state_, state_->add_input({name, dtype, dims, Role::input, std::nullopt, std::nullopt, state_->source(line)})};
}

Traced Tracer::parameter(const std::string& name, DType dtype, const Dims& dims, SourceLine line) {
  return {state_, state_->add_input({name, dtype, dims, Role::parameter, std::nullopt, std::nullopt, state_->source(line)})};
}

Traced Tracer::open_parameter(const std::string& name, DType dtype, std::initializer_list<Extent> extents, SourceLine line) {
  Input input{name, dtype, {}, Role::parameter, std::nullopt, std::nullopt, state_->source(line)};
  for (const Extent& extent : extents) {
    const auto* number = std::get_if<std::int64_t>(&extent);
    input.dims.push_back(number != nullptr ? *number : 0);
    input.open.push_back(number != nullptr ? "" : std::get<OpenExtent>(extent).name);
  }
  const Traced result{state_, state_->add_input(std::move(input))};
  state_->settle(nullptr);
  return result;
}

Traced Tracer::constant(const std::string& name, HostTensor value, SourceLine line) {
  Input input{name, value.dtype, value.dims, Role::constant, std::nullopt, std::nullopt, state_->source(line)};
  input.value = std::move(value);
  return {state_, state_->add_input(std::move(input))};
}

Traced Tracer::index(const std::string& name, std::int64_t low, std::int64_t high, SourceLine line) {
  return {state_, state_->add_input({name, DType::i64, {}, Role::index, std::pair(low, high), std::nullopt, state_->source(line)})};
}

Traced Tracer::index(const std::string& name, SourceLine line) {
  return {state_, state_->add_input({name, DType::i64, {}, Role::index, std::nullopt, std::nullopt, state_->source(line)})};
}

Section Tracer::section(std::string label) { return {state_, std::move(label)}; }

std::vector<Traced> Tracer::call(std::string_view operation, std::span<const TracedOperand> operands,
                                 const Attributes& attributes, std::span<const std::size_t> packs, SourceLine line) {
  return write_call(state_, operation, operands, packs, attributes, line);
}

void Tracer::output(const Traced& value) { state_->program().outputs.push_back(value.name()); }

void Tracer::output(const std::string& name, const Traced& value) {
  value.named(name);
  output(value);
}

void Tracer::assign(const Traced& parameter, const Traced& value) {
  state_->program().updates.push_back({parameter.name(), value.name()});
}

Traced Tracer::buffer(const std::string& name, DType dtype, const Dims& dims, SourceLine line) {
  return {state_, state_->add_buffer({name, dtype, dims, state_->source(line)})};
}

void Tracer::assign(std::string_view assignment, SourceLine line) {
  Assign step = parse_assignment(assignment);
  step.source = state_->source(line);
  state_->program().steps.emplace_back(std::move(step));
  try {
    verify(state_->program());
  } catch (...) {
    state_->program().steps.pop_back();
    throw;
  }
}

Program Tracer::finish() const {
  verify(state_->program());
  return with_extents(state_->program());
}

}  // namespace etalon::spec
