/// \file
/// Work on another core of the processor than the caller's, where the system lets the process have one.
#pragma once

#include <functional>

namespace etalon::training {

/// The core that the caller runs on; -1 where the system does not say.
[[nodiscard]] int this_core();

/// Does the work in a thread of its own on the cores that the caller may use, without the one that it runs on; on that one
/// where there is no other. What the work throws is thrown here.
void on_other_core(const std::function<void()>& work);

}  // namespace etalon::training
