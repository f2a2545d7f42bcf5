/// \file
/// Writes down a program while ordinary C++ runs: every operation applied to a `Traced` value becomes a step with the
/// user's source line. It knows the library's operations by name only, and computes no numbers.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/library/defined.hpp"
#include "spec/library/operation.hpp"
#include "spec/plain_number.hpp"
#include "spec/program/program.hpp"
#include "spec/shape.hpp"
#include "spec/source_line.hpp"

namespace etalon {
using f32 = float;
using f64 = double;
}  // namespace etalon

namespace etalon::spec {

class TraceState;
class TracedOperand;

/// A value of the program that is being written down. Copies name the same value.
class Traced {
 public:
  Traced() = default;  ///< names nothing yet; only assignment is allowed on it
  Traced(std::shared_ptr<TraceState> state, std::size_t id) : state_(std::move(state)), id_(id) {}

  [[nodiscard]] std::string name() const;
  [[nodiscard]] ValueType type() const;
  [[nodiscard]] DType dtype() const { return type().dtype; }
  [[nodiscard]] Dims dims() const { return type().dims; }

  /// Gives the value a name of the user's. \throws SpecViolation when the name is taken or is none.
  const Traced& named(const std::string& name) const;

  /// The n-th slice along the first axis: `data[n]` is `data[n, …]`, n an integer scalar of the program.
  [[nodiscard]] Traced operator[](const TracedOperand& n) const;

  /// As the value of a real attribute, known at run time only: `sgd.set("lr", rate)`.
  operator ValueName() const { return {name()}; }  // NOLINT: so that it fits an AttributeValue

  [[nodiscard]] const std::shared_ptr<TraceState>& state() const { return state_; }
  [[nodiscard]] std::size_t id() const { return id_; }

 private:
  std::shared_ptr<TraceState> state_;
  std::size_t id_ = 0;
};

/// Names the value, and keeps it readable after a run. Where another value has the name it becomes `name.2`, `name.3`, …
/// \throws SpecViolation for an input or parameter, which keeps its name, and for what is no name.
Traced named(const std::string& name, const Traced& value, SourceLine line = SourceLine::current());
/// Asks that the value be in memory, whatever a planner would do.
Traced stored(const Traced& value, SourceLine line = SourceLine::current());
/// Asks that the value be computed where it is read.
Traced inlined(const Traced& value, SourceLine line = SourceLine::current());

/// What may stand for an operand: a value of the program, a plain number (it takes the element type of the tensors
/// beside it), a host array (a constant without derivative), or nothing; with the source line it was written on.
class TracedOperand {
 public:
  TracedOperand(const Traced& value, SourceLine line = SourceLine::current()) : value_(value), line_(line) {}
  TracedOperand(HostTensor value, SourceLine line = SourceLine::current()) : value_(std::move(value)), line_(line) {}
  TracedOperand(std::nullopt_t, SourceLine line = SourceLine::current()) : value_(std::nullopt), line_(line) {}
  template <PlainNumber T>
  TracedOperand(T value, SourceLine line = SourceLine::current()) : value_(number(value)), line_(line) {}

  using Value = std::variant<Traced, std::int64_t, double, HostTensor, std::nullopt_t>;
  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] SourceLine line() const { return line_; }
  /// The value of the program. \throws SpecViolation for a constant, naming `user` and the source line.
  [[nodiscard]] const Traced& traced(std::string_view user) const;

 private:
  template <PlainNumber T>
  [[nodiscard]] static Value number(T value) {
    if constexpr (std::integral<T>) return static_cast<std::int64_t>(value);
    else return static_cast<double>(value);
  }

  Value value_;
  SourceLine line_;
};

/// Writes the call `operation(operands) {attributes}`; `packs` as in Call. At least one operand is a traced value.
/// \throws SpecViolation naming rule and source line when the call is ill-typed.
[[nodiscard]] std::vector<Traced> trace_call(std::string_view operation, std::span<const TracedOperand> operands,
                                             std::span<const std::size_t> packs, const Attributes& attributes,
                                             SourceLine line);

