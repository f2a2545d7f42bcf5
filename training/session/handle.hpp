/// \file
/// A value that a session has recorded, with its type in its own: the third world of the library's operations beside
/// reference tensors and traced values. A mismatch is a compile error with the definition's own words.
#pragma once

#include <boost/hana/fold_left.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/library/call_typing.hpp"
#include "spec/library/ill_typed.hpp"
#include "spec/library/syntax.hpp"
#include "training/model/element.hpp"
#include "training/outcome.hpp"
#include "training/session/record.hpp"

namespace etalon::training {

/// What a session and its handles share.
struct SessionCore {
  std::shared_ptr<Record> record;  ///< the one that is written now
};

/// The untyped part of a handle: a parameter of the session by name, or a value of one record.
class Recorded {
 public:
  Recorded() = default;  ///< names nothing yet; only assignment is allowed on it
  Recorded(std::shared_ptr<SessionCore> core, std::string entry) : core_(std::move(core)), entry_(std::move(entry)) {}
  Recorded(std::shared_ptr<SessionCore> core, std::shared_ptr<Record> record, Traced value)
      : core_(std::move(core)), record_(std::move(record)), traced_(std::move(value)) {}

  [[nodiscard]] std::string name() const { return entry_.empty() ? traced_.name() : entry_; }
  /// The value in the record that is written now. \throws SpecViolation when its record has ended.
  [[nodiscard]] Traced traced() const;
  [[nodiscard]] const std::shared_ptr<SessionCore>& core() const { return core_; }
  /// The numbers, computed at the first look. \throws SpecViolation, Unsupported as Record::value.
  [[nodiscard]] HostTensor value() const;

 protected:
  [[nodiscard]] Recorded gradient_value() const;

 private:
  std::shared_ptr<SessionCore> core_;
  std::shared_ptr<Record> record_;  ///< nothing for an entry of the state, which outlives records
  Traced traced_;
  std::string entry_;
};

/// A tensor of T with the extents S, in a session.
template <class T, class S>
class Handle : public Recorded {
 public:
  using Element = T;
  using Extents = S;
  static constexpr Dims dims = S::dims;
  static constexpr spec::ValueType type{dtype_of_t<T>::value, dims};

  Handle() = default;
  explicit Handle(Recorded value) : Recorded(std::move(value)) {}

