#include "tests/compiled/small_stack.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <exception>
#include <new>
#include <stdexcept>

namespace etalon::test {

namespace {

/// Below the stack: more than a frame of any kernel could jump over.
constexpr std::size_t nothing_bytes = std::size_t{64} << 20;

struct Job {
  const std::function<void()>& what;
  std::exception_ptr thrown{};
};

void* run(void* job) {
  auto& own = *static_cast<Job*>(job);
  try {
    own.what();
  } catch (...) {
    own.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void on_small_stack(std::size_t bytes, const std::function<void()>& what) {
  void* room = mmap(nullptr, nothing_bytes + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  void* stack = static_cast<std::byte*>(room) + nothing_bytes;
  pthread_attr_t attributes;
  pthread_t thread{};
  Job job{what};
  const bool made = mprotect(stack, bytes, PROT_READ | PROT_WRITE) == 0 && pthread_attr_init(&attributes) == 0 &&
                    pthread_attr_setstack(&attributes, stack, bytes) == 0 && pthread_create(&thread, &attributes, run, &job) == 0;
  if (made) pthread_join(thread, nullptr);
  munmap(room, nothing_bytes + bytes);
  if (!made) throw std::runtime_error("no thread with a small stack");
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace etalon::test
