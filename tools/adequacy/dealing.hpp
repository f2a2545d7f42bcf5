/// \file
/// Operations dealt out to threads one after the other, and what was found in the order of the operations. It scores
/// nothing.
#pragma once

#include <unistd.h>

#include <atomic>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace etalon::adequacy {

/// \param so_far called after each operation with how many are done and all that was found, by one thread at a time
/// \throws what `score` throws
template <class Found>
[[nodiscard]] std::vector<Found> deal_out(const std::vector<std::string>& operations, unsigned jobs,
                                          const std::function<std::vector<Found>(const std::string&)>& score,
                                          const std::function<void(std::size_t, const std::vector<Found>&)>& so_far) {
  std::vector<std::vector<Found>> found(operations.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t done = 0;
  std::exception_ptr failure;
  const auto joined = [&] {
    std::vector<Found> all;
    for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
    return all;
  };
  const auto work = [&] {
    for (std::size_t i = next++; i < operations.size(); i = next++) {
      try {
        auto some = score(operations[i]);
        const std::lock_guard lock(mutex);
        found[i] = std::move(some);
        ++done;
        if (isatty(STDERR_FILENO) != 0)
          std::cerr << "\r\033[K" << done << " of " << operations.size() << ": " << operations[i] << std::flush;
        so_far(done, joined());
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = operations.size();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned k = 1; k < jobs; ++k) others.emplace_back(work);
    work();
  }
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\033[K";
  if (failure) std::rethrow_exception(failure);
  return joined();
}

}  // namespace etalon::adequacy
