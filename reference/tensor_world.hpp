/// \file
/// The world of reference tensors for models that are written over a world: `Mlp<TensorWorld<Real50>::Of>`.
#pragma once

#include <string_view>
#include <utility>

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

/// What other worlds are asked of a value means nothing here: every tensor is there, and stays.
template <class T, class S>
Tensor<T, S> named(std::string_view, Tensor<T, S> value) {
  return value;
}
/// A label of nothing. It has a destructor so that nobody takes it for an unused variable.
struct NoSection {
  NoSection() = default;
  NoSection(const NoSection&) = delete;
  NoSection& operator=(const NoSection&) = delete;
  ~NoSection() {}  // NOLINT(modernize-use-equals-default)
};
template <class T, class S>
[[nodiscard]] NoSection section(const Tensor<T, S>&, std::string_view) {
  return {};
}
template <class T, class S>
Tensor<T, S> stored(Tensor<T, S> value) {
  return value;
}
template <class T, class S>
Tensor<T, S> inlined(Tensor<T, S> value) {
  return value;
}

}  // namespace etalon::reference
