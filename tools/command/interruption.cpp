#include "tools/command/interruption.hpp"

#include <pthread.h>

#include <ctime>

namespace etalon::command {

Interruption::Interruption() {
  sigemptyset(&interrupt_);
  sigaddset(&interrupt_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt_, &before_);
}

Interruption::~Interruption() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool Interruption::came() const {
  const timespec at_once{};
  return sigtimedwait(&interrupt_, nullptr, &at_once) == SIGINT;
}

}  // namespace etalon::command