/// Writes a call of an operation that `library` has and the program need not; the program keeps its definition.
[[nodiscard]] std::vector<Traced> trace_call(const Library& library, std::string_view operation,
                                             std::span<const TracedOperand> operands, std::span<const std::size_t> packs,
                                             const Attributes& attributes, SourceLine line);

/// The attributes that the text and the map set together; the map wins.
[[nodiscard]] Attributes merged_attributes(const Definition& definition, std::string_view text, const Attributes& set);

namespace detail {

template <class T>
inline constexpr bool is_traced = std::same_as<T, Traced> || std::same_as<T, std::vector<Traced>>;
template <class T>
inline constexpr bool is_traceable = is_traced<T> || PlainNumber<T> || std::same_as<T, HostTensor> ||
                                     std::same_as<T, Absent> || std::same_as<T, std::nullopt_t>;

struct OperandList {
  std::vector<TracedOperand> operands;
  std::vector<std::size_t> packs;

  template <class T>
  void add(const T& operand, SourceLine line) {
    if constexpr (std::same_as<T, std::vector<Traced>>) {
      for (const Traced& member : operand) operands.emplace_back(member, line);
      packs.push_back(operand.size());
    } else if constexpr (std::same_as<T, Absent>) {
      operands.emplace_back(std::nullopt, line);
    } else {
      operands.emplace_back(operand, line);
    }
  }
};

/// One result as a value, several as an array, a pack of them as a vector.
template <std::size_t count, bool is_pack>
[[nodiscard]] auto unpack(const std::vector<Traced>& results) {
  if constexpr (is_pack) return results;
  else if constexpr (count == 1) return results[0];
  else
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<Traced, count>{results[I]...};
    }(std::make_index_sequence<count>{});
}

}  // namespace detail

/// The world of traced values for the library's callable objects: `relu(x)` becomes a step. A vector stands for the
/// members of a pack.
template <class Op, FixedText text, class... Args>
  requires(detail::is_traceable<Args> && ...) && (detail::is_traced<Args> || ...)
[[nodiscard]] auto apply_operation(const OperationCall<Op, text>& call, const Args&... args) {
  constexpr const Definition& definition = definition_of<Op>;
  detail::OperandList list;
  (list.add(args, call.where), ...);
  const Attributes attributes = merged_attributes(definition, text.view(), call.attributes);
  const auto results = [&] {
    if constexpr (requires { Op::generated; }) {
      static_assert(definition.ok(), "the specification is not one: etalon explain --einsum says why");
      return trace_call(Library().with(Op::text), definition.name, list.operands, list.packs, attributes, call.where);
    } else {
      return trace_call(definition.name, list.operands, list.packs, attributes, call.where);
    }
  }();
  return detail::unpack<definition.result_count, definition.results[0].pack>(results);
}

/// The same for an operation that was defined at run time.
template <std::size_t count, class... Args>
  requires(detail::is_traceable<Args> && ...) && (detail::is_traced<Args> || ...)
[[nodiscard]] auto apply_defined(const DefinedOperation<count>& operation, SourceLine where, const Args&... args) {
  detail::OperandList list;
  (list.add(args, where), ...);
  return detail::unpack<(count > 0 ? count : 1), count == any_number>(
      trace_call(operation.library(), operation.name(), list.operands, list.packs, operation.attributes(), where));
}

[[nodiscard]] Traced operator+(const Traced& a, const TracedOperand& b);
[[nodiscard]] Traced operator-(const Traced& a, const TracedOperand& b);
[[nodiscard]] Traced operator*(const Traced& a, const TracedOperand& b);
[[nodiscard]] Traced operator/(const Traced& a, const TracedOperand& b);
[[nodiscard]] Traced operator-(const TracedOperand& a);

namespace detail {
[[nodiscard]] Traced left_operand(const TracedOperand& a, const TracedOperand& b, char symbol);
}
template <class T>
concept ConstantOperand = PlainNumber<T> || std::same_as<T, HostTensor>;

