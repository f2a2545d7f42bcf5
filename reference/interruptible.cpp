#include "reference/interruptible.hpp"

#include <utility>

namespace etalon::reference {
namespace {

// Bound for a scope, as an argument that every function between would only hand on.
thread_local Interruptible* current = nullptr;

}  // namespace

Interruptible::Interruptible(std::function<void()> asked) : asked_(std::move(asked)), outer_(current) { current = this; }

Interruptible::~Interruptible() { current = outer_; }

Interruptible* Interruptible::innermost() { return current; }

void Interruptible::ask_in_time() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(20)) return;
  last_ = now;
  for (const Interruptible* each = this; each != nullptr; each = each->outer_) each->asked_();
}

}  // namespace etalon::reference
