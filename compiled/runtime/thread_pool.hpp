/// \file
/// A fixed set of threads that share a range of iterations. It knows nothing of what an iteration does; results must
/// not depend on which thread runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <boost/core/noncopyable.hpp>

namespace etalon::compiled {

/// Runs `body(context, begin, end, slot)` over contiguous parts of [0, extent), the same ones whenever extent and number of
/// threads are the same. Calls that run at the same time have different slots, less than extent and number of threads. Threads take
/// parts as they come, the caller's included: one that gets no processor holds up nobody.
class ThreadPool : boost::noncopyable {
 public:
  using Body = void (*)(void* context, std::int64_t begin, std::int64_t end, std::size_t slot);

  /// \param threads 1 means that everything runs on the caller's thread.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();

  /// The pool that all of a process's programs of so many threads share, as long as one of them holds it. From any thread.
  [[nodiscard]] static std::shared_ptr<ThreadPool> of_process(unsigned threads);

  /// Returns when the whole range is done. From any thread: while it serves another caller, this one does not wait but runs the
  /// range by itself.
  void run(std::int64_t extent, Body body, void* context);
  [[nodiscard]] unsigned threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace etalon::compiled