template <ConstantOperand T>
[[nodiscard]] Traced operator+(const T& a, const TracedOperand& b) {
  return detail::left_operand({a, b.line()}, b, '+');
}
template <ConstantOperand T>
[[nodiscard]] Traced operator-(const T& a, const TracedOperand& b) {
  return detail::left_operand({a, b.line()}, b, '-');
}
template <ConstantOperand T>
[[nodiscard]] Traced operator*(const T& a, const TracedOperand& b) {
  return detail::left_operand({a, b.line()}, b, '*');
}
template <ConstantOperand T>
[[nodiscard]] Traced operator/(const T& a, const TracedOperand& b) {
  return detail::left_operand({a, b.line()}, b, '/');
}

/// The value as a real of the tracer's element type (unchanged when it is real already).
[[nodiscard]] Traced real(const TracedOperand& value);

// --- derivatives as steps of the program ---

/// The gradients of a scalar by each of `wrt`: inputs, parameters or intermediate values.
[[nodiscard]] std::vector<Traced> gradients(const TracedOperand& loss, std::span<const Traced> wrt);
/// Cotangents of `wrt`, given one cotangent per value of `of`.
[[nodiscard]] std::vector<Traced> vjp(std::span<const Traced> of, std::span<const Traced> cotangents,
                                      std::span<const Traced> wrt, SourceLine line = SourceLine::current());
/// Tangents of `of`, given one tangent per value of `wrt`.
[[nodiscard]] std::vector<Traced> jvp(std::span<const Traced> of, std::span<const Traced> wrt,
                                      std::span<const Traced> tangents, SourceLine line = SourceLine::current());

[[nodiscard]] inline Traced gradient(const TracedOperand& loss, const Traced& wrt) {
  return gradients(loss, std::span(&wrt, 1))[0];
}

/// `auto [gw, gb] = gradient(loss, w, b)`.
template <std::same_as<Traced>... More>
[[nodiscard]] std::array<Traced, 2 + sizeof...(More)> gradient(const TracedOperand& loss, const Traced& first,
                                                               const Traced& second, const More&... more) {
  const std::array<Traced, 2 + sizeof...(More)> wrt{first, second, more...};
  const std::vector<Traced> found = gradients(loss, wrt);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Traced, 2 + sizeof...(More)>{found[I]...};
  }(std::make_index_sequence<2 + sizeof...(More)>{});
}

/// The cotangent of `wrt` given the cotangent of `of`.
[[nodiscard]] inline Traced vjp(const TracedOperand& of, const Traced& cotangent, const Traced& wrt) {
  return vjp(std::span(&of.traced("vjp"), 1), std::span(&cotangent, 1), std::span(&wrt, 1), of.line())[0];
}

/// The tangent of `of` given the tangent of `wrt`.
[[nodiscard]] inline Traced jvp(const TracedOperand& of, const Traced& wrt, const Traced& tangent) {
  return jvp(std::span(&of.traced("jvp"), 1), std::span(&wrt, 1), std::span(&tangent, 1), of.line())[0];
}

/// While it lives, steps carry its label; inside another section both, `outer/inner`.
class Section {
 public:
  Section(std::shared_ptr<TraceState> state, std::string label);
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  ~Section();

 private:
  std::shared_ptr<TraceState> state_;
  std::string previous_;
};

/// An extent that the program's calls determine; the same name is the same extent.
struct OpenExtent {
  std::string name;
};
using Extent = std::variant<std::int64_t, OpenExtent>;

/// Collects a program: named inputs, then the steps that their use makes, then outputs and updates.
class Tracer {
 public:
  /// \param real the element type that integer scalars get where they serve as numbers
  explicit Tracer(DType real = DType::f32);

  [[nodiscard]] Traced input(const std::string& name, DType dtype, const Dims& dims, SourceLine line = SourceLine::current());
  [[nodiscard]] Traced parameter(const std::string& name, DType dtype, const Dims& dims,
                                 SourceLine line = SourceLine::current());
  /// A parameter with some extents left open: `open_parameter("w", DType::f32, {16, OpenExtent{"n"}})`. Until a call determines them, numbers
  /// stand in for them in the types of values; the finished program has them all.
  [[nodiscard]] Traced open_parameter(const std::string& name, DType dtype, std::initializer_list<Extent> extents,
                                      SourceLine line = SourceLine::current());
  [[nodiscard]] Traced constant(const std::string& name, HostTensor value, SourceLine line = SourceLine::current());
  /// An i64 scalar, bound by name at each run to a value in low..high.
  [[nodiscard]] Traced index(const std::string& name, std::int64_t low, std::int64_t high,
                             SourceLine line = SourceLine::current());
  /// An i64 scalar without a declared range.
  [[nodiscard]] Traced index(const std::string& name, SourceLine line = SourceLine::current());

