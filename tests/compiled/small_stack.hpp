/// \file
/// A thread whose stack is small and ends where it ends: what goes beyond meets no memory at all.
#pragma once

#include <cstddef>
#include <functional>

namespace etalon::test {

/// Runs `what` to its end on a thread with so many bytes of stack, a multiple of a page. What it throws is thrown here.
void on_small_stack(std::size_t bytes, const std::function<void()>& what);

}  // namespace etalon::test