  /// The gradient that `backward` gave it, a value like any other. \throws SpecViolation as Record::gradient.
  [[nodiscard]] Handle gradient() const { return Handle(gradient_value()); }
  /// The number that a scalar is.
  [[nodiscard]] double item() const {
    static_assert(dims.rank == 0, "item: one number expected; value() gives them all");
    return number_in(value(), name());
  }
};

/// As of traced values: the names of captured values are those of `Session::captured`.
template <class T, class S>
Handle<T, S> named(const std::string& name, const Handle<T, S>& value, SourceLine line = SourceLine::current()) {
  (void)spec::named(name, value.traced(), line);
  return value;
}
template <class T, class S>
Handle<T, S> stored(const Handle<T, S>& value, SourceLine line = SourceLine::current()) {
  (void)spec::stored(value.traced(), line);
  return value;
}
template <class T, class S>
Handle<T, S> inlined(const Handle<T, S>& value, SourceLine line = SourceLine::current()) {
  (void)spec::inlined(value.traced(), line);
  return value;
}

/// The label of what is recorded while the result lives.
template <class T, class S>
[[nodiscard]] spec::Section section(const Handle<T, S>& any, std::string label) {
  return spec::section(any.traced(), std::move(label));
}

template <class A>
inline constexpr bool is_handle = false;
template <class T, class S>
inline constexpr bool is_handle<Handle<T, S>> = true;
template <class A>
concept AnyHandle = is_handle<A>;

/// The world of handles; reals are f32.
template <class S>
using Handles = Handle<ElementOf<S>, ShapeOf<S>>;

namespace detail {

template <Dims dims, std::size_t... I>
Shape<dims.extent[I]...> shape_from(std::index_sequence<I...>);

template <DType dtype>
struct HostElement;
template <>
struct HostElement<DType::f32> : std::type_identity<float> {};
template <>
struct HostElement<DType::f64> : std::type_identity<double> {};
template <>
struct HostElement<DType::i32> : std::type_identity<std::int32_t> {};
template <>
struct HostElement<DType::i64> : std::type_identity<std::int64_t> {};
template <>
struct HostElement<DType::boolean> : std::type_identity<bool> {};

/// The handle of a result of that type.
template <DType dtype, Dims dims>
using HandleOf = Handle<typename HostElement<dtype>::type, decltype(shape_from<dims>(std::make_index_sequence<dims.rank>{}))>;

/// Takes in the session of one argument. \throws SpecViolation when it is another than those before.
void require_same_session(std::shared_ptr<SessionCore>& all, const Recorded& value);

template <class A>
void find_session(std::shared_ptr<SessionCore>& core, const A& argument) {
  if constexpr (is_handle<A>) require_same_session(core, argument);
  else if constexpr (spec::Argument<A>::pack) boost::hana::for_each(argument, [&](const auto& member) { find_session(core, member); });
}

/// The argument as the world of traced values takes it.
template <class A>
[[nodiscard]] auto as_traced(const A& argument) {
  if constexpr (is_handle<A>) {
    return argument.traced();
  } else if constexpr (spec::Argument<A>::pack) {
    std::vector<Traced> members;
    boost::hana::for_each(argument, [&](const auto& member) { members.push_back(member.traced()); });
    return members;
  } else {
    return argument;
  }
}

[[nodiscard]] inline std::vector<Traced> listed(const Traced& one) { return {one}; }
template <class Several>
[[nodiscard]] std::vector<Traced> listed(const Several& several) {
  return {several.begin(), several.end()};
}

}  // namespace detail

/// One result comes as a handle, several (and a pack of results) as a hana::tuple.
template <class Op, spec::FixedText text, class... Args>
  requires((spec::CallArgument<Args> && ...) && (spec::Argument<Args>::tensors || ...))
[[nodiscard]] auto apply_operation(const spec::OperationCall<Op, text>& call, const Args&... args) {
  static constexpr spec::CallTyping typing = spec::type_of_call<Op, text, Args...>();
  if constexpr (!typing.diagnosis.ok()) {
    static_assert(!spec::report<typing.diagnosis>::failed);
    return Handle<float, Shape<>>();
  } else {
    std::shared_ptr<SessionCore> core;
    (detail::find_session(core, args), ...);
    const std::vector<Traced> results = detail::listed(spec::apply_operation(call, detail::as_traced(args)...));
    const auto handle = [&](auto n) {
      constexpr spec::ValueType type = typing.results[decltype(n)::value];
      using Result = detail::HandleOf<type.dtype, type.dims>;
      return Result(Recorded(core, core->record, results[decltype(n)::value]));
    };
    if constexpr (typing.result_count == 1 && !spec::definition_of<Op>.results[0].pack) {
      return handle(std::integral_constant<std::size_t, 0>{});
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return boost::hana::make_tuple(handle(std::integral_constant<std::size_t, I>{})...);
      }(std::make_index_sequence<typing.result_count>{});
    }
  }
}

template <class A, class B>
concept HandleOperands = (AnyHandle<A> && (AnyHandle<B> || spec::PlainNumber<B>)) || (spec::PlainNumber<A> && AnyHandle<B>);

template <class A, class B>
  requires HandleOperands<A, B>
[[nodiscard]] auto operator+(const A& a, const B& b) {
  return spec::syntax::plus(a, b);
}
template <class A, class B>
  requires HandleOperands<A, B>
[[nodiscard]] auto operator-(const A& a, const B& b) {
  return spec::syntax::minus(a, b);
}
template <class A, class B>
  requires HandleOperands<A, B>
[[nodiscard]] auto operator*(const A& a, const B& b) {
  return spec::syntax::times(a, b);
}
template <class A, class B>
  requires HandleOperands<A, B>
[[nodiscard]] auto operator/(const A& a, const B& b) {
  return spec::syntax::over(a, b);
}
template <AnyHandle A>
[[nodiscard]] auto operator-(const A& a) {
  return spec::syntax::negative(a);
}

}  // namespace etalon::training

namespace etalon::spec {

template <class T, class S>
struct Argument<training::Handle<T, S>> {
  static constexpr bool tensors = true;
  static constexpr std::size_t slots = 1;
  static constexpr bool pack = false;
  using Real = std::conditional_t<kind_of(dtype_of_t<T>::value) == Kind::real, T, void>;
  static constexpr void add_types(TypeWriter& to) { to.add(training::Handle<T, S>::type); }
};

}  // namespace etalon::spec