  /// The label of the steps written while the result lives.
  [[nodiscard]] Section section(std::string label);

  /// A call by name, for operations that have no operand to find the tracer by.
  [[nodiscard]] std::vector<Traced> call(std::string_view operation, std::span<const TracedOperand> operands,
                                         const Attributes& attributes, std::span<const std::size_t> packs = {},
                                         SourceLine line = SourceLine::current());

  void output(const Traced& value);
  /// Also names the value. \throws SpecViolation when the name is taken.
  void output(const std::string& name, const Traced& value);
  /// After a run `parameter` holds `value`.
  void assign(const Traced& parameter, const Traced& value);

  /// A value that assignments write during a run.
  [[nodiscard]] Traced buffer(const std::string& name, DType dtype, const Dims& dims, SourceLine line = SourceLine::current());
  /// A step such as `g[i, j] += sum[n] d[n, i]*x[n, j]`; it names buffers, parameters and values. From here on the
  /// buffer's name stands for what it then holds. \throws SpecViolation at once when it is ill-typed.
  void assign(std::string_view assignment, SourceLine line = SourceLine::current());

  /// The verified program. \throws SpecViolation
  [[nodiscard]] Program finish() const;

 private:
  std::shared_ptr<TraceState> state_;
};

/// The label of the steps written while the result lives, found through any value of the program.
[[nodiscard]] Section section(const Traced& any, std::string label);

/// An operand of another element type than the first argument of `trace`: `trace<f32, Shape<8, 3>, Typed<std::int64_t, Shape<8>>>(f)`.
template <class T, class S>
struct Typed {};

namespace detail {

template <class Default, class S>
struct traced_type {
  static constexpr ValueType value{dtype_of_t<Default>::value, S::dims};
};
template <class Default, class T, class S>
struct traced_type<Default, Typed<T, S>> {
  static constexpr ValueType value{dtype_of_t<T>::value, S::dims};
};

inline void add_outputs(Tracer& tracer, const Traced& result) { tracer.output(result); }
inline void add_outputs(Tracer& tracer, const std::vector<Traced>& results) {
  for (const Traced& result : results) tracer.output(result);
}
template <class Tuple>
void add_outputs(Tracer& tracer, const Tuple& results) {
  std::apply([&](const auto&... result) { (tracer.output(result), ...); }, results);
}

}  // namespace detail

/// The program that `f` is: one input per shape, named `x1`, `x2`, … or as given, and what `f` returns (a value, a
/// tuple, an array or a vector of values) as outputs.
template <class T, class... Shapes, class F>
[[nodiscard]] Program trace(F&& f, const std::array<std::string, sizeof...(Shapes)>& names, SourceLine line = SourceLine::current()) {
  Tracer tracer(dtype_of_t<T>::value);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr std::array<ValueType, sizeof...(Shapes)> types{detail::traced_type<T, Shapes>::value...};
    // Braces fix the order in which the inputs are declared.
    std::tuple inputs{tracer.input(names[I], types[I].dtype, types[I].dims, line)...};
    detail::add_outputs(tracer, std::apply(f, inputs));
  }(std::index_sequence_for<Shapes...>{});
  return tracer.finish();
}
template <class T, class... Shapes, class F>
[[nodiscard]] Program trace(F&& f, SourceLine line = SourceLine::current()) {
  std::array<std::string, sizeof...(Shapes)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "x" + std::to_string(i + 1);
  return trace<T, Shapes...>(std::forward<F>(f), names, line);
}

}  // namespace etalon::spec

namespace etalon {
using spec::gradient;
using spec::OpenExtent;
using spec::section;
using spec::trace;
using spec::Traced;
using spec::Tracer;
using spec::Typed;
}  // namespace etalon
