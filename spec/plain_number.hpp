/// \file
/// What counts as a plain number where it stands beside tensors.
#pragma once

#include <concepts>

namespace etalon::spec {

template <class A>
concept PlainNumber = std::integral<A> || std::floating_point<A>;

}  // namespace etalon::spec
