/// \file
/// Eager work on any backend: calls are recorded as they are made, a value is computed when it is looked at, gradients
/// and steps are more of the record. It prints nothing and knows no model.
#pragma once

#include <boost/hana/transform.hpp>
#include <boost/hana/tuple.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spec/backend.hpp"
#include "training/model/given.hpp"
#include "training/session/handle.hpp"
#include "training/task.hpp"

namespace etalon::training {

/// Copies share the session. The backend is the caller's and outlives it.
class Session {
 public:
  /// \param real the element type that integer scalars get where they serve as numbers
  Session(spec::Backend& backend, State state, DType real = DType::f32);
  /// Without parameters.
  explicit Session(spec::Backend& backend) : Session(backend, State({}, {}, 0)) {}

  /// A value from outside. With `requires_gradient`, `backward` gives it one.
  template <class S>
  [[nodiscard]] Handles<S> input(const Given<S>& value, bool requires_gradient = false, const std::string& name = "") {
    return Handles<S>(Recorded(core_, core_->record, core_->record->input(name, value.value, requires_gradient)));
  }
  /// A struct of them, named by their paths.
  template <template <template <class> class> class Batch>
  [[nodiscard]] Batch<Handles> inputs(const Batch<Given>& batch);

  /// A parameter by name. \throws SpecViolation for a name that is none, or one of another type.
  template <class S>
  [[nodiscard]] Handles<S> parameter(const std::string& name) {
    return Handles<S>(checked(name, Handles<S>::type));
  }
  /// The model whose parameters the state has. Its handles stay good after steps and resets.
  template <template <template <class> class> class Model>
  [[nodiscard]] Model<Handles> model();

  /// The key of random operations: the session's seed, and how many steps there were.
  [[nodiscard]] Noise<Handles> noise();

  /// Makes gradients those of this scalar; calls before the next step or reset add up.
  template <class T>
  void backward(const Handle<T, Shape<>>& of) {
    core_->record->backward(require_own(of), std::nullopt);
  }
  /// The same of any value, given its cotangent.
  template <class T, class S>
  void backward(const Handle<T, S>& of, const HostTensor& cotangent) {
    core_->record->backward(require_own(of), cotangent);
  }

  /// Updates the trained parameters by their gradients, with this learning rate, and begins a new record. Where what was
  /// differentiated is not finite, or what `guard` names, nothing changes and the outcome says so; its outputs are `loss`,
  /// where that is scalars, and it has what was captured.
  /// \throws SpecViolation when there is no gradient or no optimizer.
  Outcome step(double rate);
  /// What must be finite in steps from now on, besides the loss: captured values by name, and updates.
  void guard(Guard guard) { guard_ = std::move(guard); }
  /// A value that `named` captured since the last step, computed at the first look, or else one that the last step captured.
  /// \throws SpecViolation for another name, with the nearest one; otherwise as Record::value.
  [[nodiscard]] HostTensor captured(const std::string& name);

  /// Begins a new record: what was recorded and not looked at is gone, and gradients are.
  void reset();
  /// Another key for random operations from now on.
  void seed(std::uint64_t seed);

  [[nodiscard]] State& state() { return state_; }

 private:
  [[nodiscard]] Recorded checked(const std::string& name, const spec::ValueType& type);
  [[nodiscard]] Traced require_own(const Recorded& value) const;

  Target target_;
  State state_;
  DType real_;
  std::shared_ptr<SessionCore> core_;
  Guard guard_;
  NamedValues captures_;  ///< of the last step
};

/// The gradients of a pack of handles, as a pack of the same handles' types.
template <class... Hs>
[[nodiscard]] auto gradients_of(const boost::hana::tuple<Hs...>& pack) {
  return boost::hana::transform(pack, [](const auto& handle) { return handle.gradient(); });
}

template <template <template <class> class> class Batch>
Batch<Handles> Session::inputs(const Batch<Given>& batch) {
  const Named values = named(batch);
  Batch<Handles> handles;
  for_each_leaf(handles, [&](const std::string& path, auto& leaf) {
    leaf = std::remove_cvref_t<decltype(leaf)>(Recorded(core_, core_->record, core_->record->input(path, values.at(path), false)));
  });
  return handles;
}

template <template <template <class> class> class Model>
Model<Handles> Session::model() {
  Model<Handles> handles;
  for_each_leaf(handles, [&](const std::string& path, auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    leaf = Leaf(checked(path, Leaf::type));
  });
  return handles;
}

}  // namespace etalon::training
