/// \file
/// What a model declares of one parameter: its type, how it starts, whether weight decay applies, whether it is trained.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spec/attribute.hpp"
#include "spec/dims.hpp"
#include "spec/dtype.hpp"
#include "training/model/element.hpp"

namespace etalon::training {

/// How a parameter's first value is made: an operation of the library with a `shape` attribute, and its other
/// attributes. One with operands takes a seed and a step.
struct Initialiser {
  std::string operation = "zeros";
  spec::Attributes attributes = {};
};

struct Parameter {
  Dims dims;
  DType dtype = DType::f32;
  std::optional<Initialiser> initialiser{};  ///< without one a value is uploaded before the first use
  bool decays = false;                       ///< weights do; biases and norms do not
  bool frozen = false;                       ///< read, and never updated
  std::optional<std::uint64_t> seed{};       ///< instead of the model's
  std::shared_ptr<const char> tie{};         ///< the same for all that are one parameter; see `tie`
};

/// The world of declarations: `Mlp<Declared>` says what the parameters of an Mlp are. S as in `ElementOf`.
template <class S>
struct Declared : Parameter {
  Declared() : Parameter{ShapeOf<S>::dims, dtype_of_t<ElementOf<S>>::value} {}
  Declared(Initialiser how, bool decaying = false) : Declared() {  // NOLINT: a declaration is how a parameter starts
    initialiser = std::move(how);
    decays = decaying;
  }
};

/// Makes two declarations of a model one parameter, which lives under the name that comes first. What the first says of
/// its start holds.
template <class S>
void tie(Declared<S>& first, Declared<S>& second) {
  if (!first.tie) first.tie = std::make_shared<const char>();
  second.tie = first.tie;
}

}  // namespace etalon::training
