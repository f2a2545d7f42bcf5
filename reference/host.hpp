/// \file
/// Between host tensors and arrays over a number type: exact on the way in, rounded once to nearest even on the way out.
#pragma once

#include "reference/array.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::reference {

/// Exactly the numbers of the tensor; offered for double, Real50, Real100, Rational, Precise.
template <class T>
[[nodiscard]] Array<T> from_host(const HostTensor& tensor);

/// Rounded once to the element type, ties to even, overflow to infinity, gradual underflow. Integers wrap.
/// \throws Undecided where the bits of an enclosure are too few to tell.
template <class T>
[[nodiscard]] HostTensor to_host(const Array<T>& array, DType dtype);

/// Sets one element of a tensor of the array's shape, rounded as by `to_host`. \throws Undecided
template <class T>
void set_rounded(HostTensor& tensor, const Array<T>& array, std::size_t element);

}  // namespace etalon::reference
