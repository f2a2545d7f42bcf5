/// \file
/// The world of reference tensors for models that are written over a world: `Mlp<TensorWorld<Real50>::Of>`.
#pragma once

#include "reference/typed_tensor.hpp"
#include "spec/program/trace.hpp"

namespace etalon::reference {

namespace detail {
template <class T, class S>
struct WorldLeaf {
  using type = Tensor<T, S>;
};
template <class T, class E, class S>
struct WorldLeaf<T, spec::Typed<E, S>> {
  using type = Tensor<E, S>;
};
}  // namespace detail

/// Reals are T; what says its element type, as `Typed<std::int64_t, Shape<8>>` does, is of that.
template <class T>
struct TensorWorld {
  template <class S>
  using Of = typename detail::WorldLeaf<T, S>::type;
};

}  // namespace etalon::reference
