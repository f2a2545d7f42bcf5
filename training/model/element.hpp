/// \file
/// What stands between the angle brackets of a world: `Shape<2, 3>` is a real tensor of the world's number type,
/// `Typed<std::int64_t, Shape<8>>` one of the element type that it names.
#pragma once

#include "spec/host_tensor.hpp"
#include "spec/program/trace.hpp"
#include "spec/shape.hpp"

namespace etalon::training {

namespace detail {
template <class S, class Real>
struct Leaf {
  using Element = Real;
  using Extents = S;
};
template <class T, class S, class Real>
struct Leaf<spec::Typed<T, S>, Real> {
  using Element = T;
  using Extents = S;
};
}  // namespace detail

/// The element type of a leaf; reals are f32 where nothing else is said.
template <class S, class Real = float>
using ElementOf = typename detail::Leaf<S, Real>::Element;
template <class S>
using ShapeOf = typename detail::Leaf<S, float>::Extents;

/// The world of untyped traced values: any model may be written down by them, with the types checked as it is traced.
template <class S>
using Untyped = spec::Traced;

}  // namespace etalon::training
